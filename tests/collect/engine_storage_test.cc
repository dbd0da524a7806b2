#include "factory/collect/engine_storage.h"

#include <gtest/gtest.h>

#include "factory/os/file_lock.h"
#include "support/fake_effects.h"
#include "support/memory_folder.h"

namespace kiln {
namespace {

const std::string kLive(64, '1');
const std::string kDead(64, '2');

class EngineStorage : public ::testing::Test {
 protected:
  // As containers/storage writes them: base below one and two.
  void write_lists(const std::string& containers = "[]", const std::string& more_layers = "") {
    const fs::path root = state.engine() / "root";
    files.write(root / "overlay-images/images.json",
                R"([{"id": "a", "names": ["localhost/kiln:)" + kLive + R"("], "layer": "one"},)" +
                    R"({"id": "b", "names": ["localhost/kiln:)" + kDead + R"("], "layer": "two"},)" +
                    R"({"id": "c", "names": ["localhost/other:)" + kDead + R"("], "layer": "base"}])");
    files.write(root / "overlay-containers/containers.json", containers);
    files.write(root / "overlay-layers/layers.json",
                R"([{"id": "base"}, {"id": "one", "parent": "base"}, {"id": "two", "parent": "base"})" +
                    more_layers + "]");
    for (const char* layer : {"base", "one", "two"})
      files.write(root / "overlay" / layer / "diff/file", std::string(100'000, 'x'));
  }
  EngineGarbage look() { return engine_garbage(state, {kLive}, files); }
  void collect() {
    collect_engine(state, {kLive}, "buildah", {runner, files, state.engine(), state.store(), {}, clock});
  }

  testing::MemoryFolder folder;
  StatePaths state{folder.path() / "state"};
  RealFileSystem files;
  testing::FakeCommandRunner runner;
  testing::FakeClock clock;
};

TEST_F(EngineStorage, AnImageGoesWithItsStepAndOthersStay) {
  write_lists();
  const EngineGarbage found = look();
  EXPECT_EQ(found.images, std::vector<std::string>{"localhost/kiln:" + kDead});
  ASSERT_EQ(found.garbage.size(), 1u);
  EXPECT_GE(found.garbage.front().bytes, 100'000u);
  EXPECT_LT(found.garbage.front().bytes, 200'000u) << "the base below is the live one's, too";
  collect();
  ASSERT_EQ(runner.commands.size(), 1u);
  EXPECT_EQ(runner.commands.front().argv.back(), "localhost/kiln:" + kDead);
  EXPECT_TRUE(files.list(state.engine().string() + ".sessions").empty());
}

TEST_F(EngineStorage, KilnsContainersGoBeforeTheirImages) {
  write_lists(
      R"([{"id": "x", "names": ["kiln-vm-1"], "layer": "two"}, {"id": "y", "names": ["mine"], "layer": "one"}])");
  collect();
  ASSERT_EQ(runner.commands.size(), 2u);
  EXPECT_EQ(runner.commands[0].argv.back(), "kiln-vm-1");
  EXPECT_EQ(*(runner.commands[0].argv.end() - 2), "rm");
  EXPECT_EQ(*(runner.commands[1].argv.end() - 2), "rmi");
}

TEST_F(EngineStorage, LayersOfNoImageTakeTheWholeStore) {
  write_lists("[]", R"(, {"id": "lost"})");
  EXPECT_TRUE(look().whole);
  collect();
  EXPECT_FALSE(fs::exists(state.engine()));
  EXPECT_TRUE(runner.commands.empty());
}

TEST_F(EngineStorage, SoDoesAnEngineThatCannot) {
  write_lists();
  runner.respond = [](const Command&) {
    return CommandResult{CommandEnd::exited, 125, "", "no space left", 0};
  };
  collect();
  EXPECT_FALSE(fs::exists(state.engine()));
}

TEST_F(EngineStorage, WhileSomebodyUsesItItStays) {
  write_lists("[]", R"(, {"id": "lost"})");
  const fs::path session = state.engine().string() + ".sessions/somebody";
  {
    const FileLock lock = FileLock::acquire(session);
    EXPECT_TRUE(look().in_use);
    EXPECT_TRUE(look().garbage.empty());
    collect();
    EXPECT_TRUE(fs::exists(state.engine()));
    EXPECT_THROW(delete_engine_store(state, runner, files, {}), Error);
  }
  EXPECT_TRUE(look().whole) << "the session is a dead one's now";
}

TEST_F(EngineStorage, WhatApptainerHasGoesWithoutAnEngine) {
  const fs::path layers = state.engine() / "layers";
  const std::string live = kLive.substr(0, 24) + "-0", dead = kDead.substr(0, 24) + "-1";
  for (const fs::path& one :
       {layers / live, layers / dead, layers / "new-1-x", state.engine() / "containers/kiln-1"})
    files.write(one / "file", std::string(100'000, 'x'));
  EXPECT_EQ(look().garbage.size(), 3u);
  EXPECT_GE(look().garbage.front().bytes, 100'000u);
  {
    const FileLock used = FileLock::acquire(state.engine().string() + ".sessions/somebody");
    collect();
  }
  files.remove_all(state.engine().string() + ".sessions/somebody");
  EXPECT_EQ(files.list(layers).size(), 3u) << "somebody used it";
  collect();
  EXPECT_EQ(files.list(layers), std::vector<std::string>{live});
  EXPECT_TRUE(files.list(state.engine() / "containers").empty());
  EXPECT_TRUE(runner.commands.empty());
}

TEST_F(EngineStorage, NoStoreAndDamagedListsAreNothingToTrust) {
  EXPECT_TRUE(look().garbage.empty());
  write_lists();
  files.write(state.engine() / "root/overlay-images/images.json", "[{");
  EXPECT_TRUE(look().whole) << "layers of which nobody says whose they are";
}

}  // namespace
}  // namespace kiln
