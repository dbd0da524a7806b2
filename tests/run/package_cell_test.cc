#include "factory/run/package_cell.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "factory/oci/layout.h"
#include "factory/state/record_store.h"
#include "factory/state/state_names.h"
#include "support/fake_effects.h"
#include "support/tar_bytes.h"
#include "support/temporary_folder.h"

namespace kiln {
namespace {

class PackageCell : public ::testing::Test {
 protected:
  PackageCell() {
    Step step;
    step.key = std::string(64, 'a');
    step.component = "base/debian";
    step.inputs = "{}";
    image.repository = "debian";
    image.tag = "13-rootfs";
    image.immutable_tag = "13-rootfs-0123456789ab";
    image.key = std::string(64, 'c');
    image.request.id = "cell";
    image.target.cpu = "x86_64";
    image.components = {{Kind::base, "debian", Version("13"), "rootfs"}};
    image.stages = {{"image", {step}}};
    StepRecord record;
    record.key = step.key;
    std::string tar = testing::short_tar({"d etc/", "f etc/os-release=ID=debian\n"});
    record.chain.layers = {
        {store.put(tar, std::string(media_type::kLayerTar)), Digest::of(tar), step.key, "base"}};
    layer = record.chain.layers[0].blob.digest;
    RecordWriter(state, files).write(record);
  }

  std::optional<FailureRecord> run() {
    return package_cell({image, "demo", site, state, files, clock, cpus, environment, "0.1", "0.2.7"});
  }
  const ImageSpec& spec() const { return image; }
  std::optional<ImageRecord> kept() { return RecordReader(state, files).image(record_name(spec())); }

  testing::TemporaryFolder folder;
  StatePaths state{folder / "state"};
  BlobStore store{state.store()};
  RealFileSystem files;
  testing::FakeClock clock;
  Microarchitectures cpus =
      Microarchitectures::parse(files.read(KILN_ARCHSPEC_JSON).value_or(""), KILN_ARCHSPEC_JSON);
  std::map<std::string, std::string> environment;
  ImageSpec image;
  Site site;
  Digest layer;
};

TEST_F(PackageCell, TheImageIsBuiltAfterwards) {
  EXPECT_FALSE(StateNames(state, files).is_built(spec()));
  EXPECT_FALSE(run());
  EXPECT_TRUE(StateNames(state, files).is_built(spec()));
  ImageRecord record = kept().value();
  EXPECT_EQ(record.layout, "images/debian/13-rootfs-0123456789ab");
  EXPECT_EQ(record.created, "1980-01-01T00:00:00Z");
  EXPECT_NE(record.attachment("spdx"), nullptr);
  EXPECT_NE(record.attachment("sif"), nullptr);
  EXPECT_EQ(read_layout(state.root() / record.layout, files).manifest.layers.at(0).digest, layer);
  EXPECT_FALSE(files.read(state.log(spec().key)).value().empty()) << "the evidence";
  EXPECT_EQ(files.list(state.temporary()), std::vector<std::string>{".lock"});
}

TEST_F(PackageCell, TheTimeIsTheEnvironments) {
  environment["SOURCE_DATE_EPOCH"] = "86400";
  EXPECT_FALSE(run());
  EXPECT_EQ(kept().value().created, "1970-01-02T00:00:00Z");
}

TEST_F(PackageCell, TheSifIsRemembered) {
  EXPECT_FALSE(run());
  ASSERT_EQ(files.list(state.root() / "conversions").size(), 1u);
  Digest sif = kept().value().attachment("sif")->blob.digest;
  std::string record = (state.root() / "conversions" / files.list(state.root() / "conversions")[0]).string();
  // A conversion of another file, whole: taken as it is.
  Descriptor other = store.put("another", "sif");
  files.write(record, to_json(other).dump());
  EXPECT_FALSE(run());
  EXPECT_EQ(kept().value().attachment("sif")->blob.digest, other.digest);
  files.write(record, "{");  // damaged: made anew
  EXPECT_FALSE(run());
  EXPECT_EQ(kept().value().attachment("sif")->blob.digest, sif);
}

TEST_F(PackageCell, AFailureIsKeptAndNothingElse) {
  EXPECT_FALSE(run());
  fs::remove(store.path(layer));
  auto failure = run();
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->key, spec().key);
  EXPECT_EQ(failure->log, state.log(spec().key));
  EXPECT_EQ(RecordReader(state, files).failure(spec().key)->what, failure->what);
  EXPECT_FALSE(failure->what.empty());
}

TEST_F(PackageCell, AFailureWithoutALogWritesOne) {
  fs::remove(store.path(layer));
  auto failure = run();
  ASSERT_TRUE(failure);
  EXPECT_NE(files.read(failure->log).value().find(failure->what), std::string::npos);
  EXPECT_FALSE(kept());
}

TEST_F(PackageCell, ABadTimeIsAFailureOfTheImage) {
  environment["SOURCE_DATE_EPOCH"] = "yesterday";
  auto failure = run();
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->exit_code, ExitCode::usage);
  EXPECT_EQ(failure->failure, FailureClass::input);
}

TEST_F(PackageCell, WithoutItsLastStepThereIsNothingToPackage) {
  files.remove_all(state.step(spec().last_step().key));
  try {
    run();
    FAIL() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::store);
    EXPECT_NE(error.message().find("has no record"), std::string::npos);
  }
}

}  // namespace
}  // namespace kiln
