#include "factory/recipe/lockfile.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "factory/recipe/schema.h"
#include "support/input_errors.h"
#include "support/json_schema.h"
#include "support/plan_fixture.h"

namespace kiln::testing {
namespace {

const char* const kLock = R"({
  "archspec": "0.2.5",
  "components": {
    "base/debian@trixie:distro": {
      "archives": {"amd64": "trixie 13.2 3f2a9c41e0b7"},
      "recipe": "sha256:1111111111111111111111111111111111111111111111111111111111111111"
    },
    "base/ubuntu@18.04:hub": {
      "digests": {"amd64": "sha256:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"},
      "image": "docker.io/library/ubuntu:18.04",
      "recipe": "sha256:2222222222222222222222222222222222222222222222222222222222222222"
    },
    "library/openblas@0.3.29:source": {
      "recipe": "sha256:3333333333333333333333333333333333333333333333333333333333333333",
      "source": {
        "checksum": "git:0123456789abcdef0123456789abcdef01234567",
        "ref": "refs/tags/v0.3.29",
        "url": "https://example.org/openblas"
      }
    }
  },
  "lock": 1
})";

Lockfile read(const std::string& text) { return read_lockfile(JsonDocument::parse(text, "demo.lock.json")); }

TEST(Lockfile, ReadsEveryKeyWithItsPlace) {
  Lockfile lock = read(kLock);
  EXPECT_EQ(lock.file, "demo.lock.json");
  EXPECT_EQ(lock.archspec, "0.2.5");
  EXPECT_EQ(lock.archspec_where.line, 2);
  ASSERT_EQ(lock.entries.size(), 3u);
  const LockEntry& ubuntu = lock.entries.at("base/ubuntu@18.04:hub");
  EXPECT_EQ(ubuntu.kind, Kind::base);
  EXPECT_EQ(ubuntu.name, "ubuntu");
  EXPECT_EQ(ubuntu.version, Version("18.04"));
  EXPECT_EQ(ubuntu.method, "hub");
  EXPECT_EQ(ubuntu.image, "docker.io/library/ubuntu:18.04");
  EXPECT_EQ(ubuntu.digests.at("amd64"), Digest::from_hex(std::string(64, 'a')));
  EXPECT_EQ(ubuntu.recipe, Digest::from_hex(std::string(64, '2')));
  EXPECT_EQ(ubuntu.where.line, 8);
  EXPECT_EQ(ubuntu.where.column, 5);
  EXPECT_EQ(lock.entries.at("base/debian@trixie:distro").archives.at("amd64"), "trixie 13.2 3f2a9c41e0b7");
  const LockEntry& openblas = lock.entries.at("library/openblas@0.3.29:source");
  EXPECT_EQ(openblas.source_url, "https://example.org/openblas");
  EXPECT_EQ(openblas.source_checksum, "git:0123456789abcdef0123456789abcdef01234567");
  EXPECT_EQ(openblas.source_ref, "refs/tags/v0.3.29");
}

TEST(Lockfile, IsWrittenAsItIsRead) {
  std::string text = lockfile_text(read(kLock));
  EXPECT_EQ(lockfile_text(read(text)), text);
  EXPECT_EQ(Json::parse(text), Json::parse(kLock));
  EXPECT_TRUE(text.ends_with("}\n"));
  EXPECT_EQ(schema_violations(Json::parse(schema_text("lock")), Json::parse(text)),
            std::vector<std::string>());
}

// What earlier programs would refuse has another version.
TEST(Lockfile, KeepsTheDateOfItsPins) {
  Lockfile lock = read(kLock);
  EXPECT_EQ(lock.entries.at("base/debian@trixie:distro").since, "");
  EXPECT_EQ(to_json(lock).at("lock"), 1);
  lock.entries.at("base/debian@trixie:distro").since = "2026-11-23T10:00:00Z";
  const std::string text = lockfile_text(lock);
  EXPECT_EQ(Json::parse(text).at("lock"), 2);
  EXPECT_EQ(read(text).entries.at("base/debian@trixie:distro").since, "2026-11-23T10:00:00Z");
  EXPECT_EQ(lockfile_text(read(text)), text);
  EXPECT_EQ(schema_violations(Json::parse(schema_text("lock")), Json::parse(text)),
            std::vector<std::string>());
  EXPECT_EQ(compare_locks(read(kLock), lock), std::vector<LockChange>()) << "a date is no change";
}

TEST(Lockfile, StandsBesideItsMatrix) {
  EXPECT_EQ(lockfile_beside("matrix/demo.json"), "matrix/demo.lock.json");
  EXPECT_EQ(lockfile_beside("night"), "night.lock.json");
}

const std::vector<Mistake> kLockMistakes = {
    {"NewerVersion", R"("lock": 1)", R"("lock": 3)", Schema::refuses,
     "22:11: error: this lockfile is of version 3, and this kiln reads versions 1 and 2 (at /lock); use the "
     "kiln that wrote it, or write it again with kiln lock"},
    {"NoDate", R"("archives")", R"("since": "yesterday", "archives")", Schema::refuses,
     "5:16: error: expected a date, found 'yesterday' (at /components/base~1debian@trixie:distro/since); "
     "for example 2026-11-23T10:00:00Z"},
    {"NoSuchDate", R"("archives")", R"("since": "2026-02-31T10:00:00Z", "archives")", Schema::accepts,
     "5:16: error: expected a date, found '2026-02-31T10:00:00Z' (at "
     "/components/base~1debian@trixie:distro/since); for example 2026-11-23T10:00:00Z"},
    {"VersionIsAWord", R"("lock": 1)", R"("lock": "1")", Schema::refuses,
     "22:11: error: expected a whole number, found a string (at /lock)"},
    {"NoVersion", R"("lock": 1)", R"("$schema": "x")", Schema::refuses,
     "1:1: error: the key 'lock' is missing"},
    {"UnknownKey", R"("components")", R"("component")", Schema::refuses,
     "3:3: error: unknown key 'component' (at /component); did you mean 'components'?"},
    {"UnknownKeyOfAnEntry", R"("digests")", R"("digest")", Schema::refuses,
     "9:7: error: unknown key 'digest' (at /components/base~1ubuntu@18.04:hub/digest); did you mean "
     "'digests'?"},
    {"UnknownKeyOfASource", R"("url")", R"("uri")", Schema::refuses,
     "18:9: error: unknown key 'uri' (at /components/library~1openblas@0.3.29:source/source/uri); did you "
     "mean 'url'?"},
    {"SameEntryTwice", "base/debian@trixie:distro", "base/ubuntu@18.04:hub", Schema::accepts,
     "8:5: error: the key 'base/ubuntu@18.04:hub' stands here a second time (at /components); equal keys "
     "would silently overwrite each other: keep one"},
    {"SameVersionTwice", "base/debian@trixie:distro", "base/ubuntu@18.04.0:hub", Schema::accepts,
     "8:5: error: 'base/ubuntu@18.04:hub' is here twice (at /components/base~1ubuntu@18.04:hub); version "
     "18.04 is 18.04.0: first at /components/base~1ubuntu@18.04.0:hub"},
    {"UnknownKind", "base/ubuntu@18.04:hub", "bose/ubuntu@18.04:hub", Schema::refuses,
     "8:5: error: 'bose/ubuntu@18.04:hub' is no entry's name (at /components/bose~1ubuntu@18.04:hub); did "
     "you mean 'base'?"},
    {"NameWithoutMethod", "base/ubuntu@18.04:hub", "base/ubuntu@18.04", Schema::refuses,
     "8:5: error: 'base/ubuntu@18.04' is no entry's name (at /components/base~1ubuntu@18.04); "
     "kind/name@version:method, such as base/ubuntu@18.04:hub"},
    {"NameOutsideTheRecipes", "base/ubuntu@18.04:hub", "base/../x@18.04:hub", Schema::refuses,
     "8:5: error: 'base/../x@18.04:hub' is no entry's name (at /components/base~1..~1x@18.04:hub); "
     "kind/name@version:method, such as base/ubuntu@18.04:hub"},
    {"ShortDigest", "sha256:aaaaaaaa", "sha256:", Schema::refuses,
     "9:28: error: not a sha256 digest: 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa' (at "
     "/components/base~1ubuntu@18.04:hub/digests/amd64); 64 lower-case hex digits"},
    {"OddArchitecture", R"("digests": {"amd64")", R"("digests": {"AMD 64")", Schema::refuses,
     "9:19: error: 'AMD 64' is no architecture (at /components/base~1ubuntu@18.04:hub/digests/AMD 64); OCI's "
     "words: amd64, arm64, ppc64le"},
    {"DigestsWithoutImage", R"("image": "docker.io/library/ubuntu:18.04",)", "", Schema::accepts,
     "9:18: error: digests without an image (at /components/base~1ubuntu@18.04:hub/digests); name "
     "the image that has these digests"},
    {"ArchiveOfTwoLines", "trixie 13.2 ", "trixie\\n13.2 ", Schema::refuses,
     "5:29: error: expected one line of text, found a control character (at "
     "/components/base~1debian@trixie:distro/archives/amd64); newlines and tabs are not allowed here"},
};

class LockfileMistake : public ::testing::TestWithParam<Mistake> {};

TEST_P(LockfileMistake, IsNamedAtItsPlace) {
  const Mistake& mistake = GetParam();
  std::string text = with_mistake(kLock, mistake.from, mistake.to);
  EXPECT_EQ(input_error([&] { read(text); }), "demo.lock.json:" + mistake.error);
  bool refused = !schema_violations(Json::parse(schema_text("lock")), Json::parse(text)).empty();
  EXPECT_EQ(refused, mistake.schema == Schema::refuses);
}

INSTANTIATE_TEST_SUITE_P(Each, LockfileMistake, ::testing::ValuesIn(kLockMistakes), name_of_mistake);

TEST(LockChanges, AreOneLineEach) {
  Lockfile before = read(kLock);
  Lockfile now = before;
  now.archspec = "0.2.6";
  LockEntry& ubuntu = now.entries.at("base/ubuntu@18.04:hub");
  ubuntu.digests["amd64"] = Digest::from_hex(std::string(64, 'b'));
  ubuntu.digests["arm64"] = Digest::from_hex(std::string(64, 'c'));
  now.entries.at("base/debian@trixie:distro").archives["amd64"] = "trixie 13.3 000000000000";
  now.entries.erase("library/openblas@0.3.29:source");
  LockEntry fast;
  fast.kind = Kind::library;
  fast.name = "fast";
  fast.version = Version("1");
  fast.method = "distro";
  now.entries.emplace("library/fast@1:distro", fast);
  std::vector<std::string> lines;
  for (const LockChange& change : compare_locks(before, now)) lines.push_back(text_of(change));
  EXPECT_EQ(
      lines,
      (std::vector<std::string>{
          "archspec: 0.2.5 → 0.2.6",
          "base/debian@trixie:distro: archive amd64 trixie 13.2 3f2a9c41e0b7 → trixie 13.3 000000000000",
          "base/ubuntu@18.04:hub: digest amd64 aaaaaaaaaaaa → bbbbbbbbbbbb",
          "base/ubuntu@18.04:hub: digest arm64 new (cccccccccccc)",
          "library/fast@1:distro: new (nothing to fetch)",
          "library/openblas@0.3.29:source: gone (source https://example.org/openblas "
          "git:0123456789abcdef0123456789abcdef01234567, source ref refs/tags/v0.3.29)"}));
  EXPECT_EQ(compare_locks(before, before), std::vector<LockChange>());
  EXPECT_EQ(to_json(compare_locks(before, now)[2]), Json({{"id", "base/ubuntu@18.04:hub"},
                                                          {"what", "digest amd64"},
                                                          {"before", "sha256:" + std::string(64, 'a')},
                                                          {"now", "sha256:" + std::string(64, 'b')}}));
}

// A catalogue on an Ubuntu that is pulled.
std::vector<RecipeDraft> pulled_recipes(const std::string& image = "docker.io/library/ubuntu:{version}") {
  return {RecipeDraft(Kind::base, "ubuntu", {"18.04"}).image(image),
          RecipeDraft(Kind::framework, "pytorch", {"2.6.0"}).method("distro", "install pytorch")};
}

Step base_step(std::vector<RecipeDraft> recipes, const Lockfile& lock,
               const std::string& target = "x86_64_v3") {
  Resolver resolver(std::move(recipes));
  pin_recipes(resolver.recipes(), lock);
  return resolver.spec(cell({{"base", "ubuntu"}, {"target", target}})).stages.at(0).steps.at(0);
}

TEST(PinnedRecipes, PullByDigest) {
  Step pinned = base_step(pulled_recipes(), read(kLock));
  const std::string digest = "sha256:" + std::string(64, 'a');
  EXPECT_EQ(pinned.reference, "docker.io/library/ubuntu@" + digest);
  EXPECT_EQ(pinned.tagged, "docker.io/library/ubuntu:18.04");
  EXPECT_EQ(inputs_of(pinned).at("digest"), digest);
  EXPECT_EQ(inputs_of(pinned).at("reference"), "docker.io/library/ubuntu");
  Step floating = base_step(pulled_recipes(), Lockfile());
  EXPECT_EQ(floating.reference, "docker.io/library/ubuntu:18.04");
  EXPECT_EQ(floating.tagged, "");
  EXPECT_FALSE(inputs_of(floating).contains("digest"));
  EXPECT_NE(floating.key, pinned.key);
  EXPECT_EQ(base_step(pulled_recipes("docker://docker.io/library/ubuntu:{version}"), Lockfile()).tagged, "");
}

TEST(PinnedRecipes, KeepTheirKeyWhenOnlyTheTagIsWrittenOtherwise) {
  Lockfile lock = read(kLock);
  LockEntry& ubuntu = lock.entries.at("base/ubuntu@18.04:hub");
  Step before = base_step(pulled_recipes(), lock);
  ubuntu.image = "docker.io/library/ubuntu:bionic";
  EXPECT_EQ(base_step(pulled_recipes("docker.io/library/ubuntu:bionic"), lock).key, before.key);
}

TEST(PinnedRecipes, FloatWhereTheLockfileHasAnotherImageOrArchitecture) {
  EXPECT_EQ(base_step(pulled_recipes("example.org/ubuntu:{version}"), read(kLock)).reference,
            "example.org/ubuntu:18.04");
  EXPECT_EQ(base_step(pulled_recipes(), read(kLock), "neoverse_v1").reference,
            "docker.io/library/ubuntu:18.04");
}

// Steps upon the base run it: it comes with the base's files, and so in the base's key.
TEST(Bases, BringTheScriptThatSaysHowTheMachineReachesPackages) {
  std::vector<RecipeDraft> recipes = demo_recipes();
  const std::string without = Resolver(recipes).spec(cell()).stages.at(0).steps.at(0).key;
  recipes[0].get().methods[0].site = "site.sh";
  recipes[0].get().files["site.sh"] = RecipeFile{"site.sh", Digest::of("a"), "a"};
  const ImageSpec spec = Resolver(recipes).spec(cell());
  const Step& base = spec.stages.at(0).steps.at(0);
  EXPECT_EQ(base.site, "site.sh");
  EXPECT_EQ(base.files, (std::vector<std::string>{"rootfs.sh", "site.sh"}));
  EXPECT_EQ(inputs_of(base).at("files").at("site.sh"), Digest::of("a").text());
  EXPECT_NE(base.key, without);
  EXPECT_EQ(spec.stages.at(0).steps.at(1).site, "");
}

TEST(PinnedRecipes, TellTheRootfsScriptTheStateOfTheArchives) {
  auto archive = [](const Lockfile& lock) {
    std::vector<RecipeDraft> recipes = demo_recipes();
    recipes[0].get().methods[0].parameters = {"KILN_ARCHIVE"};
    recipes[0].get().methods[0].archive = "archive.sh";
    recipes[0].get().files["archive.sh"] = RecipeFile{"archive.sh", Digest::of("a"), "a"};
    Resolver resolver(std::move(recipes));
    pin_recipes(resolver.recipes(), lock);
    Step step = resolver.spec(cell()).stages.at(0).steps.at(0);
    EXPECT_EQ(step.files, (std::vector<std::string>{"rootfs.sh", "archive.sh"}));
    return step.parameters.at("KILN_ARCHIVE");
  };
  EXPECT_EQ(archive(Lockfile()), "");
  EXPECT_EQ(archive(read(kLock)), "trixie 13.2 3f2a9c41e0b7");
}

}  // namespace
}  // namespace kiln::testing
