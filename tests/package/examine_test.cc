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

TEST_F(Examine, OnlyLayersOfOptimisedComponentsPromiseSomething) {
  add_library(evidence::testing::Compiler().shared("int f(int x) { return x; }"));
  EXPECT_EQ(examined().evidence.verdict, "not optimised");
  spec().components[1].optimised = false;
  EXPECT_EQ(examined().evidence.verdict, "conforms");
}

TEST(DeclaredBy, AnImageIsJudgedByItsLabels) {
  ImageConfig config;
  config.labels = {
      {"io.kiln.cpu.target", "zen3"}, {"io.kiln.cpu.flags", "-march=znver3"}, {"io.kiln.optimised", "true"}};
  config.env = {"PATH=/bin", "LD_LIBRARY_PATH=/opt/lib"};
  evidence::Declaration declared = declared_by(config, "");
  EXPECT_EQ(declared.target, "zen3");
  EXPECT_EQ(declared.flags, std::vector<std::string>{"-march=znver3"});
  EXPECT_TRUE(declared.optimised);
  EXPECT_EQ(declared.library_path, "/opt/lib");
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
