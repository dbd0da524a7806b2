// Place 3 of docs/selection.md: predicted speeds, behind measured ones.
#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>

#include "registry/select/comparable.h"
#include "select/select_samples.h"

namespace kiln {
namespace {

using testing::archspec;
using testing::host;
using testing::image;
using testing::measured;
using testing::optimised;
using testing::query;

PredictedSpeed speed(double seconds, double part = 0.1) {
  return {seconds, seconds * (1 - part), seconds * (1 + part), {"version pytorch 2.6.0: time times 0.80"}};
}

// By tag.
Predictions predicting(std::map<std::string, PredictedSpeed> speeds) {
  Predictions predictions;
  predictions.of = [speeds = std::move(speeds)](const ImageRecord& image) -> std::optional<PredictedSpeed> {
    const auto found = speeds.find(image.tag);
    return found == speeds.end() ? std::nullopt : std::optional(found->second);
  };
  predictions.workload = "mlp";
  predictions.check = "image left out: median error 4.0 % of 40 predictions";
  return predictions;
}

Selection chosen(const std::vector<IndexEntry>& entries, const Predictions& predictions,
                 const Host& here = host("haswell")) {
  return select_image(query(), entries, here, archspec(), predictions);
}
std::string winner(const Selection& selection) { return selection.winner->entry->image.tag; }

TEST(Predictions, DecideWhereIntervalsAreApart) {
  const std::vector<IndexEntry> entries = {optimised(image("a")), optimised(image("b"))};
  EXPECT_EQ(winner(chosen(entries, {})), "a") << "by name";
  EXPECT_EQ(winner(chosen(entries, predicting({{"a", speed(2)}, {"b", speed(1)}}))), "b");
  EXPECT_EQ(winner(chosen(entries, predicting({{"a", speed(1.1)}, {"b", speed(1)}}))), "a") << "they overlap";
}

TEST(Predictions, AnImageWithoutOneMayBeAsFastAsTheFastest) {
  const std::vector<IndexEntry> entries = {optimised(image("a")), optimised(image("b")),
                                           optimised(image("c"))};
  const Selection selection = chosen(entries, predicting({{"a", speed(2)}, {"c", speed(1)}}));
  EXPECT_EQ(winner(selection), "b") << "first by name of the first class";
  EXPECT_EQ(selection.others[0].entry->image.tag, "c");
  EXPECT_EQ(selection.others[1].entry->image.tag, "a");
  EXPECT_EQ(predicted_classes({std::nullopt, speed(3), speed(1), speed(1.05)}),
            (std::vector<int>{0, 1, 0, 0}));
  EXPECT_EQ(predicted_classes({}), std::vector<int>{});
}

TEST(Predictions, StandBehindWhatIsMeasured) {
  const std::vector<IndexEntry> entries = {optimised(image("a")), measured(optimised(image("b")), 900)};
  const Selection selection = chosen(entries, predicting({{"a", speed(0.001)}, {"b", speed(0.0001)}}));
  EXPECT_EQ(winner(selection), "b");
  EXPECT_FALSE(selection.winner->predicted) << "only images without a measurement are predicted";
}

TEST(Predictions, StandBeforeTheCodeForThisHost) {
  const std::vector<IndexEntry> entries = {optimised(image("own", "2.6.0", "haswell")),
                                           optimised(image("b", "2.5.0"))};
  EXPECT_EQ(winner(chosen(entries, {})), "own");
  EXPECT_EQ(winner(chosen(entries, predicting({{"own", speed(2)}, {"b", speed(1)}}))), "b");
}

TEST(Predictions, WithoutAHostThereAreNone) {
  const std::vector<IndexEntry> entries = {optimised(image("a")), optimised(image("b"))};
  const Selection selection = chosen(entries, predicting({{"a", speed(2)}, {"b", speed(1)}}), {});
  EXPECT_EQ(winner(selection), "a");
  EXPECT_FALSE(selection.winner->predicted);
}

TEST(Predictions, TheOrderOfEntriesDoesNotMatter) {
  std::vector<IndexEntry> entries;
  std::map<std::string, PredictedSpeed> speeds;
  for (int i = 0; i < 12; ++i) {
    entries.push_back(optimised(image(fmt::format("t{:02}", i))));
    if (i % 3 != 0) speeds[entries.back().image.tag] = speed(1 + 0.3 * (i * 5 % 12));
  }
  const std::string first = explain(chosen(entries, predicting(speeds)));
  std::reverse(entries.begin(), entries.end());
  EXPECT_EQ(explain(chosen(entries, predicting(speeds))), first);
}

TEST(Predictions, AreExplained) {
  const std::vector<IndexEntry> entries = {optimised(image("a")), optimised(image("b"))};
  const Selection selection = chosen(entries, predicting({{"a", speed(0.02)}, {"b", speed(0.01)}}));
  EXPECT_EQ(explain(selection),
            "pytorch:b\n"
            "  built for x86_64_v3; host haswell runs it\n"
            "  has every choice: pytorch, optimised build\n"
            "  predicted 10 ms/step, 9 to 11 (mlp): version pytorch 2.6.0: time times 0.80\n"
            "  the prediction's model, image left out: median error 4.0 % of 40 predictions\n"
            "  pytorch:a is predicted slower: 20 ms/step, 18 to 22\n"
            "also qualify, best first:\n"
            "  pytorch:a: predicted 20 ms/step, 18 to 22; predicted slower\n");
  const Json json = to_json(selection);
  EXPECT_EQ(json["selected"]["predicted"]["seconds"], 0.01);
  EXPECT_NEAR(json["others"][0]["predicted"]["high"].get<double>(), 0.022, 1e-12);
}

}  // namespace
}  // namespace kiln
