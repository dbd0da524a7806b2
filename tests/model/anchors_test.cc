#include "registry/model/anchors.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "registry/model/model_check.h"

namespace kiln::testing {
namespace {

constexpr int kNetworks = 60;

// A network's time on a host is `factor` times a power of its operations; with `bend`, hosts differ by it.
std::vector<SpeedRecord> made_up_series(const std::string& host, const std::string& version, double factor,
                                        double bend) {
  std::vector<SpeedRecord> records;
  for (int i = 0; i < kNetworks; ++i) {
    SpeedRecord record;
    record.image = "pytorch " + version;
    record.host = host;
    record.workload = fmt::format("net{:02}@224", i);
    const double operations = 1e8 * std::pow(1.1, i), bumps = 1 + 0.3 * ((i * 7) % 5);
    record.amounts = {{"operations", operations}, {"parameters", 1e6 * (1 + (i * 13) % 17)}, {"batch", 1}};
    record.words = {{"device", "cpu"},
                    {"host", host},
                    {"version", "pytorch " + version},
                    {"framework", "pytorch"},
                    {"network_family", i % 2 == 0 ? "even" : "odd"}};
    record.seconds = factor * bumps * operations / 1e9 * std::pow(operations / 1e9, bend);
    records.push_back(std::move(record));
  }
  return records;
}

std::vector<SpeedRecord> joined(std::vector<SpeedRecord> some, const std::vector<SpeedRecord>& more) {
  some.insert(some.end(), more.begin(), more.end());
  return some;
}

double worst_error(const SeriesPair& pair, const AnchoredModel& model) {
  double worst = 0;
  for (std::size_t i = 0; i < pair.there.size(); ++i)
    worst = std::max(worst, std::abs(model.predict(i).seconds / pair.there[i].seconds - 1));
  return worst;
}

SeriesPair pair_of(double factor, double bend) {
  return {made_up_series("here", "2.4", 1, 0), made_up_series("there", "2.4", factor, bend)};
}

TEST(Anchors, OneRatioIsItsMedian) {
  const SeriesPair pair = pair_of(3, 0);
  const AnchoredModel model(pair, choose_anchors(pair.known, 10));
  EXPECT_FALSE(model.predict(0).by_line);
  EXPECT_LT(worst_error(pair, model), 1e-9);
  EXPECT_NEAR(model.predict(0).elsewhere * 3, pair.there[0].seconds, 1e-9);
}

TEST(Anchors, ARatioThatGrowsWithTheNetworkIsLinear) {
  const SeriesPair pair = pair_of(3, 0.4);
  const AnchoredModel model(pair, choose_anchors(pair.known, 10));
  EXPECT_TRUE(model.predict(0).by_line);
  EXPECT_LT(worst_error(pair, model), 0.1);
  const AnchoredModel few(pair, choose_anchors(pair.known, 4));
  EXPECT_FALSE(few.predict(0).by_line);
}

TEST(Anchors, OtherBatchesAreComparedByTheSample) {
  SeriesPair pair = pair_of(3, 0);
  for (SpeedRecord& record : pair.there) {
    record.amounts["batch"] = 32;
    record.seconds *= 32;
  }
  EXPECT_LT(worst_error(pair, AnchoredModel(pair, choose_anchors(pair.known, 10))), 1e-9);
}

TEST(Anchors, AreSpreadAndAlwaysTheSame) {
  const auto known = made_up_series("here", "2.4", 1, 0);
  const auto anchors = choose_anchors(known, 10);
  EXPECT_EQ(std::set<std::size_t>(anchors.begin(), anchors.end()).size(), 10U);
  EXPECT_EQ(choose_anchors(known, 10), anchors);
  const auto [least, most] = std::minmax_element(anchors.begin(), anchors.end());
  EXPECT_LT(*least, 15U);
  EXPECT_GT(*most, 45U);
  EXPECT_EQ(choose_anchors(known, 100).size(), known.size());
}

TEST(Anchors, ASeriesIsOneImageOnOneHost) {
  const auto records = joined(joined(made_up_series("b", "2.4", 1, 0), made_up_series("a", "2.9", 2, 0)),
                              made_up_series("a", "2.4", 3, 0));
  const auto series = speed_series(records);
  ASSERT_EQ(series.size(), 3U);
  EXPECT_EQ(series[0].host + " " + series[0].image, "a pytorch 2.4");
  EXPECT_EQ(series[2].host, "b");
  // a with 2.4 shares the host with one and the version with the other; the first of both stays.
  const std::vector<SpeedSeries> others = {series[1], series[2]};
  const auto pair = nearest_series(series[0], others, 10);
  ASSERT_TRUE(pair);
  EXPECT_EQ(pair->known.front().host, "a");
  EXPECT_EQ(pair->known.size(), pair->there.size());
  EXPECT_FALSE(nearest_series(series[0], others, kNetworks + 1));
  EXPECT_FALSE(nearest_series(series[0], {}, 1));
}

TEST(ModelCheck, AnchorsPredictAHostThatIsLeftOut) {
  const auto records = joined(made_up_series("here", "2.4", 1, 0), made_up_series("there", "2.4", 3, 0.4));
  const ModelCheck check = check_with_anchors(records, LeftOut::host, 10);
  EXPECT_EQ(check.predicted, 100U);
  EXPECT_EQ(check.groups, 2U);
  EXPECT_LT(check.model, 0.05);
  EXPECT_TRUE(check.beats_both()) << text_of(check);
  EXPECT_NE(text_of(check).find("host left out, 10 anchors measured: median error "), std::string::npos);
  EXPECT_EQ(to_json(check)["anchors"], 10);
}

TEST(ModelCheck, AnchorsNeedWorkloadsInCommon) {
  EXPECT_EQ(text_of(check_with_anchors(made_up_series("here", "2.4", 1, 0), LeftOut::host, 10)),
            "host left out, 10 anchors measured: not checked, all records are of one host");
  const auto records = joined(made_up_series("here", "2.4", 1, 0), made_up_series("there", "2.4", 3, 0));
  EXPECT_EQ(text_of(check_with_anchors(records, LeftOut::host, 31)),
            "host left out, 31 anchors measured: not checked, no two hosts share 62 workloads");
}

}  // namespace
}  // namespace kiln::testing
