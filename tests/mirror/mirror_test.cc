#include "factory/mirror/mirror.h"

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "factory/mirror/mirror_folder.h"
#include "support/temporary_folder.h"

namespace kiln {
namespace {

MirrorItem wheel(const std::string& name, const std::string& content) {
  const Digest digest = Digest::of(content);
  return {MirrorKind::wheel, name, "pip/" + digest.hex() + "/" + name, digest, content.size(), "", "", {}};
}

Mirror sample() {
  Mirror mirror;
  mirror.archives.push_back(
      {"base/debian@trixie",
       "amd64",
       "trixie 13.8 2efd6103f013",
       {{"apt/trixie-0123456789ab", "trixie", "main", "Signed-By: /usr/share/key.gpg\n"}}});
  MirrorItem one = wheel("jax-1-py3-none-any.whl", "jax");
  one.cells.insert(mirror.cell("demo/jax"));
  mirror.add(one);
  const std::string commit(40, 'a');
  mirror.add({MirrorKind::commit,
              "https://example.org/a.git",
              "git/a-0123456789ab.git",
              {},
              0,
              commit,
              "https://example.org/a.git",
              {mirror.cell("demo/torch")}});
  return mirror;
}

Mirror read(const Json& json) { return read_mirror(JsonDocument::parse(json.dump(), "mirror.json")); }

TEST(Mirror, IsWhatWasWritten) {
  const Mirror mirror = sample();
  const Mirror again = read(to_json(mirror));
  EXPECT_EQ(to_json(again), to_json(mirror));
  EXPECT_EQ(again.archives, mirror.archives);
  EXPECT_EQ(again.cells, (std::vector<std::string>{"demo/jax", "demo/torch"}));
}

TEST(Mirror, RefusesAnotherVersion) {
  Json json = to_json(sample());
  json["mirror"] = 2;
  EXPECT_THROW(read(json), Error);
}

TEST(Mirror, RefusesWhatLeavesItsFolder) {
  for (const char* path : {"../x", "/etc/passwd", "pip/../../x", "pip//x", "pip/.x", "-rf", "pip/a b",
                           "pip/a\nb", "pip/a\"b", "pip/a<b", "", "."}) {
    EXPECT_FALSE(is_inside(path)) << path;
    Json json = to_json(sample());
    json["items"][0]["path"] = path;
    EXPECT_THROW(read(json), Error) << path;
    Mirror mirror;
    MirrorItem item = wheel("a.whl", "a");
    item.path = path;
    EXPECT_THROW(mirror.add(item), Error) << path;
  }
  EXPECT_TRUE(is_inside("apt/trixie-0123456789ab/pool/main/g/g++/g++_4:14.2.0-1~deb13u1_amd64.deb"));
}

TEST(Mirror, RefusesLinesThatWouldBeginASource) {
  for (const char* options :
       {"Signed-By: x\nURIs: http://elsewhere\n", "URIs: http://elsewhere\n", "\tx\n"}) {
    Json json = to_json(sample());
    json["archives"][0]["suites"][0]["options"] = options;
    EXPECT_THROW(read(json), Error) << options;
  }
  Json json = to_json(sample());
  json["archives"][0]["suites"][0]["components"] = "main\nURIs: http://elsewhere";
  EXPECT_THROW(read(json), Error);
}

TEST(Mirror, HasArchivesWithoutSuites) {
  Mirror mirror = sample();
  mirror.archives[0].suites.push_back(
      {"apt/flat-0123456789ab", std::string(kFlatSuite), "", "Trusted: yes\n"});
  EXPECT_EQ(read(to_json(mirror)).archives, mirror.archives);
  EXPECT_EQ(deb822_of(mirror.archives[0].suites[1], "copy:/m", "Trusted: yes\n"),
            "Types: deb\nURIs: copy:/m\nSuites: ./\nTrusted: yes\n\n");
  EXPECT_EQ(deb822_of(mirror.archives[0].suites[0], "copy:/m", ""),
            "Types: deb\nURIs: copy:/m\nSuites: trixie\nComponents: main\n\n");
  for (const auto& [suite, components] :
       {std::pair("./", "main"), std::pair("/", ""), std::pair("../", ""), std::pair("trixie", "")}) {
    Json json = to_json(mirror);
    json["archives"][0]["suites"][1]["suite"] = suite;
    json["archives"][0]["suites"][1]["components"] = components;
    EXPECT_THROW(read(json), Error) << suite << ' ' << components;
  }
}

TEST(Mirror, RefusesAFileWithoutDigestAndACellThatIsNotThere) {
  Json json = to_json(sample());
  for (Json& item : json["items"]) item.erase("digest");
  EXPECT_THROW(read(json), Error);
  json = to_json(sample());
  json["items"][0]["cells"] = {7};
  EXPECT_THROW(read(json), Error);
}

TEST(Mirror, NamesFilesOfAnyUrl) {
  EXPECT_EQ(file_name_of("https://example.org/a/b-1.0.tar.gz?x=/y#z"), "b-1.0.tar.gz");
  EXPECT_EQ(file_name_of("https://example.org/a/"), "a");
  EXPECT_EQ(file_name_of("https://example.org/..%2f\n;rm"), "_.._2f__rm");
  EXPECT_EQ(file_name_of("-rf"), "_-rf");
  EXPECT_EQ(file_name_of(""), "_");
  for (const char* url : {"https://e/..", "https://e/.", "x/\x01", "https://e/\xff\xfe"})
    EXPECT_TRUE(is_inside(file_name_of(url).insert(0, "a"))) << url;
}

// What nobody needs now is what the lockfile of last month needs.
TEST(Mirror, ForgetsWhoNeedsAThingAndKeepsIt) {
  Mirror mirror = sample();
  MirrorItem shared = wheel("numpy-1-py3-none-any.whl", "numpy");
  shared.cells = {mirror.cell("demo/jax"), mirror.cell("other/jax")};
  mirror.add(shared);
  mirror.forget("demo", {"demo/torch"});
  EXPECT_EQ(mirror.items.size(), 3U);
  EXPECT_EQ(mirror.items.at(shared.path).cells, std::set<std::uint32_t>{mirror.cell("other/jax")});
  EXPECT_TRUE(mirror.items.at(wheel("jax-1-py3-none-any.whl", "jax").path).cells.empty());
  const std::string commit = "git/a-0123456789ab.git " + std::string(40, 'a');
  EXPECT_EQ(mirror.items.at(commit).cells, std::set<std::uint32_t>{mirror.cell("demo/torch")});
  EXPECT_EQ(read(to_json(mirror)).items.size(), 3U);
}

TEST(Mirror, FindsTheArchiveOfAState) {
  Mirror mirror = sample();
  MirrorArchive later = mirror.archives.front();
  later.state = "later";
  mirror.archives.push_back(later);
  EXPECT_EQ(mirror.archive("base/debian@trixie", "amd64", "")->state, "later");
  EXPECT_EQ(mirror.archive("base/debian@trixie", "amd64", "trixie 13.8 2efd6103f013"), &mirror.archives[0]);
  EXPECT_EQ(mirror.archive("base/debian@trixie", "amd64", "never"), nullptr);
  EXPECT_EQ(mirror.archive("base/debian@trixie", "arm64", ""), nullptr);
}

TEST(MirrorFolder, KeepsFilesUnderTheirDigestAndLinksThatTravel) {
  testing::TemporaryFolder folder;
  RealFileSystem files;
  RealCommandRunner runner;
  const MirrorFolder mirror(folder.path() / "m", files);
  const MirrorItem item = wheel("a-1-py3-none-any.whl", "content");
  EXPECT_EQ(mirror.fault_of(item, runner, {}), "is missing");
  mirror.put(
      item.digest, [](const auto& sink) { sink("con"), sink("tent"); }, "a");
  EXPECT_EQ(mirror.fault_of(item, runner, {}), "is missing");  // no link
  mirror.link(item.path, item.digest);
  EXPECT_EQ(mirror.fault_of(item, runner, {}), "");
  fs::rename(folder.path() / "m", folder.path() / "moved");
  const MirrorFolder moved(folder.path() / "moved", files);
  EXPECT_EQ(files.read(moved.path(item.path)), "content");
  std::ofstream(moved.path(item.path)) << "contemt";  // through the link
  EXPECT_EQ(moved.fault_of(item, runner, {}), "is damaged");
  EXPECT_FALSE(moved.is_whole(item.digest));
}

TEST(MirrorFolder, KeepsNothingOfAWrongDigestOrOfHalf) {
  testing::TemporaryFolder folder;
  RealFileSystem files;
  const MirrorFolder mirror(folder.path(), files);
  EXPECT_THROW(mirror.put(
                   Digest::of("a"), [](const auto& sink) { sink("b"); }, "a"),
               Error);
  EXPECT_THROW(mirror.put(
                   {},
                   [](const auto& sink) {
                     sink("half");
                     throw Error(ExitCode::network, "gone");
                   },
                   "a"),
               Error);
  EXPECT_FALSE(mirror.is_whole(Digest::of("b")));
  EXPECT_FALSE(mirror.is_whole(Digest::of("half")));
  EXPECT_TRUE(fs::is_empty(mirror.temporary()));
}

// A link that leads nowhere is no file: `lstat` alone would take it for one.
TEST(MirrorFolder, HasWhatItsLinksLeadTo) {
  testing::TemporaryFolder folder;
  RealFileSystem files;
  const MirrorFolder mirror(folder.path(), files);
  MirrorItem item;
  item.kind = MirrorKind::wheel;
  item.path = "pip/aa/wheel.whl";
  item.digest = Digest::of("wheel");
  EXPECT_FALSE(mirror.has(item));
  mirror.link(item.path, item.digest);
  EXPECT_FALSE(mirror.has(item));
  mirror.put(
      item.digest, [](const auto& sink) { sink("wheel"); }, "wheel");
  EXPECT_TRUE(mirror.has(item));
  fs::remove(folder.path() / item.path);
  EXPECT_FALSE(mirror.has(item)) << "nobody finds it";

  item.kind = MirrorKind::image;
  item.path = "images/bb";
  fs::create_directories(folder.path() / item.path);
  EXPECT_FALSE(mirror.has(item)) << "an empty folder is no layout";
  files.write(folder.path() / item.path / "index.json", "{}");
  EXPECT_TRUE(mirror.has(item));
  item.kind = MirrorKind::commit;
  item.path = "git/cc.git";
  EXPECT_FALSE(mirror.has(item));
  fs::create_directories(folder.path() / item.path);
  EXPECT_TRUE(mirror.has(item));
}

TEST(MirrorFolder, ListsWheelsForPip) {
  const Mirror mirror = sample();
  const std::string hex = Digest::of("jax").hex();
  const std::string anchor = "<a href=\"" + hex + "/jax-1-py3-none-any.whl#sha256=" + hex + "\">";
  EXPECT_NE(links_page(mirror).find(anchor), std::string::npos);
}

}  // namespace
}  // namespace kiln
