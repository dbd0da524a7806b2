// What a step finds again of what its scripts kept.
#include "factory/run/caches.h"

#include <gtest/gtest.h>

#include "support/step_fixture.h"

namespace kiln {
namespace {

class CachesOfSteps : public testing::Steps {
 protected:
  Step& add_cached(const std::vector<std::string>& caches = {"ccache"}) {
    Step& step = add(StepKind::run, add_base());
    step.cache = caches;
    return step;
  }
  static const Mount* mount_at(const ContainerRun& request, const std::string& target) {
    for (const Mount& mount : request.mounts)
      if (mount.target == target) return &mount;
    return nullptr;
  }
  std::string log(const Step& step) { return files.read(state.log(step.key)).value_or(""); }
  // Runs the step anew; the folder that it finds is where `work` writes.
  void run_with(const Step& step, const std::function<void(const fs::path&)>& work) {
    fs::remove(state.step(step.key));
    engine.script = [&](const fs::path&, const ContainerRun& request) {
      const Mount* mount = mount_at(request, "/run/kiln/cache/ccache");
      work(mount == nullptr ? fs::path() : mount->source);
      return CommandResult{};
    };
    EXPECT_EQ(run(step.key), StepOutcome::done) << log(step);
  }
};

TEST_F(CachesOfSteps, AScriptFindsWhatItKept) {
  const Step& step = add_cached();
  run_with(step, [&](const fs::path& cache) {
    ASSERT_FALSE(cache.empty());
    files.write(cache / "object", "made");
  });
  run_with(step, [&](const fs::path& cache) { EXPECT_EQ(files.read(cache / "object"), "made"); });
  site.cache.use = false;
  run_with(step, [&](const fs::path& cache) { EXPECT_TRUE(cache.empty()); });
}

TEST_F(CachesOfSteps, CcacheIsToldWhatKeepsBitsEqual) {
  const Step& step = add_cached();
  environment["CCACHE_SLOPPINESS"] = "time_macros";
  environment["CCACHE_DIR"] = "/elsewhere";
  site.pass_environment = {"CCACHE_*"};
  site.cache.size = std::uint64_t{3} << 30;
  engine.script = [&](const fs::path&, const ContainerRun& request) {
    EXPECT_EQ(request.environment.at("CCACHE_DIR"), "/run/kiln/cache/ccache");
    EXPECT_EQ(request.environment.at("CCACHE_CONFIGPATH"), "/dev/null");
    EXPECT_EQ(request.environment.at("CCACHE_COMPILERCHECK"), "content");
    EXPECT_EQ(request.environment.at("CCACHE_NODIRECT"), "true");
    EXPECT_EQ(request.environment.at("CCACHE_MAXSIZE"), "3072Mi");
    EXPECT_FALSE(request.environment.contains("CCACHE_SLOPPINESS")) << "whatever the site hands on";
    const Mount* cache = mount_at(request, "/run/kiln/cache/ccache");
    EXPECT_TRUE(cache != nullptr && cache->writable);
    for (const Mount& mount : request.mounts)
      EXPECT_EQ(mount.writable, mount.target.starts_with("/run/kiln/cache/")) << mount.volume();
    return CommandResult{};
  };
  EXPECT_EQ(run(step.key), StepOutcome::done) << log(step);
}

TEST_F(CachesOfSteps, TheLogSaysWhatWasFound) {
  const Step& step = add_cached();
  engine.script = [&](const fs::path&, const ContainerRun& request) {
    files.write_output(mount_at(request, request.environment.at("CCACHE_STATSLOG"))->source,
                       "# a.c\ncache_miss\nlocal_storage_miss\n# b.c\npreprocessed_cache_hit\n# c.c\n"
                       "preprocessed_cache_hit\n");
    return CommandResult{};
  };
  EXPECT_EQ(run(step.key), StepOutcome::done);
  EXPECT_NE(log(step).find("kiln: ccache found 2 of 3 files that were compiled\n"), std::string::npos)
      << log(step);
}

// Compiled wheels lie beside the downloads, and pip does not ask by which flags they were compiled.
TEST_F(CachesOfSteps, PipKeepsDownloadsAndNoWheels) {
  const Step& step = add_cached({"pip"});
  engine.script = [&](const fs::path&, const ContainerRun& request) {
    EXPECT_EQ(request.environment.at("PIP_CACHE_DIR"), "/run/kiln/cache/pip");
    EXPECT_EQ(mount_at(request, "/run/kiln/cache/pip"), nullptr);
    EXPECT_NE(mount_at(request, "/run/kiln/cache/pip/http-v2"), nullptr);
    EXPECT_NE(mount_at(request, "/run/kiln/cache/pip/http"), nullptr);
    EXPECT_FALSE(request.environment.contains("CCACHE_DIR"));
    return CommandResult{};
  };
  EXPECT_EQ(run(step.key), StepOutcome::done) << log(step);
}

TEST_F(CachesOfSteps, WhatPipCallsDamagedGoesAndTheScriptRunsOnceMore) {
  const Step& step = add_cached({"pip"});
  std::vector<bool> with_cache;
  engine.script = [&](const fs::path&, const ContainerRun& request) {
    const Mount* http = mount_at(request, "/run/kiln/cache/pip/http-v2");
    with_cache.push_back(http != nullptr);
    if (http == nullptr) return CommandResult{};
    files.write(http->source / "body", "damaged");
    return CommandResult{CommandEnd::exited, 1, "",
                         "ERROR: THESE PACKAGES DO NOT MATCH THE HASHES FROM THE REQUIREMENTS FILE.", 0};
  };
  EXPECT_EQ(run(step.key), StepOutcome::done) << log(step);
  EXPECT_EQ(with_cache, (std::vector<bool>{true, false}));
  EXPECT_NE(log(step).find("again without the cache, which may be damaged and was removed"),
            std::string::npos);

  with_cache.clear();
  fs::remove(state.step(step.key));
  engine.script = [&](const fs::path&, const ContainerRun& request) {
    const Mount* http = mount_at(request, "/run/kiln/cache/pip/http-v2");
    with_cache.push_back(http != nullptr);
    EXPECT_FALSE(http != nullptr && files.exists(http->source / "body"));
    return CommandResult{CommandEnd::exited, 1, "", "error: no such function", 0};
  };
  EXPECT_EQ(run(step.key), StepOutcome::failed);
  EXPECT_EQ(with_cache, std::vector<bool>{true}) << "a script that fails by itself fails";
}

TEST_F(CachesOfSteps, WithoutAFolderTheStepIsDoneAllTheSame) {
  const Step& step = add_cached();
  site.cache.folder = folder.write("file", "") / "caches";
  run_with(step, [&](const fs::path& cache) { EXPECT_TRUE(cache.empty()); });
  EXPECT_NE(log(step).find("kiln: runs without the cache ccache: "), std::string::npos) << log(step);
}

TEST_F(CachesOfSteps, TheSitesFolderAndSizeHold) {
  const Step& step = add_cached();
  site.cache.folder = folder / "elsewhere";
  site.cache.size = 1;
  run_with(step, [&](const fs::path& cache) {
    EXPECT_TRUE(cache.string().starts_with(site.cache.folder)) << cache;
    files.write(cache / "object", "made");
  });
  EXPECT_FALSE(files.exists(state.caches()));
  EXPECT_EQ(files.list(fs::path(site.cache.folder) / "ccache"), std::vector<std::string>{});
}

// Whoever could put something into the parent of one could otherwise put objects into others.
TEST(CacheId, IsOfTheComponentAndOfAllFilesBelow) {
  Step step;
  step.component = "library/openblas";
  StepRecord parent;
  parent.chain.layers = {{{}, Digest::of("base"), "key", "base"}, {{}, Digest::of("gcc"), "key", "gcc"}};
  const std::string id = cache_id(step, parent);
  EXPECT_EQ(id.size(), 32u);
  StepRecord same = parent;
  same.key = "another key";
  step.version = "0.3.30";
  EXPECT_EQ(cache_id(step, same), id) << "another version of the component finds it";
  same.chain.layers[0].diff_id = Digest::of("another base");
  EXPECT_NE(cache_id(step, same), id);
  step.component = "library/other";
  EXPECT_NE(cache_id(step, parent), id);
}

}  // namespace
}  // namespace kiln
