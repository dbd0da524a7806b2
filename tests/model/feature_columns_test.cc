#include "registry/model/feature_columns.h"

#include <gtest/gtest.h>

#include "model/model_samples.h"
#include "support/input_errors.h"

namespace kiln::testing {
namespace {

std::string why_left_out(const FeatureColumns& columns, const std::string& name) {
  for (const LeftOutFeature& feature : columns.left_out())
    if (feature.name == name) return feature.why;
  return "is used";
}

TEST(FeatureColumns, NamesWhatItLeavesOut) {
  auto records = made_up_records();
  records.front().amounts["memory"] = 1e9;
  const FeatureColumns columns(records);
  EXPECT_EQ(why_left_out(columns, "parameters"), "is used");
  EXPECT_EQ(why_left_out(columns, "compilers"), "is used");
  EXPECT_EQ(why_left_out(columns, "batch"), "is the same in all records: 64");
  EXPECT_EQ(why_left_out(columns, "libraries"), "is the same in all records: none");
  EXPECT_EQ(why_left_out(columns, "memory"), "is known of 1 of 60 records");
  EXPECT_EQ(why_left_out(columns, "triad"), "is known of 0 of 60 records");
  // Twice the parameters, and one version for each framework: aliases of what is before them.
  EXPECT_EQ(why_left_out(columns, "input_bytes"), "says nothing that the features before it do not say");
  EXPECT_EQ(why_left_out(columns, "version"), "says nothing that the features before it do not say");
}

TEST(FeatureColumns, SaysWhereThereIsNoData) {
  const auto records = made_up_records();
  const FeatureColumns columns(records);
  SpeedRecord question = records.front();
  EXPECT_EQ(columns.no_data(question), "");
  question.amounts["parameters"] = 1e9;
  EXPECT_EQ(columns.no_data(question),
            "its parameters of 1e+09 is outside the measured range: 100000 to 3e+07");
  question.amounts.erase("parameters");
  EXPECT_EQ(columns.no_data(question), "its parameters is not known");
  question = records.front();
  question.amounts["batch"] = 1024;
  EXPECT_EQ(columns.no_data(question), "its batch is 1024, and all records have 64");
  question = records.front();
  question.words["framework"] = "jax";
  EXPECT_EQ(columns.no_data(question), "framework 'jax' was never measured");
  question = records.front();
  question.words["device"] = "nvidia:sm_90";
  EXPECT_EQ(columns.no_data(question), "its device is nvidia:sm_90, and all records have cpu");
}

TEST(FeatureColumns, AnUnseenWordIsAverage) {
  const auto records = made_up_records();
  const FeatureColumns columns(records);
  SpeedRecord question = records.front();
  question.words["compilers"] = "tvm";
  EXPECT_EQ(columns.no_data(question), "");
  EXPECT_EQ(columns.unseen(question), std::vector<std::string>{"compilers 'tvm'"});
  const auto values = columns.values(question);
  for (std::size_t j = 0; j < values.size(); ++j)
    if (columns.columns()[j].feature == "compilers") {
      EXPECT_EQ(values[j], 0);
    }
}

// Hundreds of families would be hundreds of coefficients.
TEST(FeatureColumns, AFamilyCountsInTheDistanceOnly) {
  auto records = made_up_records();
  EXPECT_EQ(why_left_out(FeatureColumns(records), "network_family"), "is the same in all records: none");
  const std::size_t before = FeatureColumns(records).columns().size();
  for (std::size_t i = 0; i < records.size(); ++i)
    records[i].words["network_family"] = i % 2 == 0 ? "resnet" : "vit";
  const FeatureColumns columns(records);
  EXPECT_EQ(columns.columns().size(), before);
  EXPECT_EQ(columns.kin(), std::vector<std::string>{"network_family"});
  SpeedRecord other = records[0];
  EXPECT_EQ(distance_of(columns.point(records[0]), columns.point(other)), 0);
  other.words["network_family"] = "vit";
  EXPECT_EQ(distance_of(columns.point(records[0]), columns.point(other)), 1);
  other.words["network_family"] = "mixer";  // never seen, which is no reason to say nothing
  EXPECT_EQ(distance_of(columns.point(records[0]), columns.point(other)), 1);
  EXPECT_EQ(columns.no_data(other), "");
  EXPECT_TRUE(columns.unseen(other).empty());
  other.amounts.erase("parameters");
  EXPECT_EQ(distance_of(columns.point(records[0]), columns.point(other)), 2);
}

TEST(FeatureColumns, AnExternalHostThatWasNeverSeenHasNoData) {
  auto records = made_up_records();
  for (std::size_t i = 0; i < records.size(); ++i) records[i].words["host"] = i % 2 == 0 ? "i9" : "i7";
  const FeatureColumns columns(records);
  SpeedRecord question = records.front();
  question.words.erase("host");
  EXPECT_EQ(columns.no_data(question), "host 'none' was never measured");
}

TEST(SpeedRecord, RefusesHostsThatCannotBe) {
  auto refusal = [](double triad, double sgemm) {
    HostDescription host;
    host.cpu = "zen3";
    host.cores = 2;
    host.rates = {{"triad", triad}, {"sgemm", sgemm}};
    SpeedRecord record;
    return input_error([&] { add_host(record, host); });
  };
  EXPECT_EQ(refusal(30, 100), "no error");
  EXPECT_EQ(
      refusal(30'000, 100),
      "error: the host's triad of 30000 GB/s cannot be: a core has between 0.01 and 200, and the host has 2; "
      "`kiln host --measure` measures it");
  EXPECT_NE(refusal(0, 100).find("triad of 0 GB/s cannot be"), std::string::npos);
  EXPECT_NE(refusal(30, 100'000).find("sgemm of 100000 GFLOP/s cannot be"), std::string::npos);
  EXPECT_NE(refusal(NAN, 100).find("cannot be"), std::string::npos);
}

TEST(SpeedRecord, FeaturesAreSetAsTheyAreCalled) {
  SpeedRecord record;
  set_model_feature(record, "framework", "pytorch");
  set_model_feature(record, "batch", "128");
  EXPECT_EQ(record.words["framework"], "pytorch");
  EXPECT_EQ(record.amounts["batch"], 128);
  auto refusal = [&](const char* name, const char* value) {
    return input_error([&] { set_model_feature(record, name, value); });
  };
  EXPECT_EQ(refusal("framwork", "x"),
            "error: the model has no feature 'framwork'; did you mean 'framework'?");
  for (const char* value : {"", "0", "-1", "nan", "inf", "12x"})
    EXPECT_EQ(refusal("batch", value), fmt::format("error: batch: '{}' is not a number over 0", value));
}

TEST(SpeedRecord, AWorkloadIsWhatItsRecordsAgreeOn) {
  auto records = made_up_records();
  const SpeedRecord question = workload_question(records, "net1e+06");
  EXPECT_EQ(question.amounts.at("parameters"), 1e6);
  EXPECT_FALSE(question.words.contains("framework"));
  for (SpeedRecord& record : records) record.amounts["batch"] += record.words["framework"] == "mxnet" ? 1 : 0;
  EXPECT_FALSE(workload_question(records, "net1e+06").amounts.contains("batch"));
  EXPECT_THROW(workload_question(records, "net2"), Error);
}

}  // namespace
}  // namespace kiln::testing
