#include "factory/night/measuring.h"

#include <gtest/gtest.h>

namespace kiln {
namespace {

MeasuredWorkload here() {
  MeasuredWorkload place;
  place.workload = "mnist-cnn";
  place.files = "files";
  place.host.cpu = "zen3";
  place.host.model = "EPYC";
  place.host.cores = 2;
  return place;
}

// That decides: in seven rounds against the stock image of `key`.
Measurement against(const std::string& key) {
  Measurement one;
  one.workload = "mnist-cnn";
  one.host = here().host;
  one.workload_files = "files";
  one.rounds = kProvingRounds;
  one.over_stock = MeasuredGain{key, 1.2, 1.1, 1.3};
  return one;
}

MeasureCandidate candidate(std::uint32_t image, const std::string& key,
                           const std::string& group = "pytorch 2.6") {
  MeasureCandidate one;
  one.image = image;
  one.key = key;
  one.group = group;
  one.claims = true;
  return one;
}
MeasureCandidate stock(std::uint32_t image, const std::string& key,
                       const std::string& group = "pytorch 2.6") {
  MeasureCandidate one = candidate(image, key, group);
  one.claims = false;
  one.is_stock = true;
  return one;
}
MeasureCandidate with(MeasureCandidate one, Measurement measurement) {
  one.measurements.push_back(std::move(measurement));
  return one;
}

TEST(MeasureNeeds, NothingOfWhatIsDecided) {
  EXPECT_EQ(need_of(with(candidate(0, "a"), against("stock")), {"stock"}, here()), MeasureNeed::none);
  const MeasureAgenda agenda =
      measure_agenda({stock(0, "stock"), with(candidate(1, "a"), against("stock"))}, here());
  EXPECT_TRUE(agenda.sessions.empty());
  EXPECT_TRUE(agenda.no_stock.empty());
}

TEST(MeasureNeeds, AreThoseOfWhatChanged) {
  for (void (*change)(Measurement & one) : {
           +[](Measurement& one) { one.over_stock->key = "earlier stock"; },
           +[](Measurement& one) { one.over_stock.reset(); },
           +[](Measurement& one) { one.rounds = kProvingRounds - 1; },
           +[](Measurement& one) { one.workload_files = "earlier files"; },
           +[](Measurement& one) { one.workload = "mlp"; },
           +[](Measurement& one) { one.workload = "mnist-cnn+2ranks"; },
           +[](Measurement& one) { one.host.model = "Xeon"; },
           +[](Measurement& one) { one.host.cores = 4; },
       }) {
    Measurement one = against("stock");
    change(one);
    EXPECT_EQ(need_of(with(candidate(0, "a"), one), {"stock"}, here()), MeasureNeed::changed)
        << to_json(one).dump();
  }
  MeasureCandidate of_new_bits = candidate(0, "a");
  EXPECT_EQ(need_of(of_new_bits, {"stock"}, here()), MeasureNeed::missing);
  of_new_bits.was_known = true;
  EXPECT_EQ(need_of(of_new_bits, {"stock"}, here()), MeasureNeed::changed);
}

TEST(MeasureNeeds, AMetricIsOfItsWorkload) {
  Measurement one = against("stock");
  one.workload = "mnist-cnn.decode";
  EXPECT_EQ(need_of(with(candidate(0, "a"), one), {"stock"}, here()), MeasureNeed::none);
}

TEST(MeasureNeeds, WhatFellBackIsMeasuredAgain) {
  MeasureCandidate one = with(candidate(0, "a"), against("stock"));
  one.fell_back = true;
  EXPECT_EQ(need_of(one, {"stock"}, here()), MeasureNeed::fell_back);
}

TEST(MeasureAgendas, TakeTurnsWithTheirStockByNeed) {
  MeasureCandidate changed = candidate(3, "c");
  changed.was_known = true;
  MeasureCandidate fallen = candidate(4, "d", "jax 0.10");
  fallen.fell_back = true;
  const MeasureAgenda agenda = measure_agenda(
      {stock(0, "s"), stock(1, "t"), candidate(2, "b"), changed, fallen, stock(5, "u", "jax 0.10")}, here());
  ASSERT_EQ(agenda.sessions.size(), 3u);
  EXPECT_EQ(agenda.sessions[0].need, MeasureNeed::fell_back);
  EXPECT_EQ(agenda.sessions[0].images, (ImageNumbers{5, 4}));
  EXPECT_EQ(agenda.sessions[1].need, MeasureNeed::changed);
  EXPECT_EQ(agenda.sessions[1].images, (ImageNumbers{0, 1, 3}));
  EXPECT_EQ(agenda.sessions[2].need, MeasureNeed::missing);
  EXPECT_EQ(agenda.sessions[2].images, (ImageNumbers{0, 1, 2}));
}

TEST(MeasureAgendas, AreInPiecesAndEqualBitsAreOne) {
  std::vector<MeasureCandidate> candidates = {stock(0, "s")};
  for (std::uint32_t i = 1; i <= 2 * kMostInSession + 1; ++i)
    candidates.push_back(candidate(i, "key " + std::to_string(i)));
  candidates.push_back(candidate(99, "key 1"));
  const MeasureAgenda agenda = measure_agenda(candidates, here());
  ASSERT_EQ(agenda.sessions.size(), 3u);
  EXPECT_EQ(agenda.sessions[0].images.size(), kMostInSession + 1);
  EXPECT_EQ(agenda.sessions[2].images, (ImageNumbers{0, 2 * kMostInSession + 1}));
}

TEST(MeasureAgendas, NameGroupsWithoutStock) {
  MeasureCandidate neither = candidate(2, "c", "onnx 1.2");
  neither.claims = false;
  const MeasureAgenda agenda =
      measure_agenda({candidate(0, "a", "mxnet 1.9"), stock(1, "s"), neither}, here());
  EXPECT_TRUE(agenda.sessions.empty());
  EXPECT_EQ(agenda.no_stock, std::vector<std::string>{"mxnet 1.9"});
}

}  // namespace
}  // namespace kiln
