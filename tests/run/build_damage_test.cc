// A build in a state folder whose files are gone or damaged.
#include <gtest/gtest.h>

#include "factory/record/image_blobs.h"
#include "support/one_image.h"

namespace kiln {
namespace {

using testing::OneImage;

TEST(BuildOfDamage, ALayoutThatIsGoneIsPackagedAgain) {
  OneImage one;
  one.make_what_is_missing();
  fs::remove_all(one.state.layout("hello", one.image.immutable_tag()));
  one.runner.respond = [&](const Command&) {
    EXPECT_FALSE(one.files.exists(one.built_file())) << "ninja would believe the record";
    one.make_what_is_missing();
    return CommandResult{};
  };
  EXPECT_EQ(one.run().images.at(0).outcome, Outcome::built);
  EXPECT_EQ(one.steps_run, (std::vector<std::size_t>{0, 1})) << "nothing was run again";
}

// Every kind of blob, cut and gone.
TEST(BuildOfDamage, ADamagedImageIsPackagedAgain) {
  OneImage one;
  one.make_what_is_missing();
  one.runner.respond = [&](const Command&) {
    one.make_what_is_missing();
    return CommandResult{};
  };
  auto record = RecordReader(one.state, one.files).image(one.image.record_name());
  BlobStore store(one.state.store());
  for (const ImageBlob& blob : blobs_of(*record, store)) {
    if (blob.what.starts_with("layer")) continue;
    for (bool cut : {true, false}) {
      if (cut)
        fs::resize_file(store.path(blob.digest), blob.size / 2);
      else
        fs::remove(store.path(blob.digest));
      EXPECT_EQ(one.run().images.at(0).outcome, Outcome::built) << blob.what;
      EXPECT_EQ(store.size_of(blob.digest), blob.size) << blob.what;
      EXPECT_EQ(one.run().images.at(0).outcome, Outcome::up_to_date) << blob.what;
    }
  }
  EXPECT_EQ(one.steps_run, (std::vector<std::size_t>{0, 1})) << "no step was run again";
}

TEST(BuildOfDamage, AStepWhoseLayerIsCutOrGoneIsRunAgainAlone) {
  for (std::size_t damaged : {0u, 1u})
    for (bool cut : {true, false}) {
      OneImage one;
      one.make_what_is_missing();
      one.steps_run.clear();
      fs::path file = BlobStore(one.state.store()).path(one.layer(damaged));
      if (cut)
        fs::resize_file(file, 3);
      else
        fs::remove(file);
      one.runner.respond = [&](const Command&) {
        one.make_what_is_missing();
        return CommandResult{};
      };
      BuildReport report = one.run();
      EXPECT_EQ(report.images.at(0).outcome, Outcome::built);
      EXPECT_EQ(report.exit_code(), ExitCode::ok);
      EXPECT_EQ(one.steps_run, std::vector<std::size_t>{damaged});
      EXPECT_EQ(one.runner.commands.size(), 1u);
      EXPECT_EQ(one.run().images.at(0).outcome, Outcome::up_to_date);
    }
}

TEST(BuildOfDamage, WhatHangsOnAStepThatMakesOtherBitsIsRunAgain) {
  OneImage one;
  one.make_what_is_missing();
  one.steps_run.clear();
  fs::remove(BlobStore(one.state.store()).path(one.layer(0)));
  one.runner.respond = [&](const Command&) {
    if (one.runner.commands.size() == 1)
      one.make_step(0, "what the archive has today");
    else
      one.make_what_is_missing();
    return CommandResult{};
  };
  EXPECT_EQ(one.run().images.at(0).outcome, Outcome::built);
  EXPECT_EQ(one.steps_run, (std::vector<std::size_t>{0, 1}));
  EXPECT_EQ(one.run().images.at(0).outcome, Outcome::up_to_date);
}

TEST(BuildOfDamage, ADamagedRecordOfAStepIsNoRecord) {
  OneImage one;
  one.make_what_is_missing();
  one.steps_run.clear();
  one.files.write(one.state.step(one.key(1)), "{\"key\": ");
  fs::remove(one.built_file());
  one.runner.respond = [&](const Command&) {
    one.make_what_is_missing();
    return CommandResult{};
  };
  EXPECT_EQ(one.run().images.at(0).outcome, Outcome::built);
  EXPECT_EQ(one.steps_run, std::vector<std::size_t>{1});
}

TEST(BuildOfDamage, DamageThatComesBackEndsTheBuild) {
  OneImage one;
  one.runner.respond = [&](const Command&) {
    one.make_step(0);
    one.make_step(1);
    fs::remove(BlobStore(one.state.store()).path(one.layer(1)));
    return CommandResult{};
  };
  EXPECT_EQ(one.run().images.at(0).outcome, Outcome::not_reached);
  EXPECT_EQ(one.runner.commands.size(), 4u);
}

}  // namespace
}  // namespace kiln
