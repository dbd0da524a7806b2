// An image into registries that do not do as the specification says.
#include "factory/distribution/push.h"

#include <gtest/gtest.h>

#include "factory/distribution/signature.h"
#include "support/fake_effects.h"
#include "support/memory_registry.h"
#include "support/temporary_folder.h"

namespace kiln {
namespace {

// `instead` answers where it has an answer.
class OddRegistry final : public Http {
 public:
  HttpAnswer send(const HttpRequest& request) override {
    if (instead)
      if (auto answer = instead(request)) return *answer;
    return registry.send(request);
  }

  testing::MemoryRegistry registry;
  std::function<std::optional<HttpAnswer>(const HttpRequest&)> instead;
};

HttpAnswer refusal(int status, const std::string& code) {
  return {status, {}, R"({"errors":[{"code":")" + code + R"(","message":"no"}]})"};
}

bool writes_manifest(const HttpRequest& request) {
  return request.method == "PUT" && request.url.find("/manifests/") != std::string::npos;
}

class Push : public ::testing::Test {
 protected:
  Push() {
    Manifest manifest;
    manifest.config = store.put("{\"config\":1}", std::string(media_type::kConfig));
    manifest.layers = {store.put("layer", std::string(media_type::kLayerTar))};
    image.repository = "ai/hello";
    const Descriptor written = store.put(to_json(manifest).dump(), std::string(media_type::kManifest));
    image.manifest = written.digest;
    image.immutable_tag = "1-abc";
    image.created = "2026-01-01T00:00:00Z";
    image.attachments = {
        {"sif", store.put("SIF", "application/vnd.sylabs.sif.layer.v1.sif"), Digest()},
        attach({"spdx", "application/spdx+json", "{\"spdx\":1}"}, written, 0, store),
    };
  }

  PushedImage push() {
    RegistryClient client({RegistryAddress::parse("h"), http, {}, clock, 1, [](auto) {}});
    Pusher pusher(client, store, [this](const std::string& text) { warnings.push_back(text); });
    PushedImage pushed = pusher.push(image);
    pusher.push(image);
    count = pusher.count();
    return pushed;
  }
  std::string refused() {
    try {
      push();
    } catch (const Error& error) {
      return error.message();
    }
    return "";
  }
  const testing::MemoryRegistry::Repository& there() { return http.registry.repositories["ai/hello"]; }
  std::string list_tag() const { return referrers_tag(image.manifest); }

  testing::TemporaryFolder folder;
  BlobStore store{folder / "store"};
  testing::FakeClock clock;
  OddRegistry http;
  ImageToPush image;
  std::vector<std::string> warnings;
  PushCount count;
};

TEST_F(Push, AllOfAnImageIsThere) {
  const PushedImage pushed = push();
  EXPECT_EQ(pushed.referrers.size(), 2u);
  EXPECT_FALSE(pushed.sif.empty());
  EXPECT_EQ(there().tags.at("1-abc"), image.manifest.text());
  EXPECT_TRUE(there().tags.contains(list_tag()));
  EXPECT_TRUE(warnings.empty());
  EXPECT_EQ(count.blobs, 4u) << "configuration, layer, SIF, document; what is {} is not counted";
}

TEST_F(Push, ARegistryThatTakesNoArtifactsGetsTheImage) {
  http.instead = [](const HttpRequest& request) -> std::optional<HttpAnswer> {
    if (writes_manifest(request) && request.body.find("artifactType") != std::string::npos)
      return refusal(400, "MANIFEST_INVALID");
    return std::nullopt;
  };
  const PushedImage pushed = push();
  EXPECT_TRUE(pushed.sif.empty());
  EXPECT_TRUE(pushed.referrers.empty());
  EXPECT_EQ(there().tags, (std::map<std::string, std::string>{{"1-abc", image.manifest.text()}}));
  ASSERT_EQ(warnings.size(), 1u) << "of two pushes";
  EXPECT_TRUE(warnings[0].starts_with("h takes no artifacts: ")) << warnings[0];
}

TEST_F(Push, ATagThatIsTakenForTheDigestIsNoList) {
  http.instead = [this](const HttpRequest& request) -> std::optional<HttpAnswer> {
    const std::size_t tag = request.url.find(list_tag());
    if (tag == std::string::npos || request.url.ends_with(".sig")) return std::nullopt;
    HttpRequest meant = request;
    meant.url.replace(tag, list_tag().size(), image.manifest.text());
    return writes_manifest(request) ? refusal(400, "DIGEST_INVALID") : http.registry.send(meant);
  };
  EXPECT_EQ(push().referrers.size(), 2u);
  EXPECT_EQ(there().tags.at("1-abc"), image.manifest.text());
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_TRUE(warnings[0].starts_with("h lists no referrers: ")) << warnings[0];
}

TEST_F(Push, ARegistryThatTakesNoIndexesGetsTheImage) {
  http.instead = [](const HttpRequest& request) -> std::optional<HttpAnswer> {
    if (writes_manifest(request) && request.headers.front().second == media_type::kImageIndex)
      return HttpAnswer{415, {}, ""};
    return std::nullopt;
  };
  EXPECT_EQ(push().referrers.size(), 2u);
  EXPECT_EQ(there().tags.at("1-abc"), image.manifest.text());
  EXPECT_EQ(warnings.size(), 1u);
}

TEST_F(Push, WhatIsRefusedForAnotherReasonIsAFailure) {
  for (const auto& [status, code] : {std::pair(403, "DENIED"), std::pair(404, "MANIFEST_BLOB_UNKNOWN")}) {
    // C++20 lets a lambda capture a structured binding; clang 14 wants a name of its own for each.
    http.instead = [&, status = status,
                    code = code](const HttpRequest& request) -> std::optional<HttpAnswer> {
      if (writes_manifest(request) && request.body.find("artifactType") != std::string::npos)
        return refusal(status, code);
      return std::nullopt;
    };
    EXPECT_NE(refused().find(code), std::string::npos) << refused();
  }
}

TEST_F(Push, ADigestThatTheRegistryDoesNotFindIsAnError) {
  http.instead = [](const HttpRequest& request) -> std::optional<HttpAnswer> {
    if (request.method == "PUT" && request.body == kEmptyDocument) return refusal(400, "DIGEST_INVALID");
    return std::nullopt;
  };
  EXPECT_NE(refused().find("400 DIGEST_INVALID"), std::string::npos);
}

TEST_F(Push, ABlobThatIsTakenAndNotKeptIsAFailure) {
  const std::string layer = Digest::of("layer").text();
  http.instead = [&](const HttpRequest& request) -> std::optional<HttpAnswer> {
    if (request.method == "HEAD" && request.url.ends_with(layer))
      return HttpAnswer{
          200, {{"content-length", "5"}, {"docker-content-digest", Digest::of("other").text()}}, ""};
    return std::nullopt;
  };
  EXPECT_NE(refused().find("the registry took " + layer + ", and does not have it"), std::string::npos)
      << refused();
}

TEST_F(Push, ABlobThatWasNotMountedAfterAllIsSent) {
  image.elsewhere = "ai/other";
  http.instead = [](const HttpRequest& request) -> std::optional<HttpAnswer> {
    if (request.url.find("mount=") != std::string::npos)
      return HttpAnswer{202, {{"location", "/v2/x/1"}}, ""};
    if (request.method == "DELETE") throw HttpFailure{"reset"};
    return std::nullopt;
  };
  push();
  EXPECT_EQ(count.mounted, 0u);
  EXPECT_EQ(there().blobs.count(Digest::of("layer").text()), 1u);
}

}  // namespace
}  // namespace kiln
