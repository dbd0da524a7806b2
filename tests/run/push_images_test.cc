// Readable tags of images that a registry has lost since they were pushed.
#include "factory/run/push_images.h"

#include <gtest/gtest.h>

#include "factory/oci/later_document.h"
#include "support/fake_effects.h"
#include "support/memory_registry.h"
#include "support/temporary_folder.h"

namespace kiln {
namespace {

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
