// A catalogue to lock, and an outside that answers as it is told.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <vector>

#include "factory/plan/lock_policy.h"
#include "support/plan_fixture.h"

namespace kiln::testing {

using Lines = std::vector<std::string>;

// A catalogue with every sort of base, a source, and a tool that only a build stage needs.
class LockFixture : public ::testing::Test {
 protected:
  LockFixture() {
    RecipeDraft debian(Kind::base, "debian", {"trixie"});
    debian.rootfs().get().methods[0].parameters = {"KILN_ARCHIVE"};
    debian.get().methods[0].archive = "archive.sh";
    debian.get().files["archive.sh"] = RecipeFile{"archive.sh", Digest::of("a"), "a"};
    RecipeDraft bazel(Kind::toolchain, "bazel", {"3.1"});
    bazel.method("source", "install bazel");
    source(bazel, "3.1", "https://example.org/bazel", "sha256:" + std::string(64, 'b'));
    recipes = {RecipeDraft(Kind::base, "ubuntu", {"18.04"}).image("docker.io/library/ubuntu:{version}"),
               debian,
               RecipeDraft(Kind::base, "busybox", {"1.35"}).rootfs(),
               RecipeDraft(Kind::base, "local", {"1"}).image("oci-archive:/srv/local.tar"),
               bazel,
               RecipeDraft(Kind::framework, "pytorch", {"2.6.0"})
                   .method("source")
                   .build("make", {"/opt/kiln/pytorch"})
                   .build_needs(Kind::toolchain, "bazel")};
  }

  static void source(RecipeDraft& recipe, const std::string& version, const std::string& url,
                     const std::string& checksum) {
    for (ComponentVersion& one : recipe.get().versions)
      if (one.version.text() == version) {
        one.source_url = url;
        one.source_checksum = checksum;
      }
  }

  RecipeDraft& recipe(const std::string& name) {
    for (RecipeDraft& one : recipes)
      if (one.get().name == name) return one;
    ADD_FAILURE() << name;
    return recipes.front();
  }

  // Plans the catalogue and hands its needs to `act`.
  template <typename Act>
  auto with_needs(Act act) {
    Resolver resolver(recipes);
    BuildPlan plan = plan_matrix(matrix({axis("framework", {"pytorch"}), axis("version", {"2.6.0"}),
                                         axis("base", bases), axis("target", targets)}),
                                 resolver.input());
    EXPECT_EQ(plan.excluded(), 0u);
    return act(lock_needs(plan.resolution(), resolver.recipes()));
  }

  Lockfile make(const Lockfile* previous = nullptr) {
    asked.clear();
    Lockfile lock = with_needs([&](const auto& needs) { return make_lock(needs, previous, sources()); });
    lock.file = "demo.lock.json";
    return lock;
  }
  Lockfile update(const Lockfile& previous, const Lines& names) {
    asked.clear();
    return with_needs([&](const auto& needs) { return update_lock(needs, previous, names, sources()); });
  }
  Lines gaps(const Lockfile& lock, const std::string& version = "0.2.5") {
    Lines lines;
    for (const LockGap& gap : with_needs([&](const auto& needs) { return lock_gaps(needs, lock, version); }))
      lines.push_back(fmt::format("{}:{}: {}", gap.where.file, gap.where.line, gap.what));
    return lines;
  }
  static Lines changes(const Lockfile& before, const Lockfile& now) {
    Lines lines;
    for (const LockChange& change : compare_locks(before, now)) lines.push_back(text_of(change));
    return lines;
  }

  // What is outside: `upstream` is what every tag and archive is at.
  LockSources sources() {
    return {[this](const std::string& reference, const std::string& architecture) {
              asked.push_back(reference + " " + architecture);
              refuse(reference);
              return Digest::of(reference + architecture + upstream);
            },
            [this](const LockNeed& need, const std::string& architecture) {
              asked.push_back(need.component->name + " " + architecture);
              refuse(need.component->name);
              return "trixie " + upstream;
            },
            [this](const Recipe& recipe) { return Digest::of(recipe.name + edited); },
            "0.2.5",
            [this](const std::string& url, const std::string& commit) {
              asked.push_back(url + " " + commit.substr(0, 4));
              return ref;
            },
            [this](const Step& base) { return built.contains(base.component); },
            now};
  }
  // Throws what `silent` has for it.
  void refuse(const std::string& name) const {
    if (auto found = silent.find(name); found != silent.end()) throw Error(found->second);
  }

  std::vector<RecipeDraft> recipes;
  Lines bases = {"ubuntu", "debian"};
  Lines targets = {"x86_64_v3", "neoverse_v1"};
  std::string upstream = "1";
  std::string ref = "refs/tags/v3.1";
  std::string edited;
  std::set<std::string> built = {"base/debian"};  // components whose bits are there
  std::int64_t now = 0;
  std::map<std::string, Error> silent;  // by reference or component: why it cannot be asked
  Lines asked;
};

}  // namespace kiln::testing
