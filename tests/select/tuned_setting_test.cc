// Which tuned setting a question may use, and what is said of it.
#include "registry/select/tuned_setting.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "select/select_samples.h"
#include "support/tuned_samples.h"

namespace kiln {
namespace {

using testing::host;
using testing::image;
using testing::query;

ImageQuery asking(const std::string& workload, std::optional<bool> autotuning = {}) {
  ImageQuery asked = query();
  asked.workload = workload;
  asked.autotuning = autotuning;
  return asked;
}

IndexEntry tuned_image() {
  IndexEntry entry = testing::optimised(image("a"));
  entry.tuned = {testing::tuned_record()};
  return entry;
}

TEST(TunedSetting, IsForDocumentsThatAskForIt) {
  const IndexEntry entry = tuned_image();
  EXPECT_TRUE(tuned_for(asking("mnist-cnn"), entry, host("haswell")).setting);
  EXPECT_TRUE(tuned_for(asking("", true), entry, host("haswell")).setting);
  for (const ImageQuery& asked :
       {asking(""), asking("mnist-cnn", false), asking("mlp"), asking("mlp", true)}) {
    const TunedChoice none = tuned_for(asked, entry, host("haswell"));
    EXPECT_FALSE(none.setting);
    EXPECT_EQ(none.unused, "");
  }
}

TEST(TunedSetting, OfAnotherKindOfHostIsNotUsed) {
  const IndexEntry entry = tuned_image();
  auto unused = [&](const Host& here) {
    const TunedChoice choice = tuned_for(asking("mnist-cnn"), entry, here);
    EXPECT_FALSE(choice.setting);
    return choice.unused;
  };
  const std::string other =
      "is tuned for mnist-cnn on Xeon A, 2 cores, which is another kind of host; that setting is not used";
  Host here = host("haswell");
  here.description.cores = 4;
  EXPECT_EQ(unused(here), other);
  EXPECT_EQ(unused(host("zen3")), other);
  EXPECT_EQ(unused(host("haswell", {}, "Xeon B")), other);
  EXPECT_EQ(unused({}),
            "is tuned for mnist-cnn on Xeon A, 2 cores, and no host is known here; that setting is not used");
}

TEST(TunedSetting, WhatIsNotKnownOfAHostDoesNotDiffer) {
  Host named;  // zen4 of an infrastructure: no model, no number of cores
  named.known = true;
  named.description.cpu = "haswell";
  EXPECT_TRUE(tuned_for(asking("mnist-cnn"), tuned_image(), named).setting);
  named.description.cpu.clear();
  EXPECT_FALSE(tuned_for(asking("mnist-cnn"), tuned_image(), named).setting);
}

TEST(TunedSetting, ForAcceleratorsTheyAreTheSame) {
  IndexEntry entry = tuned_image();
  entry.image.accelerators = {"nvidia:sm_80"};
  EXPECT_FALSE(tuned_for(asking("mnist-cnn"), entry, host("haswell", {"nvidia:sm_80"})).setting);
  entry.tuned.front().host.accelerators = {"nvidia:sm_80"};
  EXPECT_TRUE(tuned_for(asking("mnist-cnn"), entry, host("haswell", {"nvidia:sm_80"})).setting);
  EXPECT_FALSE(
      tuned_for(asking("mnist-cnn"), entry, host("haswell", {"nvidia:sm_80", "nvidia:sm_80"})).setting);
}

TEST(TunedSetting, OfSeveralWorkloadsNoneIsGuessed) {
  IndexEntry entry = tuned_image();
  entry.tuned.push_back(testing::tuned_record());
  entry.tuned.back().workload = "mlp";
  const TunedChoice choice = tuned_for(asking("", true), entry, host("haswell"));
  EXPECT_FALSE(choice.setting);
  EXPECT_EQ(choice.unused,
            "is tuned for mlp and mnist-cnn; the document names no workload, so no setting is used");
  EXPECT_EQ(tuned_for(asking("mlp", true), entry, host("haswell")).setting->workload, "mlp");
}

TEST(TunedSetting, IsExplained) {
  const std::vector<IndexEntry> entries = {tuned_image()};
  const Selection here = select_image(asking("mnist-cnn"), entries, host("haswell"), testing::archspec());
  EXPECT_NE(explain(here).find(
                "  tuned for mnist-cnn: OMP_NUM_THREADS=1: 1.20 times as fast as the default (1.10 to "
                "1.30), measured on Xeon A, 2 cores on 2026-11-24\n"),
            std::string::npos)
      << explain(here);
  const Json json = to_json(here);
  EXPECT_EQ(json["tuned"]["settings"]["OMP_NUM_THREADS"], "1");
  EXPECT_EQ(json["tuned"]["gain"]["low"], 1.1);
  const Selection there = select_image(asking("mnist-cnn"), entries, host("skylake"), testing::archspec());
  EXPECT_NE(explain(there).find("  is tuned for mnist-cnn on Xeon A, 2 cores, which is another kind of host"),
            std::string::npos);
  EXPECT_FALSE(to_json(there).contains("tuned"));
}

TEST(TunedSetting, ARetiredImageHasNone) {
  std::vector<IndexEntry> entries = {tuned_image(), testing::optimised(image("b"))};
  entries.front().retired = "wrong results";
  const Selection selection =
      select_image(asking("mnist-cnn"), entries, host("haswell"), testing::archspec());
  EXPECT_EQ(selection.winner->entry->image.tag, "b");
  EXPECT_FALSE(selection.tuned);
}

}  // namespace
}  // namespace kiln
