#include "factory/plan/lock_update.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "support/lock_fixture.h"

namespace kiln::testing {
namespace {

using LockUpdate = LockFixture;

TEST_F(LockUpdate, LocksEveryComponentOfThePlanForEveryArchitecture) {
  Lockfile lock = make();
  EXPECT_EQ(asked, (Lines{"debian amd64", "debian arm64", "docker.io/library/ubuntu:18.04 amd64",
                          "docker.io/library/ubuntu:18.04 arm64"}));
  Lines ids;
  for (const auto& [id, entry] : lock.entries) ids.push_back(id);
  EXPECT_EQ(ids, (Lines{"base/debian@trixie:distro", "base/ubuntu@18.04:hub",
                        "framework/pytorch@2.6.0:source", "toolchain/bazel@3.1:source"}));
  const LockEntry& ubuntu = lock.entries.at("base/ubuntu@18.04:hub");
  EXPECT_EQ(ubuntu.image, "docker.io/library/ubuntu:18.04");
  EXPECT_EQ(ubuntu.digests.at("arm64"), Digest::of("docker.io/library/ubuntu:18.04arm641"));
  EXPECT_EQ(lock.entries.at("base/debian@trixie:distro").archives.at("amd64"), "trixie 1");
  EXPECT_EQ(lock.entries.at("toolchain/bazel@3.1:source").source_url, "https://example.org/bazel");
  EXPECT_EQ(lock.entries.at("framework/pytorch@2.6.0:source").floating, "");
  EXPECT_EQ(gaps(lock), Lines());
}

TEST_F(LockUpdate, SaysWhatNothingPins) {
  bases = {"busybox", "local"};
  targets = {"x86_64_v3"};
  Lockfile lock = make();
  EXPECT_EQ(asked, Lines());
  EXPECT_EQ(lock.entries.at("base/busybox@1.35:distro").floating, "made by rootfs.sh on the build host");
  EXPECT_EQ(lock.entries.at("base/local@1:hub").floating, "an image on this machine's disk");
  EXPECT_EQ(gaps(lock), Lines());
}

TEST_F(LockUpdate, LockingAgainMovesNothing) {
  Lockfile first = make();
  upstream = "2";
  Lockfile second = make(&first);
  EXPECT_EQ(asked, Lines());
  EXPECT_EQ(lockfile_text(second), lockfile_text(first));
}

TEST_F(LockUpdate, LockingAgainAsksOnlyForWhatIsMissing) {
  targets = {"x86_64_v3"};
  bases = {"ubuntu"};
  Lockfile first = make();
  upstream = "2";
  targets = {"x86_64_v3", "neoverse_v1"};
  bases = {"ubuntu", "busybox"};
  Lockfile second = make(&first);
  EXPECT_EQ(asked, (Lines{"docker.io/library/ubuntu:18.04 arm64"}));
  EXPECT_EQ(second.entries.at("base/ubuntu@18.04:hub").digests.at("amd64"),
            first.entries.at("base/ubuntu@18.04:hub").digests.at("amd64"));
  bases = {"busybox"};
  EXPECT_FALSE(make(&second).entries.contains("base/ubuntu@18.04:hub")) << "nothing needs it any more";
}

TEST_F(LockUpdate, ARecipesNewImageIsAskedFor) {
  Lockfile first = make();
  recipe("ubuntu").get().methods[0].image = "example.org/ubuntu:{version}";
  make(&first);
  EXPECT_EQ(asked, (Lines{"example.org/ubuntu:18.04 amd64", "example.org/ubuntu:18.04 arm64"}));
}

TEST_F(LockUpdate, UpdateChangesWhatIsNamedAndNothingElse) {
  Lockfile first = make();
  upstream = "2";
  edited = "every recipe was edited";
  auto short_of = [](const std::string& text) { return Digest::of(text).hex().substr(0, 12); };
  const std::string reference = "docker.io/library/ubuntu:18.04";
  Lines expected = {
      fmt::format("base/ubuntu@18.04:hub: digest amd64 {} → {}", short_of(reference + "amd641"),
                  short_of(reference + "amd642")),
      fmt::format("base/ubuntu@18.04:hub: digest arm64 {} → {}", short_of(reference + "arm641"),
                  short_of(reference + "arm642")),
      fmt::format("base/ubuntu@18.04:hub: recipe {} → {}", short_of("ubuntu"), short_of("ubuntu" + edited))};
  for (const std::string& name :
       Lines{"ubuntu", "base/ubuntu", "base/ubuntu@18.04", "base/ubuntu@18.04:hub", reference, "ubu*"}) {
    EXPECT_EQ(changes(first, update(first, {name})), expected) << name;
    EXPECT_EQ(asked, (Lines{reference + " amd64", reference + " arm64"})) << name;
  }
  EXPECT_EQ(changes(first, update(first, {"debian", "archspec"})),
            (Lines{"base/debian@trixie:distro: archive amd64 trixie 1 → trixie 2",
                   "base/debian@trixie:distro: archive arm64 trixie 1 → trixie 2",
                   fmt::format("base/debian@trixie:distro: recipe {} → {}", short_of("debian"),
                               short_of("debian" + edited))}));
}

TEST_F(LockUpdate, UpdateAddsAndRemovesWhatIsNamed) {
  Lockfile first = make();
  bases = {"busybox"};
  Lockfile second = update(first, {"busybox", "debian"});
  EXPECT_TRUE(second.entries.contains("base/busybox@1.35:distro"));
  EXPECT_FALSE(second.entries.contains("base/debian@trixie:distro"));
  EXPECT_TRUE(second.entries.contains("base/ubuntu@18.04:hub")) << "not named";
  first.archspec = "0.2.4";
  EXPECT_EQ(changes(first, update(first, {"archspec"})), (Lines{"archspec: 0.2.4 → 0.2.5"}));
}

TEST_F(LockUpdate, UpdateOfNothing) {
  Lockfile first = make();
  try {
    update(first, {"ubuntu", "ubnutu"});
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::no_match);
    EXPECT_EQ(error.format(), "error: nothing that is locked is called 'ubnutu'; did you mean 'ubuntu'?");
  }
}

TEST_F(LockUpdate, GapsAreNamedAtTheRecipe) {
  targets = {"x86_64_v3"};
  Lockfile lock = make();
  for (auto& [id, entry] : lock.entries) entry.where = {"demo.lock.json", 7, 5, ""};
  lock.archspec_where = {"demo.lock.json", 2, 15, ""};
  bases = {"ubuntu", "debian", "busybox"};
  targets = {"x86_64_v3", "neoverse_v1"};
  source(recipe("bazel"), "3.1", "https://example.org/bazel", "sha256:" + std::string(64, 'c'));
  EXPECT_EQ(gaps(lock, "0.2.6"),
            (Lines{"recipes/base/busybox/recipe.json:4: base/busybox@1.35:distro is not in demo.lock.json",
                   "recipes/base/debian/recipe.json:8: base/debian@trixie:distro has no archive for arm64 in "
                   "demo.lock.json:7:5",
                   "recipes/base/ubuntu/recipe.json:8: base/ubuntu@18.04:hub has no digest for arm64 in "
                   "demo.lock.json:7:5",
                   fmt::format(
                       "recipes/toolchain/bazel/recipe.json:4: the source of toolchain/bazel@3.1:source is "
                       "https://example.org/bazel (sha256:{}), and https://example.org/bazel (sha256:{}) in "
                       "demo.lock.json:7:5",
                       std::string(64, 'c'), std::string(64, 'b')),
                   "demo.lock.json:2: flags come from archspec 0.2.6, the lockfile was made with 0.2.5"}));
  recipe("ubuntu").get().methods[0].image = "example.org/ubuntu:{version}";
  EXPECT_EQ(gaps(lock)[2],
            "recipes/base/ubuntu/recipe.json:8: base/ubuntu@18.04:hub has the image "
            "'example.org/ubuntu:18.04', and 'docker.io/library/ubuntu:18.04' in demo.lock.json:7:5");
}

// Only where it is asked for: --locked.
TEST_F(LockUpdate, AnEditedRecipeIsAGapOnceAComponent) {
  bases = {"ubuntu"};
  const Lockfile lock = make();
  EXPECT_EQ(gaps(lock), Lines());
  auto strict = [&] {
    Lines lines;
    const auto found =
        with_needs([&](const auto& needs) { return lock_gaps(needs, lock, "0.2.5", sources().recipe); });
    for (const LockGap& gap : found) lines.push_back(fmt::format("{}: {}", gap.where.text(), gap.what));
    return lines;
  };
  EXPECT_EQ(strict(), Lines());
  edited = "!";
  EXPECT_EQ(gaps(lock), Lines());
  ASSERT_EQ(strict().size(), 3u);
  EXPECT_EQ(
      strict().front(),
      fmt::format("recipes/base/ubuntu/recipe.json: this recipe, or a file that it names, is not as it was "
                  "locked: digest {} → {}",
                  Digest::of("ubuntu").hex().substr(0, 12), Digest::of("ubuntu!").hex().substr(0, 12)));
}

TEST_F(LockUpdate, ACommitIsAskedForOnceAndMustBeUpstreams) {
  source(recipe("bazel"), "3.1", "https://example.org/bazel.git", "git:" + std::string(40, 'c'));
  bases = {"ubuntu"};
  auto& reads = recipe("bazel").get().methods.front().parameters;
  reads = {};
  with_needs([&](const LockNeeds& needs) { return make_lock(needs, nullptr, sources()); });
  EXPECT_EQ(std::count(asked.begin(), asked.end(), "https://example.org/bazel.git cccc"), 0)
      << "its script reads no source";
  reads = {"KILN_SOURCE_CHECKSUM"};
  Lockfile first = with_needs([&](const LockNeeds& needs) { return make_lock(needs, nullptr, sources()); });
  EXPECT_EQ(first.entries.at("toolchain/bazel@3.1:source").source_ref, "refs/tags/v3.1");
  auto questions = [&] {
    return std::count(asked.begin(), asked.end(), "https://example.org/bazel.git cccc");
  };
  EXPECT_EQ(questions(), 1);
  ref = "";
  Lockfile second = with_needs([&](const LockNeeds& needs) { return make_lock(needs, &first, sources()); });
  EXPECT_EQ(questions(), 1);
  EXPECT_EQ(second.entries.at("toolchain/bazel@3.1:source").source_ref, "refs/tags/v3.1");

  source(recipe("bazel"), "3.1", "https://example.org/bazel.git", "git:" + std::string(40, 'd'));
  try {
    with_needs([&](const LockNeeds& needs) { return make_lock(needs, &first, sources()); });
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::input);
    EXPECT_EQ(error.message(),
              "no branch and no tag of https://example.org/bazel.git has the commit " + std::string(40, 'd'));
  }
}

}  // namespace
}  // namespace kiln::testing
