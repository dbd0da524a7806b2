// Two builders that share steps by a registry; a test may give them another place.
#pragma once

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "factory/share/shared_steps.h"
#include "factory/share/step_share.h"
#include "factory/state/record_store.h"
#include "support/fake_effects.h"
#include "support/key_file.h"
#include "support/memory_registry.h"
#include "support/temporary_folder.h"

namespace kiln::testing {

// Hands on to a registry that outlives it.
struct Through final : Http {
  explicit Through(Http& own) : http(own) {}
  HttpAnswer send(const HttpRequest& request) override { return http.send(request); }
  Http& http;
};

inline const std::string kBase(64, 'a'), kStep(64, 'b'), kTest(64, 'c');

// Two builders, each with a state folder: what one has made, the other takes.
class SharedStepsOf : public ::testing::Test {
 protected:
  SharedStepsOf() {
    writes.registry = reads.registry = "http://registry.site/ai/steps";
    writes.key = key_file(folder / "key", "P-256", "", folder / "key.pub");
    reads.trust = {(folder / "key.pub").string()};
    make(kBase, {"base"});
    make(kStep, {"base", "step"});
    TestRecord test{kTest, 2, "all is well", "nid001", "zen4"};
    RecordWriter(maker, files).write(test);
  }

  // The record of a step whose chain has these layers, the last its own.
  void make(const std::string& key, const std::vector<std::string>& layers) {
    StepRecord record{key, {}, 1.5};
    for (const std::string& bytes : layers)
      record.chain.layers.push_back({BlobStore(maker.store()).put(bytes, std::string(media_type::kLayerZstd)),
                                     Digest::of(bytes), bytes == layers.back() ? key : kBase, bytes});
    record.chain.base.emplace();
    RecordWriter(maker, files).write(record);
  }

  SharedSteps shared(const StepSharing& place, const StatePaths& state) {
    const SharedStepsSetup setup{
        place,  limits, state, files,
        runner, clock,  {},    [this](const std::string& text) {
                                   told.push_back(text); }};
    if (!place.folder.empty()) return SharedSteps(setup);
    RegistryAddress address = RegistryAddress::parse(place.registry);
    auto http = std::make_unique<Through>(registry);
    Http& asked = *http;
    return SharedSteps(
        setup,
        std::make_unique<RegistryShare>(
            std::move(http), RegistryAccess{address, asked, {}, clock, 0, [](std::chrono::milliseconds) {}}));
  }
  static SharedSteps::Wanted wanted(const std::string& key) {
    return {{key, key == kTest}, "thing 1.0", key == kTest ? "" : std::string(media_type::kLayerZstd)};
  }
  void share_all() {
    SharedSteps ours = shared(writes, maker);
    for (const std::string& key : {kBase, kStep, kTest}) ours.share(wanted(key));
  }
  bool takes(const std::string& key) { return shared(reads, taker).fetch(wanted(key)).has_value(); }
  // It is not believed, it is said why, and nothing is left of it.
  void refuses(const std::string& key, const std::string& why) {
    told.clear();
    EXPECT_FALSE(takes(key)) << why;
    ASSERT_EQ(told.size(), 1u) << why;
    EXPECT_NE(told[0].find("is not taken from "), std::string::npos) << told[0];
    EXPECT_NE(told[0].find(why), std::string::npos) << told[0];
    EXPECT_FALSE(files.exists(taker.step(key)));
    EXPECT_FALSE(files.exists(taker.test(key)));
  }
  Json manifest(const std::string& name) {
    MemoryRegistry::Repository& steps = registry.repositories["ai/steps"];
    return Json::parse(steps.manifests.at(steps.tags.at(name)).second);
  }
  // Another record under the tag of a step.
  void replace(const std::string& name, const std::string& envelope) {
    Json changed = manifest(name);
    changed["config"]["digest"] = Digest::of(envelope).text();
    changed["config"]["size"] = envelope.size();
    registry.repositories["ai/steps"].blobs[Digest::of(envelope).text()] = envelope;
    registry.put("ai/steps", changed.dump(), name);
  }
  std::string envelope(const std::string& name) {
    return registry.repositories["ai/steps"].blobs.at(manifest(name)["config"]["digest"]);
  }
  std::string& blob(const std::string& bytes) {
    return registry.repositories["ai/steps"].blobs.at(Digest::of(bytes).text());
  }

  TemporaryFolder folder;
  StatePaths maker{folder / "maker"}, taker{folder / "taker"};
  RealFileSystem files;
  FakeCommandRunner runner;
  FakeClock clock;
  PullLimits limits;
  StepSharing writes, reads;
  MemoryRegistry registry;
  std::vector<std::string> told;
  const std::string tag = "step-" + kStep;
};

}  // namespace kiln::testing
