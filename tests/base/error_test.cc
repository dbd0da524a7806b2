#include "factory/base/error.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <new>
#include <nlohmann/json.hpp>
#include <system_error>

#include "factory/base/json.h"

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

template <typename Action>
Error thrown_by(Action&& action) {
  try {
    action();
  } catch (const std::exception& exception) {
    return unexpected_error(exception);
  }
  ADD_FAILURE() << "nothing was thrown";
  return {ExitCode::ok, ""};
}

TEST(Unexpected, AMistakeOfKilnIsNotToldInTheWordsOfALibrary) {
  const Error error = thrown_by([] { Json("\xff").dump(); });
  EXPECT_EQ(error.code(), ExitCode::internal);
  EXPECT_TRUE(error.message().starts_with("kiln made a mistake (nlohmann::")) << error.message();
  for (const char* word : {"json.exception", "316", "UTF-8"})
    EXPECT_EQ(error.format().find(word), std::string::npos) << error.format();
  EXPECT_EQ(thrown_by([] { throw std::out_of_range("map::at"); }).format(),
            "error: kiln made a mistake (std::out_of_range); built and published images are unchanged; "
            "please report the command with its input");
}

TEST(Unexpected, WhatTheSystemRefusesIsToldInItsWords) {
  const Error folder = thrown_by([] { std::filesystem::create_directory("/proc/kiln"); });
  EXPECT_EQ(folder.code(), ExitCode::store);
  EXPECT_EQ(folder.message(), "cannot use /proc/kiln: No such file or directory");
  const Error full =
      thrown_by([] { throw std::system_error(ENOSPC, std::generic_category(), "cannot write to file"); });
  EXPECT_EQ(full.format(),
            "error: the operating system refused to go on: No space left on device; free some space on that "
            "file system and run the command again");
  EXPECT_EQ(thrown_by([] { throw std::bad_alloc(); }).message(), "out of memory");
}

TEST(Unexpected, WhateverIsThrownHasALastLine) {
  auto last_line = [](const auto& what) {
    try {
      throw what;
    } catch (...) {
      return unexpected_error();
    }
  };
  struct Unknown {};
  EXPECT_EQ(last_line(Unknown{}).code(), ExitCode::internal);
  EXPECT_TRUE(last_line(Unknown{}).message().starts_with("kiln made a mistake ("));
  EXPECT_EQ(last_line(Error(ExitCode::network, "gone")).message(), "gone");
  EXPECT_EQ(last_line(std::bad_alloc()).message(), "out of memory");
}

TEST(Unexpected, AnErrorIsItself) {
  const Error error = thrown_by([] { throw Error(ExitCode::network, {"a", 1, 2, "/x"}, "gone", "wait"); });
  EXPECT_EQ(error.code(), ExitCode::network);
  EXPECT_EQ(error.format(), "a:1:2: error: gone (at /x); wait");
}

}  // namespace

}  // namespace kiln
