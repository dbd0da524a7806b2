#include "factory/share/shared_steps.h"

#include <fmt/format.h>

#include "support/shared_steps_fixture.h"

namespace kiln {
namespace {

using testing::kBase, testing::kStep, testing::kTest;
using testing::MemoryRegistry;
using testing::SharedStepsOf;

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
  EXPECT_FALSE(registry.requests.empty());
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
  refuses(kStep, "no key that the site file trusts has signed it");
  StepRecord other = *RecordReader(maker, files).step(kStep);
  other.seconds = 2;
  Json forged = Json::parse(shared_envelope({kStep, false}, {other, "h", "t"}, nullptr));
  forged["signatures"] = good["signatures"];
  replace(tag, forged.dump());
  refuses(kStep, "no key that the site file trusts has signed it");
  const SigningKey foreign = SigningKey::read(testing::key_file(folder / "foreign"));
  replace(tag,
          shared_envelope({kStep, false}, {*RecordReader(maker, files).step(kStep), "h", "t"}, &foreign));
  refuses(kStep, "no key that the site file trusts has signed it");
  replace(tag, good.dump());
  EXPECT_TRUE(takes(kStep));
}

TEST_F(SharedStepsOf, ARecordThatWasChangedUnderItsSignatureIsForged) {
  share_all();
  const Json good = Json::parse(envelope(tag));
  auto forged_of = [&](const Json& envelope) {
    replace(tag, envelope.dump());
    SharedSteps steps = shared(reads, taker);
    EXPECT_FALSE(steps.fetch(wanted(kStep)));
    return steps.forged({kStep, false});
  };
  Json changed = Json::parse(
      shared_envelope({kStep, false}, {*RecordReader(maker, files).step(kStep), "elsewhere", "t"}, nullptr));
  EXPECT_EQ(forged_of(changed), "") << "unsigned";
  changed["signatures"] = good["signatures"];
  EXPECT_NE(forged_of(changed).find("its signature names the key"), std::string::npos);
  const SigningKey foreign = SigningKey::read(testing::key_file(folder / "foreign"));
  EXPECT_EQ(forged_of(Json::parse(shared_envelope(
                {kStep, false}, {*RecordReader(maker, files).step(kStep), "h", "t"}, &foreign))),
            "")
      << "signed by a stranger";
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

}  // namespace
}  // namespace kiln
