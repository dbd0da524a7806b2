#include "factory/package/examine.h"

#include "package/packed_image.h"

namespace kiln {
namespace {

class Examine : public testing::PackedImage {
 protected:
  Contents examined() { return examine(spec(), built, store, {testing::cpus()}); }
};

TEST_F(Examine, OneReadingFindsPackagesAndCode) {
  add_library(testing::wide_code());
  spec().target.cpu = "skylake_avx512";
  Contents contents = examined();
  EXPECT_EQ(contents.evidence.verdict, "conforms");
  EXPECT_EQ(contents.evidence.target, "skylake_avx512");
  EXPECT_EQ(contents.evidence.flags, std::vector<std::string>{"gcc 14.2.0: -O2 -march=haswell"});
  EXPECT_EQ(contents.evidence.beyond_target, 0u);
  ASSERT_EQ(contents.inventory.packages.size(), 1u);
  EXPECT_EQ(contents.inventory.packages[0].name, "libc6");
  Json report = Json::parse(store.read(contents.evidence.report));
  EXPECT_EQ(report["verdict"], "conforms");
  EXPECT_NE(contents.table.find("skylake_avx512"), std::string::npos);
  EXPECT_NO_THROW(refuse_excess(contents));
}

TEST_F(Examine, CodeBeyondTheTargetIsFoundAndRefused) {
  add_library(testing::wide_code());
  Contents contents = examined();
  EXPECT_EQ(contents.evidence.verdict, "exceeds");
  EXPECT_GT(contents.evidence.beyond_target, 0u);
  ASSERT_FALSE(contents.evidence.exceeding.empty());
  for (const std::string& feature : contents.evidence.exceeding)
    EXPECT_EQ(contents.evidence.shown_by.at(feature), "/opt/libf.so") << feature;
  EXPECT_NE(contents.excess.find("code exceeds the target x86_64_v3: /opt/libf.so"), std::string::npos)
      << contents.excess;
  try {
    refuse_excess(contents);
    FAIL() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::images_failed);
    EXPECT_EQ(error.message(), contents.excess);
  }
}

// The record says which file, why and by whose word; the report keeps the finding itself.
TEST_F(Examine, AFileThatItsRecipeAcceptsDoesNotCount) {
  add_library(testing::wide_code());
  spec().components[1].accept = {{"*/libf.so", "asks the processor in its own way"}};
  const Contents contents = examined();
  EXPECT_EQ(contents.evidence.verdict, "conforms");
  EXPECT_EQ(contents.evidence.beyond_target, 0u);
  EXPECT_TRUE(contents.evidence.exceeding.empty());
  ASSERT_EQ(contents.evidence.accepted.size(), 1u);
  EXPECT_EQ(contents.evidence.accepted[0].file, "/opt/libf.so");
  EXPECT_EQ(contents.evidence.accepted[0].reason, "asks the processor in its own way");
  EXPECT_EQ(contents.evidence.accepted[0].by, "library/openblas");
  const Json report = Json::parse(store.read(contents.evidence.report));
  EXPECT_EQ(report["beyond_target"][0]["accepted_by"], "library/openblas");
  EXPECT_NE(contents.table.find("library/openblas: asks the processor"), std::string::npos) << contents.table;
}

TEST_F(Examine, ARecipeAcceptsNothingInLayersOfOthers) {
  add_library(testing::wide_code());
  spec().components[0].accept = {{"*/libf.so", "not mine"}};
  EXPECT_EQ(examined().evidence.verdict, "exceeds");
  spec().components[1].accept = {{"*/libg.so", "another file"}};
  EXPECT_EQ(examined().evidence.verdict, "exceeds");
}

TEST_F(Examine, OnlyLayersOfOptimisedComponentsPromiseSomething) {
  add_library(evidence::testing::Compiler().shared("int f(int x) { return x; }"));
  EXPECT_EQ(examined().evidence.verdict, "not optimised");
  spec().components[1].optimised = false;
  EXPECT_EQ(examined().evidence.verdict, "conforms");
}

TEST(DeclaredBy, AnImageIsJudgedByItsLabels) {
  ImageConfig config;
  config.labels = {{"io.kiln.cpu.target", "zen3"},
                   {"io.kiln.cpu.flags", "-march=znver3"},
                   {"io.kiln.claims_gain", "true"}};
  config.env = {"PATH=/bin", "LD_LIBRARY_PATH=/opt/lib"};
  evidence::Declaration declared = declared_by(config, "");
  EXPECT_EQ(declared.target, "zen3");
  EXPECT_EQ(declared.flags, std::vector<std::string>{"-march=znver3"});
  EXPECT_TRUE(declared.optimised);
  EXPECT_EQ(declared.library_path, "/opt/lib");
}

TEST(DeclaredBy, AnImageAcceptsWhatItsLabelSays) {
  ImageConfig config;
  config.labels = {{"io.kiln.accept", R"([{"by":"framework/f","file":"*/libf.so","reason":"asks"}])"}};
  const evidence::Declaration declared = declared_by(config, "broadwell");
  ASSERT_EQ(declared.accept.size(), 1u);
  EXPECT_EQ(declared.accept[0].file, "*/libf.so");
  EXPECT_EQ(declared.accept[0].by, "framework/f");
  EXPECT_FALSE(declared.accept[0].layers.has_value());
  for (const char* other : {"yes", "{}", "[{}]", "[1]", R"([{"file":"*/a","reason":"a\nb","by":"c"}])"}) {
    config.labels["io.kiln.accept"] = other;
    EXPECT_TRUE(declared_by(config, "").accept.empty()) << other;
  }
}

TEST(DeclaredBy, AnotherTargetIsAPromiseOfItsOwn) {
  ImageConfig config;
  config.labels = {{"io.kiln.cpu.target", "zen3"}, {"io.kiln.cpu.flags", "-march=znver3"}};
  evidence::Declaration declared = declared_by(config, "broadwell");
  EXPECT_EQ(declared.target, "broadwell");
  EXPECT_TRUE(declared.flags.empty());
  EXPECT_TRUE(declared.optimised);
  EXPECT_FALSE(declared_by({}, "").optimised) << "nothing is claimed";
}

TEST_F(Examine, ADamagedLayerIsRefused) {
  built.layers[0].diff_id = Digest::of("another");
  try {
    examined();
    FAIL() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::input);
  }
}

}  // namespace
}  // namespace kiln
