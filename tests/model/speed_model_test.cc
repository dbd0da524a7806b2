#include "registry/model/speed_model.h"

#include <gtest/gtest.h>

#include "model/model_samples.h"
#include "registry/model/model_check.h"
#include "support/input_errors.h"

namespace kiln::testing {
namespace {

std::string model_refusal(const std::vector<SpeedRecord>& records) {
  return input_error([&] { SpeedModel model(records); });
}

TEST(RobustFit, OneWrongMeasurementOfTwentyDoesNotBendIt) {
  std::vector<std::vector<double>> rows;
  std::vector<double> observations;
  for (int i = 0; i < 20; ++i) {
    rows.push_back({(i - 9.5) / 10});
    observations.push_back(3 + 2 * rows.back()[0] + (i % 2 == 0 ? 0.01 : -0.01));
  }
  observations[19] += 10;
  const RobustFit fit = robust_fit(rows, observations, {1e-9});
  EXPECT_NEAR(fit.mean, 3, 0.01);
  EXPECT_NEAR(fit.coefficients[0], 2, 0.01);
  EXPECT_LT(fit.errors[0], 1);
}

TEST(SpeedModel, LearnsTheLawOfItsRecords) {
  const SpeedModel model(made_up_records());
  SpeedRecord question = model.records().front();
  question.amounts["parameters"] = 2e6;  // between what was measured
  const double expected = 1e-6 * std::pow(2000, 0.8) / std::sqrt(2);
  EXPECT_NEAR(model.predict(question).seconds / expected, 1, 0.02);
  const auto lines = model.lines();
  EXPECT_NE(std::find_if(lines.begin(), lines.end(),
                         [](const std::string& line) {
                           return line.starts_with("twice the parameters: time times 1.74");
                         }),
            lines.end());
}

TEST(SpeedModel, NamesWhatMadeAPrediction) {
  const SpeedModel model(made_up_records());
  const SpeedPrediction prediction = model.predict(model.records().front());
  ASSERT_FALSE(prediction.reasons.empty());
  EXPECT_EQ(prediction.reasons.front().substr(0, 23), "parameters: time times ");
  SpeedRecord far = model.records().front();
  far.amounts["parameters"] = 1e12;
  EXPECT_NE(model.predict(far).no_data, "");
  EXPECT_EQ(model.predict(far).seconds, 0);
}

TEST(SpeedModel, HasNoIntervalBeforeItWasChecked) {
  SpeedModel model(made_up_records());
  EXPECT_FALSE(model.predict(model.records().front()).has_interval);
  model.set_errors({0.1, -0.2});
  const SpeedPrediction checked = model.predict(model.records().front());
  EXPECT_TRUE(checked.has_interval);
  EXPECT_LT(checked.low, checked.high);
}

TEST(SpeedModel, RefusesRecordsThatTeachNothing) {
  auto records = made_up_records();
  records.resize(3);
  EXPECT_EQ(model_refusal(records),
            "error: 3 measured images are too few for a model: at least 8 are needed; `kiln bench` measures "
            "images");
  EXPECT_EQ(model_refusal({}).substr(0, 24), "error: 0 measured images");
  records = made_up_records();
  for (SpeedRecord& record : records) record.seconds = 0.5;
  EXPECT_EQ(model_refusal(records),
            "error: all 60 records have the same time of 0.5 s: there is nothing to learn");
  records = std::vector<SpeedRecord>(9, made_up_records().front());
  EXPECT_EQ(model_refusal(records).substr(0, 37), "error: all 9 records have the same ti");
  records.front().seconds *= 2;
  EXPECT_EQ(model_refusal(records), "error: no feature varies in these 9 records: there is nothing to learn");
  records.front().seconds = NAN;
  EXPECT_EQ(model_refusal(records), "error: pytorch+ has a time of nan s");
}

TEST(ModelCheck, BeatsBothGuessesWhereThereIsALaw) {
  const auto checked = checked_model(made_up_records(0.03));
  const ModelCheck& workload = checked.checks[1];
  EXPECT_EQ(workload.groups, 6U);
  EXPECT_EQ(workload.no_data, 20U);  // the smallest and the largest are outside what is left
  EXPECT_LT(workload.model, 0.05);
  EXPECT_TRUE(workload.beats_both()) << text_of(workload);
  const ModelCheck& host = checked.checks[2];
  EXPECT_EQ(host.skipped, "without a host, what is left has no data for it");
}

// The same network with another input size would give the answer away.
TEST(ModelCheck, ANetworkIsLeftOutWithAllItsInputSizes) {
  auto records = made_up_records(0.03);
  const std::size_t workloads = check_model(records, LeftOut::workload).groups;
  for (SpeedRecord& record : records)
    record.workload += record.words["framework"] == "mxnet" ? "@96" : "@224";
  EXPECT_EQ(check_model(records, LeftOut::workload).groups, workloads);
}

TEST(ModelCheck, IntervalsHoldWhatTheyPromise) {
  const auto checked = checked_model(made_up_records(0.03));
  int within = 0;
  for (const SpeedRecord& record : checked.model.records()) {
    const SpeedPrediction prediction = checked.model.predict(record);
    EXPECT_LT(prediction.low, prediction.high);
    if (prediction.low <= record.seconds && record.seconds <= prediction.high) ++within;
  }
  EXPECT_GE(within, 54);
}

// Times without any law: a model that seems to know them is not used.
TEST(ModelCheck, IsNotUsedWhereThereIsNoLaw) {
  auto records = made_up_records();
  for (std::size_t i = 0; i < records.size(); ++i)
    records[i].seconds = 1 + static_cast<double>((i * 2654435761U) % 97);
  int used = 0;
  for (const ModelCheck& check : checked_model(records).checks)
    used += check.beats_both() && check.model < 0.2 ? 1 : 0;
  EXPECT_EQ(used, 0);
}

TEST(ModelCheck, OneGroupCannotBeLeftOut) {
  auto records = made_up_records();
  for (SpeedRecord& record : records) record.host = "here";
  EXPECT_EQ(text_of(check_model(records, LeftOut::host)),
            "host left out: not checked, all records are of one host");
}

}  // namespace
}  // namespace kiln::testing
