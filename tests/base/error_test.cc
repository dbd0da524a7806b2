#include "factory/base/error.h"

#include <gtest/gtest.h>

namespace kiln {
namespace {

TEST(Error, FormatNamesPlaceMessagePointerAndHint) {
  Error error(ExitCode::input, {"matrix/demo.json", 12, 5, "/axes/target"}, "unknown target 'zen33'",
              "did you mean 'zen3'?");
  EXPECT_EQ(error.format(),
            "matrix/demo.json:12:5: error: unknown target 'zen33' (at /axes/target); did you mean 'zen3'?");
}

TEST(Error, FormatWithoutPlaceOrHint) {
  EXPECT_EQ(Error(ExitCode::usage, "no cells").format(), "error: no cells");
  EXPECT_EQ(Error(ExitCode::store, {"index.db", 0, 0, ""}, "is damaged").format(),
            "index.db: error: is damaged");
}

TEST(Error, NotesFollowInnermostFirst) {
  Error error(ExitCode::input, "bad");
  error.while_doing("reading a.json").while_doing("reading the catalogue");
  EXPECT_EQ(error.format(), "error: bad\n  while reading a.json\n  while reading the catalogue");
}

TEST(Nearest, FindsLikelyMisspellings) {
  const std::vector<std::string> names = {"pytorch", "tensorflow", "jax", "mxnet"};
  EXPECT_EQ(nearest("pytroch", names), "pytorch");
  EXPECT_EQ(nearest("tensorflo", names), "tensorflow");
  EXPECT_EQ(nearest("jx", names), "jax");
  EXPECT_EQ(nearest("caffe", names), "");
  EXPECT_EQ(did_you_mean("mxnt", names), "did you mean 'mxnet'?");
  EXPECT_EQ(did_you_mean("zzzzzz", names), "");
}

}  // namespace
}  // namespace kiln
