#include "factory/state/access.h"

#include <gtest/gtest.h>

#include <string>

#include "support/temporary_folder.h"

namespace kiln {
namespace {

// A folder that another one stands in for, as an empty mount point does.
TEST(NeedStillThere, IsAboutWhatWasMadeInTheFolderThatWasThere) {
  testing::TemporaryFolder folder;
  RealFileSystem files;
  const StatePaths state(folder.path() / "state");
  const fs::path made = state.temporary() / "step-1";
  files.make_directories(made);
  EXPECT_NO_THROW(need_still_there(state, made, files));
  fs::rename(state.root(), folder.path() / "away");
  files.make_directories(state.root());
  try {
    need_still_there(state, made, files);
    FAIL() << "nothing is said";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::store);
    EXPECT_EQ(error.message(), "the state folder " + state.root().string() +
                                   " is missing: its file system was unmounted, or its server is away");
  }
  EXPECT_TRUE(fs::is_empty(state.root()));
}

TEST(EnginePath, SaysWhatEnginesDoNotTake) {
  for (const char* good : {"/a b/+@%$#;=&|{}]*?~!'\"k", "/äö/k", "/-a/k"})
    EXPECT_EQ(engine_path_trouble(good, EngineUse::keep_trees), "");
  EXPECT_EQ(engine_path_trouble("/a:b/k", EngineUse::keep_trees), "it has ':' in it");
  EXPECT_EQ(engine_path_trouble("/a,b/k", EngineUse::keep_trees), "it has ',' in it");
  EXPECT_EQ(engine_path_trouble("/a\\b/k", EngineUse::keep_trees), "it has '\\' in it");
  EXPECT_EQ(engine_path_trouble("/*[a]/k", EngineUse::keep_trees), "it has '[' in it");
  EXPECT_EQ(engine_path_trouble("/a\033b/k", EngineUse::keep_trees),
            "it has the control character U+001B in it");
  EXPECT_EQ(engine_path_trouble("/a\nb/k", EngineUse::keep_trees),
            "it has the control character U+000A in it");
  EXPECT_EQ(engine_path_trouble("/a\x80/k", EngineUse::keep_trees), "it is not UTF-8");
  EXPECT_EQ(engine_path_trouble("/a,b/[k", EngineUse::mount), "");
  EXPECT_EQ(engine_path_trouble("/a:b/k", EngineUse::mount), "it has ':' in it");
  EXPECT_EQ(engine_path_trouble("/a\\b/k", EngineUse::mount), "it has '\\' in it");
  EXPECT_NO_THROW(need_engine_path("/a/k", EngineUse::keep_trees, "the state folder", ""));
  try {
    need_engine_path("/a:b/k", EngineUse::keep_trees, "the state folder", "name another one with --state");
    FAIL() << "it is taken";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::usage);
    EXPECT_EQ(error.message(),
              "the state folder cannot be /a:b/k: it has ':' in it, and container engines take no such path");
  }
}

TEST(Scratch, HoldsTheStoreOfTheEngineAndNothingElse) {
  const StatePaths state("/shared/state");
  EXPECT_EQ(state.engine(), "/shared/state/engine");
  EXPECT_EQ(state.with_scratch("").engine(), state.engine());
  const StatePaths with = state.with_scratch("/local");
  EXPECT_EQ(with.engine().parent_path().parent_path(), "/local");
  EXPECT_EQ(with.engine().filename(), "engine");
  EXPECT_EQ(with.temporary(), state.temporary());
  EXPECT_EQ(with.store(), state.store());
  // Two state folders share none.
  EXPECT_NE(StatePaths("/shared/other").with_scratch("/local").engine(), with.engine());
  EXPECT_EQ(StatePaths("/shared/state").with_scratch("/local").engine(), with.engine());
}

}  // namespace
}  // namespace kiln
