// What a registry loses, and what other programs do to its tags, against a registry in memory.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "factory/run/push_images.h"
#include "registry/index/index.h"
#include "support/memory_registry.h"
#include "support/small_state.h"

namespace kiln {
namespace {

using testing::MemoryRegistry;
using Strings = std::vector<std::string>;

bool any_holds(const Strings& texts, const std::string& part) {
  return std::any_of(texts.begin(), texts.end(),
                     [&](const std::string& text) { return text.find(part) != text.npos; });
}

class KeepImages : public ::testing::Test {
 protected:
  KeepImages() { small.build(); }

  std::vector<IndexEntry> entries() const {
    return Index::open(small.state.root(), Index::Mode::read).entries();
  }
  // As `kiln publish --to h/ai`.
  PushReport publish(bool take = false) {
    RegistryPublisher publisher(client, store, pushed, nullptr, [this](const std::string& text) {
      const std::lock_guard lock(mutex);
      told.push_back(text);
    });
    PublishOptions options;
    options.place = [&](std::vector<ImageRecord>& images) { publisher.push(images); };
    publish_built(small.plan, all_images(small.plan), small.state, small.files, small.clock, options);
    publisher.move_tags(entries(), take);
    publisher.move_aliases(aliases, entries(), take);
    return publisher.report();
  }
  // As a night does with what lies there.
  PushReport keep(const KeepTerms& terms = {}) {
    RegistryPublisher publisher(client, store, pushed, nullptr);
    publisher.keep(aliases, entries(), terms);
    if (terms.mend) {
      publisher.move_tags(entries(), false);
      publisher.move_aliases(aliases, entries(), false);
    } else {
      publisher.look_at_tags(aliases, entries());
    }
    return publisher.report();
  }
  void refuse_manifests_with(const std::string& text) {
    registry.instead = [text](const HttpRequest& request) -> std::optional<HttpAnswer> {
      if (request.method != "PUT" || request.body.find(text) == std::string::npos) return std::nullopt;
      return HttpAnswer{400, {}, R"({"errors":[{"code":"MANIFEST_INVALID","message":""}]})"};
    };
  }
  MemoryRegistry::Repository& hello() { return registry.repositories.at("ai/hello"); }

  testing::SmallState small;
  BlobStore store{small.state.store()};
  MemoryRegistry registry;
  RegistryClient client{{RegistryAddress::parse("http://h/ai"), registry, {}, small.clock, 0, {}}};
  PushedNames pushed{small.state};
  std::vector<SiteAlias> aliases;
  std::mutex mutex;
  Strings told;
};

TEST_F(KeepImages, ARegistryThatHasItAllIsLeftAlone) {
  EXPECT_EQ(publish().pushed, 2u);
  registry.requests.clear();
  const PushReport report = keep();
  EXPECT_EQ(report.mended, Strings{});
  EXPECT_EQ(report.lost, Strings{});
  EXPECT_EQ(report.foreign, Strings{});
  EXPECT_FALSE(registry.requests.empty());
  for (const std::string& request : registry.requests)
    EXPECT_TRUE(request.starts_with("GET ") || request.starts_with("HEAD ")) << request;
}

TEST_F(KeepImages, EachPartThatIsLostIsFoundAndPushedAgain) {
  publish();
  const MemoryRegistry::Repository whole = hello();
  ASSERT_GT(whole.blobs.size(), 4u);
  ASSERT_GT(whole.manifests.size(), 4u);
  const auto lose_each = [&](const auto& parts, auto lose) {
    for (const auto& [name, content] : parts) {
      hello() = whole;
      lose(hello(), name);
      const PushReport looked = keep({.mend = false});
      EXPECT_FALSE(looked.lost.empty()) << name;
      const PushReport report = keep();
      EXPECT_FALSE(report.mended.empty()) << name;
      EXPECT_EQ(report.lost, Strings{}) << name;
      EXPECT_EQ(hello().blobs, whole.blobs) << name;
      EXPECT_EQ(hello().manifests.size(), whole.manifests.size()) << name;
      EXPECT_EQ(hello().tags, whole.tags) << name;
      EXPECT_EQ(keep().mended, Strings{}) << name;
    }
  };
  using Repository = MemoryRegistry::Repository;
  lose_each(whole.blobs, [](Repository& of, const std::string& name) { of.blobs.erase(name); });
  lose_each(whole.manifests, [](Repository& of, const std::string& name) { of.manifests.erase(name); });
  lose_each(whole.tags, [](Repository& of, const std::string& name) { of.tags.erase(name); });
}

TEST_F(KeepImages, ALossThatImagesShareIsSaidOnce) {
  publish();
  const Manifest manifest = manifest_from_json(
      JsonDocument::parse(store.read(entries().front().image.manifest), "manifest").root());
  const Digest base = manifest.layers.front().digest;
  hello().blobs.erase(base.text());
  const PushReport report = keep();
  ASSERT_EQ(report.mended.size(), 1u);
  EXPECT_NE(report.mended.front().find("h/ai/hello: layer 1, " + base.text() + ", is missing (hello:"),
            std::string::npos)
      << report.mended.front();
  EXPECT_NE(report.mended.front().find(" and 1 more): pushed again"), std::string::npos);
}

TEST_F(KeepImages, ARegistryThatSaysItHasWhatItLostIsNotBelieved) {
  publish();
  const auto lost = hello().blobs.begin()->first;
  const std::string size = std::to_string(hello().blobs.at(lost).size());
  hello().blobs.erase(lost);
  registry.instead = [&](const HttpRequest& request) -> std::optional<HttpAnswer> {
    if (request.method != "HEAD" || request.url.find(lost) == std::string::npos) return std::nullopt;
    return HttpAnswer{200, {{"content-length", size}}, ""};
  };
  EXPECT_EQ(keep().mended.size(), 1u);
  EXPECT_TRUE(hello().blobs.contains(lost));
}

TEST_F(KeepImages, ARegistryThatAnswersHeadWronglyHasLostNothing) {
  publish();
  for (int status : {400, 404, 405, 501}) {
    registry.requests.clear();
    registry.instead = [&](const HttpRequest& request) -> std::optional<HttpAnswer> {
      return request.method == "HEAD" ? std::optional(HttpAnswer{status, {}, ""}) : std::nullopt;
    };
    const PushReport report = keep();
    EXPECT_EQ(report.mended, Strings{}) << status;
    EXPECT_EQ(report.lost, Strings{}) << status;
    EXPECT_EQ(report.foreign, Strings{}) << status;
    EXPECT_FALSE(std::any_of(registry.requests.begin(), registry.requests.end(),
                             [](const std::string& request) { return request.starts_with("P"); }))
        << status;
  }
}

TEST_F(KeepImages, ArtifactsThatTheRegistryDoesNotTakeAreNotLost) {
  refuse_manifests_with("artifactType");
  publish();
  const PushReport report = keep();
  EXPECT_EQ(report.mended, Strings{});
  EXPECT_EQ(report.lost, Strings{});
}

TEST_F(KeepImages, AListThatTheRegistryDoesNotTakeIsNotLost) {
  refuse_manifests_with("\"manifests\"");
  publish();
  const PushReport report = keep();
  EXPECT_EQ(report.mended, Strings{});
  EXPECT_EQ(report.lost, Strings{});
}

TEST_F(KeepImages, OtherBytesAreDamage) {
  publish();
  auto& bytes = hello().blobs.begin()->second;
  const std::string whole = bytes;
  bytes = whole.substr(1);
  EXPECT_TRUE(any_holds(keep({.mend = false}).lost,
                        fmt::format("has {} of {} bytes", whole.size() - 1, whole.size())));
  bytes = whole;
  bytes.front() ^= 1;
  EXPECT_EQ(keep({.mend = false}).lost, Strings{}) << "its bytes are not read";
  EXPECT_TRUE(any_holds(keep({.read = true, .mend = false}).lost, "has other bytes"));
  keep({.read = true});
  EXPECT_EQ(hello().blobs.begin()->second, whole);
}

TEST_F(KeepImages, WhatTheStoreLacksAsWellIsSaid) {
  publish();
  const Digest manifest = entries().front().image.manifest;
  const Manifest read = manifest_from_json(JsonDocument::parse(store.read(manifest), "manifest").root());
  hello().blobs.erase(read.layers.front().digest.text());
  store.remove(read.layers.front().digest);
  const PushReport report = keep();
  EXPECT_EQ(report.mended, Strings{});
  ASSERT_EQ(report.lost.size(), 1u);
  EXPECT_TRUE(any_holds(report.lost, "cannot be pushed again: ")) << report.lost.front();
}

TEST_F(KeepImages, WhatIsRetiredIsNotPushedAgain) {
  publish();
  Index::open(small.state.root(), Index::Mode::write)
      .retire({entries().front().image.identity(), entries().back().image.identity()}, "wrong",
              "2026-11-21T00:00:00Z");
  registry.repositories.clear();
  registry.requests.clear();
  const PushReport report = keep();
  EXPECT_EQ(report.mended, Strings{});
  EXPECT_EQ(registry.requests, Strings{});
}

TEST_F(KeepImages, AnAliasAndItsImagesAreKept) {
  aliases = {{"modak", "hello", {"version=2"}}};
  publish();
  const MemoryRegistry::Repository whole = registry.repositories.at("ai/modak");
  ASSERT_EQ(whole.tags.count("hello"), 1u);
  registry.repositories.at("ai/modak") = {};
  EXPECT_FALSE(keep({.mend = false}).lost.empty());
  EXPECT_FALSE(keep().mended.empty());
  EXPECT_EQ(registry.repositories.at("ai/modak").tags, whole.tags);
  EXPECT_EQ(registry.repositories.at("ai/modak").blobs, whole.blobs);
  registry.repositories.at("ai/modak").manifests.erase(whole.tags.at("hello"));
  EXPECT_FALSE(keep().mended.empty());
  EXPECT_EQ(registry.repositories.at("ai/modak").manifests.size(), whole.manifests.size());
}

TEST_F(KeepImages, ATagThatAnotherProgramMovedIsSeenWithNothingToPush) {
  publish();
  const std::string tag = entries().front().image.tag, ours = hello().tags.at(tag);
  hello().tags[tag] = entries().back().image.manifest.text();
  const PushReport report = publish();
  EXPECT_EQ(report.pushed, 0u);
  ASSERT_EQ(report.foreign.size(), 1u);
  EXPECT_NE(report.foreign.front().find("h/ai/hello:" + tag + ": it names " + hello().tags.at(tag)),
            std::string::npos);
  EXPECT_EQ(keep({.mend = false}).foreign.size(), 1u);
  EXPECT_NE(hello().tags.at(tag), ours) << "it is left";
  EXPECT_EQ(publish(true).foreign, Strings{});
  EXPECT_EQ(hello().tags.at(tag), ours);
  EXPECT_EQ(publish().moved, 0u);
}

TEST_F(KeepImages, ATagIsSetAlthoughTheRegistryLostABlob) {
  registry.checks_blobs = true;
  publish();
  hello().tags.erase(entries().front().image.tag);
  hello().blobs.clear();
  const PushReport report = publish();
  EXPECT_EQ(report.foreign, Strings{});
  EXPECT_EQ(hello().tags.count(entries().front().image.tag), 1u);
  EXPECT_FALSE(hello().blobs.empty());
}

TEST_F(KeepImages, WhatImagesShareIsSentOnceAndEachImageIsCounted) {
  publish();
  Strings sent;
  for (const std::string& request : registry.requests)
    if (const std::size_t at = request.find("digest="); at != request.npos)
      sent.push_back(request.substr(at));
  std::sort(sent.begin(), sent.end());
  EXPECT_EQ(std::adjacent_find(sent.begin(), sent.end()), sent.end());
  EXPECT_TRUE(any_holds(told, " (1 of 2)"));
  EXPECT_TRUE(any_holds(told, " (2 of 2)"));
}

TEST(LookParts, AWeekLooksAtEachPart) {
  constexpr std::int64_t kDay = 24 * 3600;
  LookTimes looked{};
  std::map<std::size_t, int> looks;
  for (std::int64_t night = 0; night < 14; ++night) {
    const std::int64_t now = 1'800'000'000 + night * kDay + (night % 3) * 600;
    const LookParts due = due_parts(looked, now);
    EXPECT_EQ(due.size(), 1u) << night;
    for (const std::size_t part : due) {
      if (looked.at(part) != 0) {
        EXPECT_LE(now - looked.at(part), 7 * kDay + 3600);
      }
      looked.at(part) = now;
      ++looks[part];
    }
  }
  EXPECT_EQ(looks.size(), kLookParts);
  // Nights that did not run are made up for.
  EXPECT_EQ(due_parts(looked, looked.at(6) + 4 * kDay).size(), 4u);
  // A clock that was wrong.
  looked.fill(2'000'000'000);
  EXPECT_EQ(due_parts(looked, 1'900'000'000), every_part());
}

TEST(LookParts, FewImagesAreLookedAtEachNight) {
  EXPECT_EQ(parts_tonight(250, {}, 1'800'000'000), every_part());
  EXPECT_EQ(parts_tonight(251, {}, 1'800'000'000).size(), 1u);
}

}  // namespace
}  // namespace kiln
