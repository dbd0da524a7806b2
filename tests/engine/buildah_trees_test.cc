// Containers whose folders kiln knows from buildah's files.
#include <gtest/gtest.h>

#include "factory/engine/buildah.h"
#include "factory/engine/container_files.h"
#include "support/buildah_fixture.h"

namespace kiln::testing {
namespace {

// A container `c0de` upon `ba5e` in the store's files, which the kernel confirms.
class BuildahBelieved : public Buildah {
 protected:
  void SetUp() override {
    if (files.exists("/sys/fs/selinux/enforce")) GTEST_SKIP() << "a mount wants SELinux's label here";
    { EngineSession made(runner, files, folder / "engine", {}); }
    fs::create_directories(overlay / "c0de/diff");
    fs::create_directories(overlay / "ba5e/diff");
    fs::create_directories(overlay / "l");
    fs::create_directory_symlink("../ba5e/diff", overlay / "l/SHORT");
    folder.write("engine/root/overlay/c0de/lower", "l/SHORT");
    contain("kiln-1");
    trees().compare("kiln-1", {overlay / "c0de/diff", {overlay / "l/SHORT"}});
    runner.respond = [this](const Command& command) {
      if (has_words(command, {"from"})) contain(command.argv.end()[-2]);
      return answer(command);
    };
  }

  void contain(const std::string& name) {
    folder.write("engine/root/overlay-containers/containers.json",
                 R"([{"names": [")" + name + R"("], "layer": "c0de"}])");
  }
  StorageTrees trees() { return {files, folder / "engine", *runner.find_program("buildah")}; }
  std::size_t starts_of_buildah(const std::string& verb) const {
    return static_cast<std::size_t>(std::count_if(
        runner.commands.begin(), runner.commands.end(),
        [&](const Command& command) { return command.argv[0] == "buildah" && has_words(command, {verb}); }));
  }

  const fs::path overlay = folder / "engine/root/overlay";
};

TEST_F(BuildahBelieved, MountsATreeItself) {
  {
    BuildahEngine engine(setup);
    auto container = engine.start(nullptr);
    container->place_of("/x");
    const Command mount = ran({"mount", "-t", "overlay"});
    EXPECT_EQ(mount.folder, overlay);
    EXPECT_EQ(mount.argv.at(5).find("lowerdir=l/SHORT,upperdir=c0de/diff,workdir=c0de/kiln-work,"), 0u)
        << mount.argv.at(5);
    EXPECT_EQ(container->changes().folder, overlay / "c0de/diff");
    EXPECT_EQ(runner.commands.back().argv, (CommandWords{"umount", mount.argv.at(6)}));
  }
  EXPECT_EQ(starts_of_buildah("mount") + starts_of_buildah("umount"), 0u);
  EXPECT_TRUE(files.list(folder / "engine/trees").empty());
}

// Another build compared its own container meanwhile.
TEST_F(BuildahBelieved, AsksTheEngineWhereTheFilesAreBelievedNoLonger) {
  answers = {{{"buildah"}, {CommandEnd::exited, 0, (folder / "merged").string() + "\n", "", 0}}};
  BuildahEngine engine(setup);
  auto container = engine.start(nullptr);
  const fs::path ours = container->place_of("/x");
  trees().compare("kiln-1", {overlay / "ba5e/diff", {}});
  try {
    container->changes();
    FAIL() << "the fake runner mounts nothing";
  } catch (const Error& error) {
    EXPECT_NE(error.message().find((folder / "merged").string()), std::string::npos) << error.message();
  }
  EXPECT_EQ(count({"umount"}), 1u) << "ours, before the engine mounts";
  EXPECT_EQ(starts_of_buildah("mount"), 1u);
}

}  // namespace
}  // namespace kiln::testing
