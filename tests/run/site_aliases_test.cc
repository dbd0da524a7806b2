// What the site's names stand for.
#include "factory/run/site_aliases.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "support/memory_folder.h"

namespace kiln {
namespace {

using testing::MemoryFolder;

class SiteAliases : public ::testing::Test {
 protected:
  IndexEntry& add(const std::string& repository, const std::string& tag, const std::string& architecture) {
    ImageConfig config;
    config.architecture = architecture;
    config.created = repository + tag;  // other bits
    Manifest manifest;
    manifest.config = store.put(to_json(config).dump(), std::string(media_type::kConfig));
    IndexEntry entry;
    entry.image.manifest = store.put(to_json(manifest).dump(), std::string(media_type::kManifest)).digest;
    entry.image.repository = repository;
    entry.image.tag = tag;
    entry.image.immutable_tag = tag + "-0123456789ab";
    entry.image.published.registry = "registry.site/ai";
    return entries.emplace_back(entry);
  }
  ChosenAliases choose(const std::vector<SiteAlias>& aliases) {
    return choose_aliases(aliases, entries, "registry.site/ai", store);
  }

  MemoryFolder folder;
  BlobStore store{folder.path() / "store"};
  std::vector<IndexEntry> entries;
};

TEST_F(SiteAliases, StandForOneImageAPlatform) {
  add("hello", "1-x86_64", "amd64");
  add("hello", "1-aarch64", "arm64");
  add("hello", "2-x86_64", "amd64");
  const ChosenAliases chosen = choose({{"modak", "one", {"hello:1-*"}}, {"hello", "two", {"hello:2-*"}}});
  ASSERT_EQ(chosen.clear.size(), 2u);
  EXPECT_EQ(chosen.clear[0].repository, "modak");
  EXPECT_EQ(chosen.clear[0].tag, "one");
  ASSERT_EQ(chosen.clear[0].images.size(), 2u);
  EXPECT_EQ(chosen.clear[0].images[0].first.text(), "linux/amd64");
  EXPECT_EQ(chosen.clear[0].images[0].second->tag, "1-x86_64");
  EXPECT_EQ(chosen.clear[0].images[1].second->tag, "1-aarch64");
  EXPECT_EQ(chosen.clear[1].images.size(), 1u);
  EXPECT_TRUE(chosen.unclear.empty());
  EXPECT_TRUE(chosen.empty.empty());
}

TEST_F(SiteAliases, AreUnclearWhereTwoImagesAreForOnePlatform) {
  add("hello", "1-haswell", "amd64");
  add("hello", "1-zen3", "amd64");
  const ChosenAliases chosen = choose({{"modak", "one", {"hello:1-*"}}, {"modak", "two", {"hello:*zen3"}}});
  ASSERT_EQ(chosen.unclear.size(), 1u);
  EXPECT_EQ(chosen.unclear[0], "modak:one: hello:1-haswell and hello:1-zen3 are both for linux/amd64");
  ASSERT_EQ(chosen.clear.size(), 1u) << "the others go on";
  EXPECT_EQ(chosen.clear[0].tag, "two");
}

TEST_F(SiteAliases, TakeTheSameBitsUnderTwoNamesForOneImage) {
  add("hello", "1", "amd64");
  entries.push_back(entries.front());
  entries.back().image.tag = "1-again";
  EXPECT_EQ(choose({{"modak", "one", {"hello:1*"}}}).clear.size(), 1u);
}

TEST_F(SiteAliases, LeaveOutWhatIsRetiredOrLiesElsewhere) {
  add("hello", "1-haswell", "amd64").retired = "wrong results";
  add("hello", "1-zen3", "amd64");
  add("hello", "1-zen4", "amd64").image.published.registry = "";
  add("hello", "1-zen5", "amd64").image.published.registry = "registry.site/other";
  const ChosenAliases chosen = choose({{"modak", "one", {"hello:1-*"}}});
  ASSERT_EQ(chosen.clear.size(), 1u);
  EXPECT_EQ(chosen.clear[0].images.front().second->tag, "1-zen3");
}

TEST_F(SiteAliases, SayWhenThereIsNoImage) {
  add("hello", "1", "amd64");
  EXPECT_EQ(choose({{"modak", "one", {"hello:7*"}}}).empty, std::vector<std::string>{"modak:one"});
}

TEST_F(SiteAliases, AreNoImagesOwnNames) {
  add("hello", "1", "amd64");
  for (const char* tag : {"1", "1-0123456789ab"}) {
    const ChosenAliases chosen = choose({{"hello", tag, {"hello:*"}}});
    ASSERT_EQ(chosen.unclear.size(), 1u);
    EXPECT_EQ(chosen.unclear[0],
              std::string("hello:") + tag + ": it is the name of an image itself (hello:1)");
  }
}

}  // namespace
}  // namespace kiln
