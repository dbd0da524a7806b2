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
  const auto pairs = nearest_series(series[0], others, 10);
  ASSERT_EQ(pairs.size(), 2U);
  EXPECT_EQ(pairs.front().known.front().host, "a");
  EXPECT_EQ(pairs.front().known.size(), pairs.front().there.size());
  EXPECT_TRUE(nearest_series(series[0], others, kNetworks + 1).empty());
  EXPECT_TRUE(nearest_series(series[0], {}, 1).empty());
}

// Hosts of one precision and version share as many words with a new host: its anchors show which is like it.
TEST(Anchors, OfEqualSeriesThatWhoseRatioIsTheSameEverywhere) {
  std::vector<SpeedRecord> records;
  for (const auto& [host, bend] : {std::pair("first", 0.4), std::pair("like", 0.1), std::pair("new", 0.1)})
    records = joined(std::move(records), made_up_series(host, "2.4", 2, bend));
  const auto series = speed_series(records);
  const auto pairs = nearest_series(series[2], std::span(series).first(2), 10);
  ASSERT_EQ(pairs.size(), 2U);
  EXPECT_EQ(pairs.front().known.front().host, "first");
  const auto anchors = choose_anchors(pairs.front().known, 10);
  EXPECT_EQ(best_pair(pairs, anchors).known.front().host, "like");
  const std::vector<SeriesPair> one = {pairs.front()};
  EXPECT_EQ(&best_pair(one, anchors), &one.front());
  const ModelCheck check = check_with_anchors(records, LeftOut::host, 10);
  EXPECT_EQ(check.groups, 3U);
  EXPECT_LT(check.model, 0.03);
}

// Anchors are places in all pairs, so all pairs have the same workloads.
TEST(Anchors, SeriesWithOtherWorkloadsAreNoEquals) {
  std::vector<SpeedRecord> other = made_up_series("other", "2.4", 1, 0),
                           there = made_up_series("there", "2.4", 1, 0),
                           first = made_up_series("first", "2.4", 1, 0);
  first.resize(40);
  other.erase(other.begin(), other.begin() + 20);
  const auto series = speed_series(joined(joined(first, other), there));
  ASSERT_EQ(series.size(), 3U);
  const auto pairs = nearest_series(series[2], std::span(series).first(2), 10);
  ASSERT_EQ(pairs.size(), 1U);
  EXPECT_EQ(pairs.front().known.front().host, "first");
}

// Published tables without operations: only the time of each network elsewhere is known.
TEST(Anchors, NeedNoAmounts) {
  SeriesPair pair = pair_of(3, 0.4);
  for (auto* records : {&pair.known, &pair.there})
    for (SpeedRecord& record : *records) record.amounts.clear();
  const AnchoredModel model(pair, choose_anchors(pair.known, 10));
  EXPECT_TRUE(model.predict(0).by_line) << "of the time";
  EXPECT_LT(worst_error(pair, model), 0.3);
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
  std::vector<SpeedRecord> few = made_up_series("there", "2.4", 3, 0);
  few.resize(9);
  const auto records = joined(made_up_series("here", "2.4", 1, 0), few);
  EXPECT_EQ(text_of(check_with_anchors(records, LeftOut::host, 31)),
            "host left out, 31 anchors measured: not checked, no two hosts share 10 workloads");
}

// As many networks are predicted as are anchors, or more.
TEST(ModelCheck, OfFewWorkloadsHalfAreAnchors) {
  std::vector<SpeedRecord> few = made_up_series("there", "2.4", 3, 0);
  few.resize(15);
  auto records = joined(made_up_series("here", "2.4", 1, 0), few);
  const ModelCheck check = check_with_anchors(records, LeftOut::host, 10);
  EXPECT_EQ(check.anchors, 7U);
  EXPECT_EQ(check.predicted, 2 * 8U);
  EXPECT_EQ(text_of(check).substr(0, 35), "host left out, 7 anchors measured: ");
  EXPECT_FALSE(to_json(check).contains("fewest_anchors"));
  // Of a series that shares enough with another one, nothing changes.
  records = joined(records, made_up_series("third", "2.4", 2, 0.1));
  const ModelCheck both = check_with_anchors(records, LeftOut::host, 10);
  EXPECT_EQ(both.predicted, 50 + 50 + 8U);
  EXPECT_EQ(text_of(both).substr(0, 41), "host left out, 7 to 10 anchors measured: ");
  EXPECT_EQ(to_json(both)["anchors"], 10);
  EXPECT_EQ(to_json(both)["fewest_anchors"], 7);
}

}  // namespace
}  // namespace kiln::testing
