#include "factory/state/last_lockfile.h"

#include <gtest/gtest.h>

#include "support/fake_effects.h"

namespace kiln::testing {
namespace {

class LastLockfile : public ::testing::Test {
 protected:
  std::optional<std::string> kept(const std::string& checked_out, const std::string& matrix = "demo") {
    return last_lockfile(files, state, matrix, checked_out);
  }
  void keep(const std::string& checked_out, const std::string& made, const std::string& matrix = "demo") {
    keep_lockfile(files, state, matrix, checked_out, made);
  }
  FakeFileSystem files;
  StatePaths state{"/state"};
};

TEST_F(LastLockfile, IsOfTheLockfileThatItWasMadeOf) {
  EXPECT_EQ(kept("committed"), std::nullopt);
  keep("committed", "moved");
  EXPECT_EQ(kept("committed"), "moved") << "a fresh checkout goes on where the last night was";
  EXPECT_EQ(kept("reviewed"), std::nullopt) << "what a person wrote counts";
  keep("reviewed", "moved on");
  EXPECT_EQ(kept("committed"), std::nullopt) << "one a matrix";
  EXPECT_EQ(files.list("/state/locks").size(), 1u);
  keep("reviewed", "further");
  EXPECT_EQ(kept("reviewed"), "further");
  keep("", "made from nothing");
  EXPECT_EQ(kept(""), "made from nothing");
}

TEST_F(LastLockfile, MatricesDoNotMeet) {
  keep("a", "of demo");
  keep("a", "of demo.x", "demo.x");
  keep("b", "of demo, later");
  EXPECT_EQ(kept("a", "demo.x"), "of demo.x");
  EXPECT_EQ(kept("b"), "of demo, later");
  files.files["/state/locks/demo.notes.json"] = "somebody's";
  keep("c", "x");
  EXPECT_TRUE(files.files.contains("/state/locks/demo.notes.json"));
}

TEST_F(LastLockfile, ANameOutsideTheFolderIsRefused) {
  EXPECT_THROW(keep("a", "b", "../../x"), Error);
  EXPECT_THROW(kept("a", "demo/x"), Error);
}

}  // namespace
}  // namespace kiln::testing
