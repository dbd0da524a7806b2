// Readable tags of images that a registry has lost since they were pushed.
#include "factory/run/push_images.h"

#include <gtest/gtest.h>

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
