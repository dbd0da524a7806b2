// What `kiln gc --registry` takes away, and what it must leave.
#include "factory/collect/registry_garbage.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "factory/distribution/image_index.h"
#include "factory/distribution/push.h"
#include "factory/distribution/signature.h"
#include "support/fake_effects.h"
#include "support/memory_folder.h"
#include "support/memory_registry.h"

namespace kiln {
namespace {

using testing::MemoryFolder;
using testing::MemoryRegistry;
using Names = std::set<std::string>;

constexpr const char* kIndexType = "application/vnd.oci.image.index.v1+json";

struct Stop {};

class RegistryCollect : public ::testing::Test {
 protected:
  RegistryCollect() {
    roots.snapshots[1] = "current";
    roots.named.add(Digest::of("what lives").hex());
  }

  // As `kiln publish` leaves it: with a SIF, and a list of it as a registry without an API for referrers has.
  Digest push(const std::string& name, const std::string& repository = "ai/hello") {
    const Digest image = registry.put(repository, "image " + name, name + "-immutable");
    registry.put(repository, "image " + name, name);
    const Digest sif = registry.put(repository, "SIF of " + name);
    registry.put(repository, list_of({sif}), referrers_tag(image), kIndexType);
    pushed.put_image(place(repository, image), {sif, "", name + "-immutable", {sif}});
    pushed.put_tag("h/" + repository + ":" + name, image);
    return image;
  }
  // In the index, or not any more.
  void add_root(const std::string& name, bool lives = true) {
    RecordedImage one;
    one.lives = lives;
    one.published = true;
    one.image.manifest = Digest::of("image " + name);
    one.image.repository = "hello";
    one.image.tag = name;
    one.image.immutable_tag = name + "-immutable";
    one.image.published.registry = "h/ai";
    if (lives) roots.named.add(one.image.manifest.hex());
    roots.images.push_back(std::move(one));
  }
  Digest index(const std::string& repository, const std::string& tag, const std::vector<Digest>& parts) {
    const Digest digest = registry.put(repository, list_of(parts), tag, kIndexType);
    PushedRecord record;
    record.is_index = true;
    pushed.put_image(place(repository, digest), record);
    if (!tag.empty()) pushed.put_tag("h/" + repository + ":" + tag, digest);
    return digest;
  }
  static std::string list_of(const std::vector<Digest>& parts) {
    Json list = Json::array();
    for (const Digest& part : parts)
      list.push_back({{"mediaType", "application/vnd.oci.image.manifest.v1+json"},
                      {"digest", part.text()},
                      {"size", 7}});
    return Json{{"schemaVersion", 2}, {"mediaType", kIndexType}, {"manifests", list}}.dump();
  }
  static std::string place(const std::string& repository, const Digest& digest) {
    return "h/" + repository + "@" + digest.text();
  }

  RegistryGarbage find() { return registry_garbage({client, pushed, roots, aliases}); }
  RegistryCollected collect() { return collect_registry(find(), client, pushed); }
  Names tags(const std::string& repository = "ai/hello") const { return registry.tags_of(repository); }

  MemoryFolder folder;
  StatePaths state{folder.path()};
  MemoryRegistry registry;
  testing::FakeClock clock;
  RegistryClient client{
      {RegistryAddress::parse("http://h/ai"), registry, {}, clock, 0, [](std::chrono::milliseconds) {}}};
  PushedNames pushed{state};
  Roots roots;
  Names aliases;
};

TEST_F(RegistryCollect, AsksNothingWhereEverythingIsNeeded) {
  push("one");
  add_root("one");
  EXPECT_TRUE(find().listed().empty());
  EXPECT_TRUE(registry.requests.empty());
}

TEST_F(RegistryCollect, TakesAnImageWithAllThatGoesWithIt) {
  const Digest one = push("one");
  const Digest two = push("two");
  add_root("one");
  add_root("two", false);
  const RegistryGarbage found = find();
  ASSERT_EQ(found.images.size(), 1u);
  EXPECT_EQ(found.images[0].digest, two);
  EXPECT_EQ(found.tags.size(), 2u);
  EXPECT_FALSE(collect().is_refused);
  EXPECT_EQ(tags(), (Names{"one", "one-immutable", referrers_tag(one)}));
  EXPECT_FALSE(registry.has("ai/hello", two));
  EXPECT_FALSE(registry.has("ai/hello", Digest::of("SIF of two")));
  EXPECT_TRUE(registry.has("ai/hello", Digest::of("SIF of one")));
  EXPECT_EQ(registry.repositories["ai/hello"].manifests.size(), 3u);
  EXPECT_FALSE(PushedNames::reading(state).image(place("ai/hello", two)));
  EXPECT_FALSE(pushed.tag("h/ai/hello:two"));
  registry.requests.clear();
  EXPECT_TRUE(find().listed().empty());
  EXPECT_TRUE(registry.requests.empty()) << "and forgotten";
}

TEST_F(RegistryCollect, WorksWhereTagsDoNotGoAlone) {
  registry.deletes_tags = false;
  push("one");
  const Digest two = push("two");
  add_root("one");
  const RegistryCollected done = collect();
  EXPECT_EQ(done.tags_left, 0u) << "with what they name";
  EXPECT_FALSE(registry.has("ai/hello", two));
  EXPECT_EQ(tags().size(), 3u);
  EXPECT_EQ(std::count_if(registry.requests.begin(), registry.requests.end(),
                          [](const std::string& request) {
                            return request.starts_with("DELETE") && request.find("sha256") == request.npos;
                          }),
            1)
      << "asked once";
}

// The criterion: two tags, one digest; deleting one image must not take the other's.
TEST_F(RegistryCollect, LeavesBitsThatAnotherNameHas) {
  const Digest one = push("one");
  registry.put("ai/hello", "image one", "same");
  pushed.put_tag("h/ai/hello:same", one);
  add_root("one");
  EXPECT_EQ(find().listed().size(), 1u) << "the name goes";
  EXPECT_TRUE(find().images.empty());
  for (bool alone : {false, true}) {
    registry.deletes_tags = alone;
    EXPECT_EQ(collect().tags_left, alone ? 0u : 1u);
    EXPECT_TRUE(registry.has("ai/hello", one));
    EXPECT_EQ(tags().contains("same"), !alone);
    EXPECT_TRUE(tags().contains("one"));
  }
}

TEST_F(RegistryCollect, LeavesWhatSomebodysTagNames) {
  const Digest one = push("one");
  add_root("two");
  push("two");
  registry.put("ai/hello", "image one", "mine");
  const RegistryGarbage found = find();
  EXPECT_TRUE(found.images.empty());
  ASSERT_EQ(found.notes.size(), 1u);
  EXPECT_EQ(found.notes[0], "h/ai/hello: 1 image without a use here stays: tags that stay name it");
  collect();
  EXPECT_TRUE(registry.has("ai/hello", one));
  EXPECT_TRUE(registry.has("ai/hello", Digest::of("SIF of one")));
  EXPECT_TRUE(tags().contains("mine"));
}

TEST_F(RegistryCollect, LeavesWhatSomebodysIndexNames) {
  const Digest one = push("one");
  add_root("two");
  const Digest inner = registry.put("ai/hello", list_of({one}), "", kIndexType);
  registry.put("ai/hello", list_of({inner}), "all", kIndexType);
  EXPECT_TRUE(find().images.empty());
}

TEST_F(RegistryCollect, LeavesATagThatSomebodyElseHasMoved) {
  push("one");
  add_root("two");
  const Digest theirs = registry.put("ai/hello", "their image", "one");
  collect();
  EXPECT_TRUE(registry.has("ai/hello", theirs));
  EXPECT_EQ(tags(), Names{"one"});
  EXPECT_FALSE(pushed.tag("h/ai/hello:one")) << "it is theirs now";
}

TEST_F(RegistryCollect, LeavesWhatPlansAndMappingsName) {
  const Digest one = push("one");
  const Digest two = push("two");
  add_root("three");
  roots.references = {"docker://h/ai/hello:one", "h/ai/hello:two@sha256:x"};
  EXPECT_TRUE(find().images.empty());
  roots.references.clear();
  roots.named.add("FROM h/ai/hello@" + one.text());
  const RegistryGarbage found = find();
  ASSERT_EQ(found.images.size(), 1u);
  EXPECT_EQ(found.images[0].digest, two);
}

TEST_F(RegistryCollect, LeavesOtherPlacesAlone) {
  push("one", "other/hello");
  pushed.put_image("elsewhere/ai/hello@" + Digest::of("x").text(), {});
  pushed.put_image("h/ailments/hello@" + Digest::of("x").text(), {});
  add_root("two");
  EXPECT_TRUE(find().listed().empty());
  EXPECT_TRUE(registry.requests.empty());
}

TEST_F(RegistryCollect, TakesIndexesThatNoNameStandsFor) {
  const Digest one = push("one", "ai/modak");
  add_root("two");
  const Digest old = index("ai/modak", "", {one, Digest::of("another")});
  const Digest now = index("ai/modak", "gpu", {one});
  aliases = {"modak:gpu"};
  collect();
  EXPECT_FALSE(registry.has("ai/modak", old));
  EXPECT_TRUE(registry.has("ai/modak", now));
  EXPECT_TRUE(registry.has("ai/modak", one)) << "the name stands for it";
  registry.requests.clear();
  aliases.clear();
  collect();
  EXPECT_FALSE(registry.has("ai/modak", now));
  EXPECT_FALSE(registry.has("ai/modak", one));
  EXPECT_TRUE(tags("ai/modak").empty());
}

TEST_F(RegistryCollect, TakesALiveImageOutOfNoIndex) {
  const Digest one = push("one");
  const Digest all = index("ai/hello", "all", {one});
  add_root("one");
  collect();
  EXPECT_FALSE(registry.has("ai/hello", all)) << "no name of the site's any more";
  EXPECT_TRUE(registry.has("ai/hello", one));
}

TEST_F(RegistryCollect, LeavesWhatOthersHaveHungOnAnImage) {
  const Digest one = push("one");
  add_root("two");
  const Digest scan = registry.put("ai/hello", "their scan");
  registry.put("ai/hello", list_of({Digest::of("SIF of one"), scan}), referrers_tag(one), kIndexType);
  registry.put("ai/hello", "their attestation", "sha256-" + one.hex() + ".att");
  registry.put("ai/hello",
               R"({"schemaVersion":2,"layers":[{"mediaType":"m","digest":")" +
                   Digest::of("their claim").text() + R"(","size":1}]})",
               signatures_tag(one));
  collect();
  EXPECT_FALSE(registry.has("ai/hello", one)) << "it keeps nothing";
  EXPECT_TRUE(registry.has("ai/hello", scan));
  EXPECT_EQ(tags(), (Names{referrers_tag(one), signatures_tag(one), "sha256-" + one.hex() + ".att"}));
  const std::string& list = registry.repositories["ai/hello"].tags.at(referrers_tag(one));
  EXPECT_EQ(registry.repositories["ai/hello"].manifests.at(list).second, list_of({scan}));
}

TEST_F(RegistryCollect, TakesItsSignatures) {
  const Digest one = push("one");
  add_root("two");
  const std::string claim = signed_claim("h/ai/hello:one-immutable", one);
  const std::string layer = R"({"mediaType":"m","digest":")" + Digest::of(claim).text() + R"(","size":1})";
  registry.put("ai/hello",
               R"({"schemaVersion":2,"config":{"mediaType":"m","digest":")" + Digest::of("c").text() +
                   R"(","size":1},"layers":[)" + layer + "," + layer + "]}",
               signatures_tag(one));
  collect();
  EXPECT_TRUE(registry.repositories["ai/hello"].manifests.empty());
}

TEST_F(RegistryCollect, TouchesNothingBesideATagThatCannotBeRead) {
  push("one");
  add_root("two");
  registry.broken = {"one"};
  const RegistryGarbage found = find();
  EXPECT_TRUE(found.listed().empty());
  ASSERT_EQ(found.notes.size(), 1u);
  EXPECT_NE(found.notes[0].find("the registry cannot read its tag one"), std::string::npos);
}

TEST_F(RegistryCollect, SaysWhenNobodyMayDelete) {
  registry.deletes = false;
  const Digest one = push("one");
  add_root("two");
  EXPECT_TRUE(collect().is_refused);
  EXPECT_TRUE(registry.has("ai/hello", one));
  EXPECT_FALSE(pushed.image(place("ai/hello", one))->going) << "it is there as before";
  EXPECT_EQ(pushed.tag("h/ai/hello:one"), one);
}

TEST_F(RegistryCollect, DoesNothingWithoutASnapshot) {
  roots.snapshots.clear();
  EXPECT_TRUE(find().listed().empty()) << "nothing was pushed";
  push("one");
  EXPECT_THROW(find(), Error);
}

TEST_F(RegistryCollect, ForgetsWhatIsNotThereAnyMore) {
  push("one");
  add_root("two");
  registry.repositories.clear();
  collect();
  EXPECT_TRUE(PushedNames::reading(state).images().empty());
  EXPECT_TRUE(PushedNames::reading(state).tags().empty());
}

// Stopped before each request: what lives is whole, an image that is half gone is not counted on, and the
// next run takes the rest.
TEST_F(RegistryCollect, IsCompletedByTheNextRun) {
  for (bool alone : {false, true}) {
    for (std::size_t at = 0;; ++at) {
      registry.repositories.clear();
      registry.deletes_tags = alone;
      roots.images.clear();
      const Digest one = push("one");
      const Digest two = push("two");
      add_root("one");
      std::size_t asked = 0;
      registry.before = [&](const std::string&) {
        if (asked++ == at) throw Stop{};
      };
      bool stopped = false;
      try {
        collect();
      } catch (const Stop&) {
        stopped = true;
      }
      registry.before = {};
      EXPECT_TRUE(registry.has("ai/hello", one)) << at;
      EXPECT_TRUE(registry.has("ai/hello", Digest::of("SIF of one"))) << at;
      for (const auto& [tag, digest] : registry.repositories["ai/hello"].tags)
        EXPECT_TRUE(registry.has("ai/hello", Digest::parse(digest))) << at << " " << tag;
      const auto known = PushedNames::reading(state).image(place("ai/hello", two));
      const bool whole = registry.has("ai/hello", two) && registry.has("ai/hello", Digest::of("SIF of two"));
      EXPECT_TRUE(!known || known->going || whole) << at;
      pushed.forget("nothing");
      collect();
      EXPECT_EQ(registry.repositories["ai/hello"].manifests.size(), 3u) << at;
      EXPECT_FALSE(pushed.image(place("ai/hello", two))) << at;
      if (!stopped) break;
      ASSERT_LT(at, 100u);
    }
  }
}

}  // namespace
}  // namespace kiln
