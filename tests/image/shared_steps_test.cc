#include "image/shared/shared_steps.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "image/shared/folder_place.h"
#include "image/shared/registry_place.h"
#include "image/state/record_files.h"
#include "support/fake_effects.h"
#include "support/key_file.h"
#include "support/memory_registry.h"
#include "support/temporary_folder.h"

namespace kiln {
namespace {

using testing::MemoryRegistry;

// Hands on to a registry that outlives it.
struct Through final : Http {
  explicit Through(Http& own) : http(own) {}
  HttpAnswer send(const HttpRequest& request) override { return http.send(request); }
  Http& http;
};

const std::string kBase(64, 'a'), kStep(64, 'b'), kTest(64, 'c');

// Two builders, each with a state folder: what one has made, the other takes.
class SharedStepsOf : public ::testing::Test {
 protected:
  SharedStepsOf() {
    writes.registry = reads.registry = "http://registry.site/ai/steps";
    writes.key = testing::key_file(folder / "key", "P-256", "", folder / "key.pub");
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

  SharedSteps shared(const SharedStepsPlace& place, const StatePaths& state) {
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
        std::make_unique<RegistryPlace>(
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

  testing::TemporaryFolder folder;
  StatePaths maker{folder / "maker"}, taker{folder / "taker"};
  RealFileSystem files;
  testing::FakeCommandRunner runner;
  testing::FakeClock clock;
  PullLimits limits;
  SharedStepsPlace writes, reads;
  MemoryRegistry registry;
  std::vector<std::string> told;
  const std::string tag = "step-" + kStep;
};

TEST_F(SharedStepsOf, WhatOneHasMadeTheOtherTakes) {
  share_all();
  EXPECT_EQ(shared(reads, taker).names(),
            (std::set<std::string>{"step-" + kBase, "step-" + kStep, "test-" + kTest}));
  const auto fetched = shared(reads, taker).fetch(wanted(kStep));
  ASSERT_TRUE(fetched);
  EXPECT_EQ(fetched->bytes, 8u) << "both layers, and no record but its own";
  const auto step = RecordReader(taker, files).step(kStep);
  ASSERT_TRUE(step);
  EXPECT_EQ(step->origin.place, "registry.site/ai/steps");
  EXPECT_EQ(step->origin.signer, SigningKey::read(writes.key).id());
  EXPECT_EQ(BlobStore(taker.store()).read(Digest::of("step")), "step");
  EXPECT_EQ(step->chain.layers.size(), 2u);
  EXPECT_FALSE(files.exists(taker.step(kBase)));
  EXPECT_TRUE(takes(kTest));
  EXPECT_EQ(RecordReader(taker, files).test(kTest)->host, "nid001") << "where it ran, whoever asks";
  EXPECT_TRUE(told.empty());
  // What was fetched is not given on.
  registry.repositories.clear();
  shared(writes, taker).share(wanted(kStep));
  EXPECT_TRUE(registry.repositories["ai/steps"].tags.empty());
}

TEST_F(SharedStepsOf, AnArtifactHasTheLayersThatItsRecordPromises) {
  share_all();
  const Json made = manifest(tag);
  EXPECT_EQ(made["artifactType"], "application/vnd.kiln.step.v1");
  EXPECT_EQ(made["config"]["mediaType"], "application/vnd.kiln.step.record.v1+json");
  ASSERT_EQ(made["layers"].size(), 2u);
  EXPECT_EQ(made["layers"][1]["digest"], Digest::of("step").text());
  registry.requests.clear();
  share_all();
  for (const std::string& request : registry.requests)
    EXPECT_EQ(request.find("PUT"), std::string::npos) << request << ": it is there";
}

TEST_F(SharedStepsOf, WhatIsNotThereIsNoMatter) {
  EXPECT_FALSE(takes(kStep));
  EXPECT_TRUE(shared(reads, taker).names().empty());
  EXPECT_TRUE(told.empty());
}

TEST_F(SharedStepsOf, WhoHasNoKeyGivesNothing) {
  shared(reads, maker).share(wanted(kStep));
  EXPECT_TRUE(registry.requests.empty());
}

TEST_F(SharedStepsOf, OnlyWhatSomebodyTrustedHasSignedIsBelieved) {
  share_all();
  Json unsigned_one = Json::parse(envelope(tag));
  const Json good = unsigned_one;
  unsigned_one["signatures"] = Json::array();
  replace(tag, unsigned_one.dump());
  refuses(kStep, "nobody whom the site file trusts has signed it");
  StepRecord other = *RecordReader(maker, files).step(kStep);
  other.seconds = 2;
  Json forged = Json::parse(shared_envelope({kStep, false}, {other, "h", "t"}, nullptr));
  forged["signatures"] = good["signatures"];
  replace(tag, forged.dump());
  refuses(kStep, "nobody whom the site file trusts has signed it");
  const SigningKey foreign = SigningKey::read(testing::key_file(folder / "foreign"));
  replace(tag,
          shared_envelope({kStep, false}, {*RecordReader(maker, files).step(kStep), "h", "t"}, &foreign));
  refuses(kStep, "nobody whom the site file trusts has signed it");
  replace(tag, good.dump());
  EXPECT_TRUE(takes(kStep));
}

TEST_F(SharedStepsOf, ASignatureIsForOneStepOnly) {
  share_all();
  replace(tag, envelope("step-" + kBase));
  refuses(kStep, "it is of another: " + kBase);
  replace(tag, envelope("test-" + kTest));
  refuses(kStep, "expected a payload of the type application/vnd.kiln.step.record.v1+json");
  replace("test-" + kTest, envelope("step-" + kBase));
  refuses(kTest, "expected a payload of the type");
}

TEST_F(SharedStepsOf, LayersAreWhatTheRecordSays) {
  share_all();
  blob("step") = "stop";
  refuses(kStep, "expected");
  blob("step") = "ste";
  refuses(kStep, "has 3 of 4 bytes there");
  blob("step") = std::string(1u << 20, 'x');
  refuses(kStep, "has more than 4 of 4 bytes there");
  registry.repositories["ai/steps"].blobs.erase(Digest::of("step").text());
  refuses(kStep, "is missing there");
  EXPECT_FALSE(BlobStore(taker.store()).has(Digest::of("step")));
}

// The signer was wrong about it, whatever he is trusted with.
TEST_F(SharedStepsOf, LayersHoldWhatTheRecordSays) {
  StepRecord record = *RecordReader(maker, files).step(kStep);
  record.chain.layers.back().diff_id = Digest::of("something else");
  RecordWriter(maker, files).write(record);
  share_all();
  refuses(kStep, "does not hold " + Digest::of("something else").text());
}

TEST_F(SharedStepsOf, RecordsThatAreNoneAreRefused) {
  share_all();
  const SigningKey key = SigningKey::read(writes.key);
  StepRecord record = *RecordReader(maker, files).step(kStep);
  auto change = [&](auto how) {
    StepRecord other = record;
    how(other);
    replace(tag, shared_envelope({kStep, false}, {other, "h", "t"}, &key));
  };
  change([](StepRecord& other) { other.chain.layers.clear(); });
  refuses(kStep, "expected 1 to 1000 layers");
  change([](StepRecord& other) { other.chain.layers.pop_back(); });
  refuses(kStep, "the step itself made none");
  change([](StepRecord& other) { other.chain.layers[0].step = "../../etc"; });
  refuses(kStep, "expected the keys of steps");
  for (const char* bad : {"", "{", "[]", R"({"payload": 3})"}) {
    replace(tag, bad);
    refuses(kStep, "");
  }
  replace(tag, std::string(kMostEnvelope + 1, ' '));
  refuses(kStep, fmt::format("has more than {} bytes there", kMostEnvelope));
  for (const char* bad : {"", "{}", "[]", R"({"schemaVersion":2,"manifests":[]})"}) {
    registry.put("ai/steps", bad, tag);
    refuses(kStep, "");
  }
}

TEST_F(SharedStepsOf, AnImageUnderTheTagOfAStepIsNone) {
  share_all();
  Json image = manifest(tag);
  image.erase("artifactType");
  registry.put("ai/steps", image.dump(), tag);
  refuses(kStep, "it is of the type ''");
}

TEST_F(SharedStepsOf, ASiteThatWritesGzipTakesNoZstd) {
  share_all();
  SharedSteps::Wanted gzip = wanted(kStep);
  gzip.media_type = media_type::kLayerGzip;
  EXPECT_FALSE(shared(reads, taker).fetch(gzip));
  EXPECT_TRUE(shared(reads, taker).fetch({{kStep, false}, "a pull", ""}));
}

TEST_F(SharedStepsOf, WhatCouldNotRunSaysNothingToOthers) {
  for (const char* said :
       {"not run: this machine lacks avx512f", "hello, not run: there is no GPU here; 2 s"}) {
    TestRecord record{kTest, 0, said};
    RecordWriter(maker, files).write(record);
    share_all();
    EXPECT_FALSE(registry.tags_of("ai/steps").contains("test-" + kTest)) << said;
  }
}

TEST_F(SharedStepsOf, WhatIsWrongThereIsMadeGood) {
  share_all();
  replace(tag, "{}");
  share_all();
  EXPECT_TRUE(takes(kStep));
}

TEST_F(SharedStepsOf, OtherBitsOfOneKeyAreALoudWord) {
  share_all();
  make(kStep, {"base", "other"});
  share_all();
  ASSERT_EQ(told.size(), 1u);
  EXPECT_EQ(told[0].find("WARNING: thing 1.0 has other bits in registry.site/ai/steps than here"), 0u)
      << told[0];
  EXPECT_EQ(manifest(tag)["layers"][1]["digest"], Digest::of("step").text()) << "who came first stays";
  // And where what was fetched stands on a step that was run here.
  told.clear();
  make(kBase, {"another base"});
  RecordWriter(maker, files).remove_step(kStep);
  EXPECT_TRUE(shared(reads, maker).fetch(wanted(kStep)));
  ASSERT_EQ(told.size(), 1u);
  EXPECT_EQ(told[0].find("WARNING: base, which thing 1.0 stands on, has other bits"), 0u) << told[0];
}

TEST_F(SharedStepsOf, ARegistryThatIsAwayIsAskedOnce) {
  share_all();
  int asked = 0;
  registry.before = [&](const std::string&) {
    ++asked;
    throw HttpFailure{"no route to host"};
  };
  EXPECT_FALSE(takes(kStep));
  EXPECT_FALSE(takes(kBase));
  EXPECT_EQ(asked, 1);
  ASSERT_EQ(told.size(), 1u);
  EXPECT_NE(told[0].find("for 10 minutes no step is looked for there"), std::string::npos) << told[0];
  shared(writes, taker).share(wanted(kStep));
  EXPECT_EQ(asked, 1) << "it has nothing to give";
  registry.before = {};
  EXPECT_FALSE(takes(kStep)) << "not yet";
  clock.now += 601;
  EXPECT_TRUE(takes(kStep));
  registry.before = [&](const std::string&) { throw HttpFailure{"no route to host"}; };
  EXPECT_FALSE(takes(kBase));
  registry.before = {};
  SharedSteps::try_again(taker, files);
  EXPECT_TRUE(takes(kBase));
}

// --- in a folder

class SharedFolder : public SharedStepsOf {
 protected:
  SharedFolder() {
    writes = reads = {};
    writes.folder = reads.folder = (folder / "shared").string();
    writes.is_private = reads.is_private = true;
    fs::create_directory(writes.folder);
  }
  fs::path record(const std::string& name) const {
    return fs::path(reads.folder) / "steps" / (name + ".json");
  }
};

TEST_F(SharedFolder, OursAreBelievedWithoutASignature) {
  share_all();
  EXPECT_TRUE(takes(kStep));
  EXPECT_TRUE(takes(kTest));
  EXPECT_EQ(RecordReader(taker, files).step(kStep)->origin.signer, "");
  EXPECT_EQ(shared(reads, taker).names().size(), 3u);
}

TEST_F(SharedFolder, WhatOthersMayWriteIsNotOurs) {
  share_all();
  fs::permissions(record(tag), fs::perms::group_write, fs::perm_options::add);
  refuses(kStep, "its record there may be written by its group");
  fs::permissions(record(tag), fs::perms::group_write, fs::perm_options::remove);
  fs::permissions(record(tag).parent_path(), fs::perms::others_write, fs::perm_options::add);
  refuses(kStep, "its record there may be written by everybody");
  fs::permissions(record(tag).parent_path(), fs::perms::others_write, fs::perm_options::remove);
  EXPECT_TRUE(takes(kStep));
}

TEST_F(SharedFolder, WhatBelongsToSomebodyElseIsNotOurs) {
  if (::geteuid() != 0) GTEST_SKIP() << "files can be given away by root only";
  share_all();
  ASSERT_EQ(::chown(record(tag).c_str(), 1234, 0), 0);
  refuses(kStep, "its record there belongs to the user 1234");
}

TEST_F(SharedFolder, ALinkAndAPipeAreNoRecords) {
  share_all();
  fs::rename(record(tag), folder / "elsewhere");
  fs::create_symlink(folder / "elsewhere", record(tag));
  refuses(kStep, "cannot open");
  fs::remove(record(tag));
  ASSERT_EQ(::mkfifo(record(tag).c_str(), 0600), 0);
  refuses(kStep, "its record there is no file");
}

TEST_F(SharedFolder, WithoutThePromiseASignatureIsAsked) {
  share_all();
  reads.is_private = false;
  reads.trust = {(folder / "key.pub").string()};
  refuses(kStep, "nobody whom the site file trusts has signed it");
  writes.key = (folder / "key").string();
  fs::remove(record(tag));
  share_all();
  EXPECT_TRUE(takes(kStep));
}

TEST_F(SharedFolder, ADamagedLayerIsMadeGoodByWhoeverFindsIt) {
  share_all();
  const BlobStore store(reads.folder);
  files.write(store.path(Digest::of("step")), "stop");
  SharedSteps finder = shared(writes, taker);
  EXPECT_FALSE(finder.fetch(wanted(kStep)));
  fs::copy(maker.root(), taker.root(), fs::copy_options::recursive | fs::copy_options::overwrite_existing);
  finder.share(wanted(kStep));  // it was run here meanwhile
  EXPECT_EQ(store.read(Digest::of("step")), "step");
}

// --- what nobody uses any more

TEST_F(SharedStepsOf, WhatNobodyHasUsedForLongGoes) {
  share_all();
  clock.now += 29 * 86400;
  SharedSteps writer = shared(writes, taker);
  EXPECT_TRUE(writer.old().names.empty());
  EXPECT_TRUE(writer.fetch(wanted(kStep)));  // who may write says that it is used
  EXPECT_TRUE(takes(kTest));                 // who may not does not
  clock.now += 2 * 86400;
  const SharedSteps::Old old = writer.old();
  EXPECT_EQ(old.all, 3u);
  EXPECT_EQ(old.names, (std::set<std::string>{"step-" + kBase, "test-" + kTest}));
  writer.remove(old);
  EXPECT_EQ(shared(reads, taker).names(), std::set<std::string>{tag});
  files.remove_all(taker.root());
  EXPECT_TRUE(takes(kStep)) << "its signature is what it was";
  registry.put("ai/steps", "{}", "latest");
  registry.put("ai/steps", "{}", "step-" + std::string(64, 'd'));
  EXPECT_EQ(writer.old().all, 1u) << "what is no step of ours is left alone";
}

TEST_F(SharedFolder, LayersGoWithTheLastRecordThatNamesThem) {
  share_all();
  const BlobStore store(reads.folder);
  auto age = [&](const fs::path& file) {
    fs::last_write_time(file, fs::file_time_type::clock::now() - std::chrono::hours(48));
  };
  for (const Digest& blob : store.blobs()) age(store.path(blob));
  shared(writes, maker).remove({{"step-" + kStep}, 3});
  EXPECT_TRUE(store.has(Digest::of("base"))) << "a record that stays needs it";
  EXPECT_FALSE(store.has(Digest::of("step")));
  // A young one may be waiting for its record.
  shared(writes, maker).share(wanted(kStep));
  age(store.path(Digest::of("base")));
  shared(writes, maker).remove({{"step-" + kStep}, 3});
  EXPECT_TRUE(store.has(Digest::of("step")));
  // Where a record cannot be read, nobody knows what it needs.
  age(store.path(Digest::of("step")));
  files.write(record("step-" + std::string(64, 'd')), "damaged");
  EXPECT_THROW(shared(writes, maker).remove({{"step-" + kBase}, 3}), Error);
  EXPECT_TRUE(store.has(Digest::of("step")));
  EXPECT_TRUE(store.has(Digest::of("base")));
}

TEST_F(SharedFolder, AFolderThatIsNotThereIsAway) {
  fs::remove(writes.folder);
  EXPECT_FALSE(takes(kStep));
  EXPECT_FALSE(fs::exists(writes.folder)) << "it may be a mount point";
  ASSERT_EQ(told.size(), 1u);
  EXPECT_NE(told[0].find("there is no folder"), std::string::npos) << told[0];
}

}  // namespace
}  // namespace kiln
