#include "registry/select/gain.h"

#include "select/select_samples.h"

namespace kiln {
namespace {

Measurement speed(const std::string& key, const std::string& session, const std::string& taken) {
  Measurement measurement = testing::measurement_of(Digest::of(key), 100);
  measurement.key = key;
  measurement.session = session;
  measurement.taken = taken;
  return measurement;
}

TEST(GainOverAnother, IsOfTheLastSessionOfBoth) {
  std::vector<Measurement> a = {speed("a", "monday", "2026-11-23"), speed("a", "tuesday", "2026-11-24"),
                                speed("a", "alone", "2026-11-25")};
  std::vector<Measurement> b = {speed("b", "monday", "2026-11-23"), speed("b", "tuesday", "2026-11-24")};
  b[0].gains = {{"a", 30.6, 20, 40}};
  b[1].gains = {{"a", 2, 1.6, 2.5}};
  const auto gain = gain_over(b, a, b[1]);
  ASSERT_TRUE(gain);
  EXPECT_EQ(gain->of, &b[1]);
  EXPECT_EQ(gain->over, &a[1]);
  EXPECT_EQ(gain_text(gain->gain, "it"), "2.00 times as fast as it (1.60 to 2.50)");
  const auto back = gain_over(a, b, a[2]);
  ASSERT_TRUE(back);
  EXPECT_EQ(back->gain.key, "b");
  EXPECT_EQ(gain_text(back->gain), "0.50 times as fast (0.40 to 0.62)");
}

TEST(GainOverAnother, IsNoneOfOtherSessionsWorkloadsUnitsAndHosts) {
  const std::vector<Measurement> a = {speed("a", "monday", "2026-11-23")};
  for (void (*change)(Measurement & one) : {
           +[](Measurement& one) { one.session = "tuesday"; },
           +[](Measurement& one) { one.session = ""; },
           +[](Measurement& one) { one.workload = "resnet50"; },
           +[](Measurement& one) { one.unit = "images/s"; },
           +[](Measurement& one) { one.host.model = "another"; },
           +[](Measurement& one) { one.host.cores = 64; },
       }) {
    std::vector<Measurement> b = {speed("b", "monday", "2026-11-23")};
    b[0].gains = {{"a", 2, 1.6, 2.5}};
    EXPECT_TRUE(gain_over(b, a, a[0]));
    change(b[0]);
    EXPECT_FALSE(gain_over(b, a, a[0])) << to_json(b[0]).dump();
  }
}

// Measured in seven rounds: `low` to `high` times as fast as stock; 0: it is the stock image.
IndexEntry against_stock(IndexEntry entry, double median, double low, double high = 0) {
  entry = testing::measured(std::move(entry), median);
  Measurement& measured = entry.measurements.back();
  measured.rounds = kProvingRounds;
  if (low == 0)
    measured.stock = true;
  else
    measured.over_stock = MeasuredGain{"stock", (low + high) / 2, low, high};
  return entry;
}
IndexEntry stock() { return against_stock(testing::image("stock"), 100, 0); }
IndexEntry built(const std::string& tag) { return testing::optimised(testing::image(tag)); }

std::string winner_of(const std::vector<IndexEntry>& entries, std::optional<bool> opt_build = true) {
  const Selection selection =
      select_image(testing::query(opt_build), entries, testing::host("haswell"), testing::archspec());
  return selection.winner ? selection.winner->entry->image.tag : selection.nearest_miss;
}

TEST(OrderByGain, ProvenThenNotMeasuredThenStockThenSlower) {
  const IndexEntry proven = against_stock(built("proven"), 90, 1.05, 1.2), unmeasured = built("unmeasured"),
                   none = against_stock(built("none"), 99, 0.9, 1.1),
                   slower = against_stock(built("slower"), 120, 0.7, 0.9);
  EXPECT_EQ(winner_of({slower, none, stock(), unmeasured, proven}), "proven");
  EXPECT_EQ(winner_of({slower, none, stock(), unmeasured}), "unmeasured");
  EXPECT_EQ(winner_of({slower, stock()}), "stock");
  EXPECT_EQ(winner_of({slower}), "slower") << "nothing else has the choices";
  EXPECT_EQ(winner_of({slower, testing::image("another stock")}), "another stock");
}

TEST(OrderByGain, IsOnlyOfQuestionsForAnOptimisedBuild) {
  const IndexEntry proven = against_stock(testing::image("proven"), 200, 1.05, 1.2);
  EXPECT_EQ(winner_of({proven, stock()}, false), "stock") << "the faster";
}

// What earlier measurements left open stays as it was.
TEST(OrderByGain, FewRoundsDecideNothing) {
  IndexEntry slower = against_stock(built("slower"), 50, 0.7, 0.9);
  slower.measurements.back().rounds = kProvingRounds - 1;
  EXPECT_EQ(winner_of({slower, built("unmeasured")}), "slower") << "measured before not measured";
}

TEST(StrictGains, RefuseWhatIsNotProven) {
  ImageQuery query = testing::query();
  query.strict_gains = true;
  const auto answer = [&](const std::vector<IndexEntry>& entries) {
    const Selection selection = select_image(query, entries, testing::host("haswell"), testing::archspec());
    return selection.winner ? selection.winner->entry->image.tag : selection.nearest_miss;
  };
  const IndexEntry proven = against_stock(built("proven"), 90, 1.05, 1.2);
  IndexEntry few = proven;
  few.measurements.back().rounds = 3;
  EXPECT_EQ(answer({built("unmeasured"), stock(), proven}), "proven");
  EXPECT_EQ(answer({few}),
            "pytorch:proven: not proven faster than stock: measured in 3 rounds, and 7 are needed");
  EXPECT_EQ(answer({built("unmeasured")}),
            "pytorch:unmeasured: not proven faster than stock: not measured where it compares");
  EXPECT_EQ(answer({stock()}), "pytorch:stock: not proven faster than stock: it is the stock image");
  EXPECT_EQ(answer({testing::measured(built("alone"), 90)}),
            "pytorch:alone: not proven faster than stock: not measured in turns with its stock image");
  query.opt_build = false;
  EXPECT_EQ(answer({stock()}), "stock");
}

TEST(ExplainOfGain, SaysTheWordAndTheInterval) {
  const IndexEntry slower = against_stock(built("slower"), 120, 0.7, 0.9),
                   proven = against_stock(built("proven"), 90, 1.05, 1.2);
  const auto text = [](const std::vector<IndexEntry>& entries) {
    return explain(select_image(testing::query(), entries, testing::host("haswell"), testing::archspec()));
  };
  EXPECT_NE(
      text({slower}).find("gain over stock: slower: 0.80 times as fast as its stock image (0.70 to 0.90)"),
      std::string::npos)
      << text({slower});
  const std::string both = text({slower, proven, stock(), built("unmeasured")});
  EXPECT_NE(both.find("gain over stock: proven: 1.12 times as fast as its stock image (1.05 to 1.20)"),
            std::string::npos)
      << both;
  EXPECT_NE(both.find("pytorch:stock: 100.0 ms/step, quartiles 99.0 to 102.0; it is the stock image"),
            std::string::npos)
      << both;
  EXPECT_NE(both.find("pytorch:slower: 120.0 ms/step, quartiles 119.0 to 122.0; slower: 0.80 times as fast"),
            std::string::npos)
      << both;
  EXPECT_NE(both.find("pytorch:unmeasured: not measured where it compares"), std::string::npos) << both;
}

TEST(BuildWords, CallNothingOptimisedThatIsNot) {
  EXPECT_EQ(build_words(stock()), "stock build");
  EXPECT_EQ(build_words(testing::mapped("a")), "mapping");
  EXPECT_EQ(build_words(built("a")), "optimised build, gain not measured");
  EXPECT_EQ(build_words(against_stock(built("a"), 90, 1.05, 1.2)), "optimised build, proven");
  EXPECT_EQ(build_words(against_stock(built("a"), 100, 0.9, 1.2)), "no gain over stock");
  EXPECT_EQ(build_words(against_stock(built("a"), 120, 0.7, 0.9)), "slower than stock");
  EXPECT_EQ(build_words(against_stock(against_stock(built("a"), 90, 1.05, 1.2), 120, 0.7, 0.9)),
            "slower than stock")
      << "the last one of the same workload and host counts";
}

TEST(BuildWords, OfAnAnswerAreThoseOfTheMeasurementThatCompares) {
  const IndexEntry slower = against_stock(built("a"), 120, 0.7, 0.9),
                   none = against_stock(built("a"), 100, 0.9, 1.2),
                   proven = against_stock(built("a"), 90, 1.05, 1.2);
  EXPECT_EQ(build_word(stock(), nullptr), "stock image");
  EXPECT_EQ(build_word(built("a"), nullptr), "optimised build");
  EXPECT_EQ(build_word(proven, nullptr), "optimised build");
  EXPECT_EQ(build_word(slower, nullptr), "a build slower than stock") << "wherever it was measured";
  EXPECT_EQ(build_word(none, &none.measurements.back()), "a build without a gain over stock");
  EXPECT_EQ(build_word(proven, &slower.measurements.back()), "a build slower than stock");
  const std::string text =
      explain(select_image(testing::query(), {slower}, testing::host("haswell"), testing::archspec()));
  EXPECT_EQ(text.find("optimised build"), std::string::npos) << text;
  EXPECT_NE(text.find("has every choice: pytorch, a build slower than stock"), std::string::npos) << text;
}

}  // namespace
}  // namespace kiln
