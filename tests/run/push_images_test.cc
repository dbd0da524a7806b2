// What the site's names stand for.
// Readable tags of images that a registry has lost since they were pushed.
#include "factory/run/push_images.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "factory/oci/layout.h"
#include "support/fake_effects.h"
#include "support/memory_folder.h"
#include "support/memory_registry.h"
#include "support/temporary_folder.h"

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

// Refuses the tag of a manifest that it does not have, as registries do after a garbage collection.
class Forgetful final : public Http {
 public:
  HttpAnswer send(const HttpRequest& request) override {
    const bool is_tag = request.url.ends_with("/manifests/" + tag);
    const Digest digest = Digest::of(request.body);
    if (request.method == "PUT" && is_tag && (refuses || !registry.has("ai/hello", digest)))
      return {404, {}, R"({"errors":[{"code":"MANIFEST_BLOB_UNKNOWN","message":"gone"}]})"};
    return registry.send(request);
  }

  testing::MemoryRegistry registry;
  std::string tag = "1-x86_64";
  bool refuses = false;
};

class PushImages : public ::testing::Test {
 protected:
  PushImages() {
    Manifest manifest;
    manifest.config = store.put("{}", std::string(media_type::kConfig));
    entry.image.manifest = store.put(to_json(manifest).dump(), std::string(media_type::kManifest)).digest;
    entry.image.repository = "hello";
    entry.image.tag = http.tag;
    entry.image.immutable_tag = "1-x86_64-0123456789ab";
  }
  void push() {
    std::vector<ImageRecord> images = {entry.image};
    RegistryPublisher(client, store, pushed, nullptr).push(images);
    entry.image = images.front();
  }

  testing::TemporaryFolder folder;
  StatePaths state{folder / "state"};
  BlobStore store{state.store()};
  PushedNames pushed{state};
  testing::FakeClock clock;
  Forgetful http;
  RegistryClient client{RegistryAccess{RegistryAddress::parse("h/ai"), http, {}, clock, 0, [](auto) {}}};
  IndexEntry entry;
};

TEST_F(PushImages, PushesAgainWhatTheRegistryLost) {
  push();
  EXPECT_EQ(entry.image.published.registry, "h/ai");
  http.registry.repositories["ai/hello"].manifests.clear();
  RegistryPublisher again(client, store, pushed, nullptr);
  again.move_tags({entry}, false);
  EXPECT_EQ(again.report().moved, 1u);
  EXPECT_EQ(http.registry.repositories["ai/hello"].tags.at(http.tag), entry.image.manifest.text());
  EXPECT_TRUE(http.registry.has("ai/hello", entry.image.manifest));
}

// A document attached to the image in the place of an earlier one. Its manifest.
Digest attach_words(ImageRecord& image, const std::string& words, const BlobStore& store) {
  std::erase_if(image.attachments, is_later_document);
  const Descriptor subject{
      std::string(media_type::kManifest), image.manifest, store.size_of(image.manifest).value(), {}};
  image.attachments.push_back(
      attach({std::string(kGainKind), std::string(kGainType), words}, subject, 0, store));
  return image.attachments.back().referrer;
}

TEST_F(PushImages, LaterWordsOnTheGainReplaceTheEarlier) {
  const Digest first = attach_words(entry.image, "first", store);
  push();
  const std::string list = "sha256-" + entry.image.manifest.hex();
  auto listed = [&] {
    return http.registry.repositories["ai/hello"]
        .manifests.at(http.registry.repositories["ai/hello"].tags.at(list))
        .second;
  };
  EXPECT_TRUE(http.registry.has("ai/hello", first));
  EXPECT_NE(listed().find(first.text()), std::string::npos);
  const Digest second = attach_words(entry.image, "second", store);
  push();
  EXPECT_TRUE(http.registry.has("ai/hello", second));
  EXPECT_FALSE(http.registry.has("ai/hello", first));
  EXPECT_NE(listed().find(second.text()), std::string::npos);
  EXPECT_EQ(listed().find(first.text()), std::string::npos);
  const std::size_t requests = http.registry.requests.size();
  push();
  EXPECT_LE(http.registry.requests.size(), requests + 1) << "the list of tags at most";
}

TEST_F(PushImages, EarlierWordsStayWhereTheRegistryDeletesNothing) {
  http.registry.deletes = false;
  const Digest first = attach_words(entry.image, "first", store);
  push();
  const Digest second = attach_words(entry.image, "second", store);
  push();
  EXPECT_TRUE(http.registry.has("ai/hello", first));
  EXPECT_TRUE(http.registry.has("ai/hello", second));
  const auto record = pushed.image("h/ai/hello@" + entry.image.manifest.text());
  ASSERT_TRUE(record);
  EXPECT_EQ(record->referrers, (std::vector<Digest>{second, first})) << "to be collected with the image";
  RegistryPublisher again(client, store, pushed, nullptr);
  again.keep({}, {entry}, {});
  EXPECT_EQ(again.report().lost, std::vector<std::string>());
  EXPECT_EQ(again.report().mended, std::vector<std::string>());
}

TEST_F(PushImages, GivesUpWhereItIsRefusedAgain) {
  push();
  http.refuses = true;
  try {
    RegistryPublisher(client, store, pushed, nullptr).move_tags({entry}, false);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::network);
    EXPECT_NE(error.message().find("MANIFEST_BLOB_UNKNOWN"), std::string::npos) << error.message();
  }
}

}  // namespace
}  // namespace kiln
