// What lies in a folder that somebody else made: links, pipes, and names that are none.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>

#include "factory/base/text.h"
#include "factory/import/import_parts.h"
#include "import/import_fixture.h"
#include "support/temporary_folder.h"

namespace kiln::testing {
namespace {

Import import_disk(const TemporaryFolder& folder, const std::string& below = "tree") {
  return import_folder(RealFileSystem(), folder / below, with_compilers(), archspec());
}

TEST(ImportedLinks, ToFoldersAreNotFollowed) {
  TemporaryFolder folder;
  folder.write("tree/a/Dockerfile", "FROM debian:12\nCOPY data /data\n");
  folder.write("tree/a/data/x", "x");
  for (const char* name : {"tree/up", "tree/again", "tree/a/up", "tree/a/data/up", "tree/a/data/more"})
    fs::create_directory_symlink(folder / "tree", folder / name);
  Import import = import_disk(folder);
  EXPECT_EQ(images(import), Words({"a/Dockerfile"}));
  EXPECT_EQ(remarks_of(import, "local-file"),
            Words({"a/Dockerfile:2: 'more' is a link to a folder: it is not followed",
                   "a/Dockerfile:2: 'up' is a link to a folder: it is not followed"}));
}

TEST(ImportedLinks, OutOfTheFolderAreNotFollowed) {
  TemporaryFolder folder;
  folder.write("secret", "FROM secret:1\n");
  folder.write("tree/a/Dockerfile", "FROM debian:12\nCOPY stolen /x\nCOPY within /y\n");
  folder.write("tree/a/own", "own");
  folder.write("tree/gone/Dockerfile", "FROM debian:12\n");
  fs::create_symlink(folder / "secret", folder / "tree/a/stolen");
  fs::create_symlink("own", folder / "tree/a/within");
  fs::create_symlink(folder / "secret", folder / "tree/a/Dockerfile.stolen");
  fs::create_symlink("nowhere", folder / "tree/a/Dockerfile.gone");
  Import import = import_disk(folder);
  for (const auto& [path, bytes] : import.files) EXPECT_EQ(bytes.find("secret"), std::string::npos) << path;
  EXPECT_EQ(images(import), Words({"a/Dockerfile", "gone/Dockerfile"}));
  EXPECT_EQ(import.files.at("recipes/framework/a/files/a/within"), "own");
  EXPECT_EQ(remarks_of(import, "not-imported"),
            Words({"a/Dockerfile.gone:0: the link points to a file that does not exist",
                   "a/Dockerfile.stolen:0: the link points to a file outside of the imported folder; put a "
                   "copy in its "
                   "place"}));
}

TEST(ImportedLinks, HostileNamesOfBasesAreNames) {
  for (const char* name : {"b\ne", "b\x1b[31me",
                           "b\xff"
                           "e",
                           "b\"\\e"}) {
    LegacyImage child;
    child.path = "child.def";
    child.stem = "child";
    child.base = {"debian:12", 1};
    child.parents = {name + std::string(".def")};
    std::vector<ImportCell> cells(1);
    cells[0].legacy = child;
    cells[0].cell = {"x", "1", "hub", "", "x86_64", {}};
    place_cells(cells);
    EXPECT_EQ(first_not_utf8(cells[0].base.description), std::string::npos);
    EXPECT_TRUE(std::none_of(cells[0].base.description.begin(), cells[0].base.description.end(), is_control));
  }
}

// What may be run may be run where it was copied to, whichever way the copy is written.
TEST(ImportedPrograms, StayPrograms) {
  TemporaryFolder folder;
  const std::string to = (folder / "image").string();
  for (const char* name : {"run", "bin/tool", "bin/sub/deep"}) {
    folder.write(std::string("tree/") + name, "#!/bin/sh\necho ran " + std::string(name) + "\n");
    fs::permissions(folder / (std::string("tree/") + name), fs::perms::owner_all);
  }
  folder.write("tree/bin/data", "no program");
  folder.write("tree/x-1.Dockerfile", "FROM debian:12\nRUN mkdir -p " + to + "/there\nCOPY run " + to +
                                          "/a/\nCOPY run " + to + "/b\nCOPY run " + to + "/there\nCOPY bin " +
                                          to + "/c\n");
  folder.write("tree/y-1.def", "Bootstrap: docker\nFrom: debian:12\n%files\n  run " + to + "/d\n  bin " + to +
                                   "/e\n  bin " + to + "/there\n%post\n  true\n");
  Import import = import_disk(folder);
  for (const auto& [path, bytes] : import.files) folder.write(path, bytes);
  for (const char* name : {"x", "y"}) {
    Command command;
    command.argv = {"/bin/sh", "-eu", std::string(name) + "-1.sh"};
    command.folder = folder / (std::string("recipes/framework/") + name);
    command.environment = {{"PATH", "/usr/bin:/bin"}};
    CommandResult result = RealCommandRunner().run(command);
    ASSERT_TRUE(result.ok()) << result.tail;
  }
  auto runs = [&](const std::string& path) {
    return (fs::status(folder / ("image/" + path)).permissions() & fs::perms::owner_exec) != fs::perms::none;
  };
  for (const char* path :
       {"a/run", "b", "there/run", "c/tool", "c/sub/deep", "d", "e/tool", "e/sub/deep", "there/bin/tool"})
    EXPECT_TRUE(runs(path)) << path;
  for (const char* path : {"c/data", "e/data"}) EXPECT_FALSE(runs(path)) << path;
}

TEST(ImportedPatterns, AreTheFilesThatTheyMean) {
  Import import = import_files(
      {{"a/Dockerfile", "FROM debian:12\nCOPY *.sh s/x?.py /opt/\nCOPY no*.txt ../*.sh */y /opt/\n"},
       {"a/one.sh", "1"},
       {"a/two.sh", "2"},
       {"a/three.txt", "3"},
       {"a/s/x1.py", "x1"},
       {"a/s/x10.py", "x10"},
       {"out.sh", "out"},
       {"b/b.def", "Bootstrap: docker\nFrom: debian:12\n%files\n  *.cfg /etc/\n%post\n  true\n"},
       {"b/a.cfg", "cfg"}});
  Words files;
  for (const auto& [path, bytes] : import.files)
    if (path.find("/files/") != std::string::npos) files.push_back(path.substr(path.find("/files/") + 7));
  EXPECT_EQ(files, Words({"a/one.sh", "a/s/x1.py", "a/two.sh", "b/a.cfg"}));
  EXPECT_EQ(remarks_of(import, "local-file").size(), 3u) << "none fits, outside, and more than the last part";
  EXPECT_NE(import.files.at("recipes/framework/a/a.sh").find("cp -R \"$kiln_files\"/files/a/two.sh /opt/"),
            std::string::npos);
}

TEST(ImportedLinks, APipeIsNoDefinition) {
  TemporaryFolder folder;
  folder.write("tree/Dockerfile", "FROM debian:12\n");
  ASSERT_EQ(mkfifo((folder / "tree/Singularity").c_str(), 0600), 0);
  Import import = import_disk(folder);
  EXPECT_EQ(images(import), Words({"Dockerfile"}));
  ASSERT_EQ(remarks_of(import, "not-imported").size(), 1u);
  EXPECT_NE(remarks_of(import, "not-imported")[0].find("Singularity"), std::string::npos);
}

// Names hold anything but "/" and NUL.
TEST(ImportedLinks, HostileNamesAreNames) {
  const std::string bad = "tf'; $(touch x)\n-\xff.dockerfile";
  Import import = import_files({{"a b/" + bad, "FROM debian:12\nRUN true\n"},
                                {"a b/Singularity", "Bootstrap: docker\nFrom: debian:12\n%post\n true\n"},
                                {"..def", "Bootstrap: docker\nFrom: debian:12\n"},
                                {"Dockerfile.", "FROM debian:12\n"}});
  EXPECT_EQ(import.images.size(), 2u) << "what begins with a dot is hidden";
  for (const auto& [path, bytes] : import.files)
    EXPECT_TRUE(std::all_of(path.begin(), path.end(), [](char c) { return c > ' ' && c < 0x7f; })) << path;
}

}  // namespace
}  // namespace kiln::testing
