#include <nlohmann/json.hpp>

#include "registry/select/gain.h"
#include "select/select_samples.h"

namespace kiln {
namespace {

IndexEntry claiming(const std::string& tag) { return testing::optimised(testing::image(tag)); }

// Adds a measurement in seven rounds: `low` to `high` times as fast as stock.
void measure(IndexEntry& entry, const std::string& workload, double low, double high,
             const std::string& model = "Xeon A") {
  entry = testing::measured(std::move(entry), 90, model, "haswell", workload);
  entry.measurements.back().rounds = kProvingRounds;
  entry.measurements.back().over_stock = MeasuredGain{"stock key", (low + high) / 2, low, high};
}

// "mnist-cnn on Xeon A: proven", in their order.
std::vector<std::string> words_of(const IndexEntry& entry, const std::vector<IndexEntry>& all) {
  std::vector<std::string> texts;
  for (const StockWord& word : stock_words(entry.image, entry.measurements, measured_setups(all)))
    texts.push_back(word.setup.workload + " on " + word.setup.host.model + ": " +
                    std::string(stock_gain_word(word.gain)));
  return texts;
}

using Strings = std::vector<std::string>;

TEST(StockWords, AreOfEachWorkloadAndKindOfHostOfTheApplication) {
  IndexEntry one = claiming("one"), other = claiming("other");
  measure(one, "mlp", 0.7, 0.9);
  measure(one, "mnist-cnn", 1.1, 1.3);
  measure(other, "mnist-cnn", 0.9, 1.1, "EPYC B");
  const std::vector<IndexEntry> all = {one, other};
  EXPECT_EQ(words_of(one, all), (Strings{"mlp on Xeon A: slower", "mnist-cnn on EPYC B: not measured",
                                         "mnist-cnn on Xeon A: proven"}));
  EXPECT_EQ(words_of(other, all), (Strings{"mlp on Xeon A: not measured", "mnist-cnn on EPYC B: no gain",
                                           "mnist-cnn on Xeon A: not measured"}));
}

TEST(StockWords, AreOfTheLastMeasurement) {
  IndexEntry one = claiming("one");
  measure(one, "mnist-cnn", 1.1, 1.3);
  measure(one, "mnist-cnn", 0.9, 1.1);
  EXPECT_EQ(words_of(one, {one}), Strings{"mnist-cnn on Xeon A: no gain"});
  one.measurements.back().rounds = kProvingRounds - 1;
  EXPECT_EQ(words_of(one, {one}), Strings{"mnist-cnn on Xeon A: not measured"});
}

TEST(StockWords, AreNoneOfStockMappingsAndOtherApplications) {
  IndexEntry one = claiming("one");
  measure(one, "mnist-cnn", 1.1, 1.3);
  EXPECT_EQ(words_of(testing::image("stock"), {one}), Strings());
  EXPECT_EQ(words_of(testing::optimised(testing::mapped("a")), {one}), Strings());
  IndexEntry other = claiming("other");
  other.image.application = "jax";
  EXPECT_EQ(words_of(other, {one, other}), Strings());
  other.image.application = "PyTorch";
  EXPECT_EQ(words_of(other, {one, other}), Strings{"mnist-cnn on Xeon A: not measured"});
}

TEST(StockWords, AreADocument) {
  IndexEntry one = claiming("one");
  measure(one, "mnist-cnn", 1.1, 1.3);
  measure(one, "mlp", 0.7, 0.9, "EPYC B");
  const Digest stock = Digest::of("stock");
  const auto words = stock_words(one.image, one.measurements, measured_setups({one}));
  const Json document = Json::parse(gain_document(one.image, words, {{"stock key", stock}}));
  EXPECT_EQ(document.at("image"), one.image.manifest.text());
  EXPECT_EQ(document.at("word"), "proven");
  ASSERT_EQ(document.at("words").size(), 2u);
  const Json& last = document.at("words").at(1);
  EXPECT_EQ(last.at("workload"), "mnist-cnn");
  EXPECT_EQ(last.at("word"), "proven");
  EXPECT_EQ(last.at("low"), 1.1);
  EXPECT_EQ(last.at("high"), 1.3);
  EXPECT_EQ(last.at("rounds"), kProvingRounds);
  EXPECT_EQ(last.at("host").at("model"), "Xeon A");
  EXPECT_EQ(last.at("stock"), (Json{{"key", "stock key"}, {"manifest", stock.text()}}));
  const Json unknown = Json::parse(gain_document(one.image, words, {}));
  EXPECT_EQ(unknown.at("words").at(0).at("stock"), (Json{{"key", "stock key"}}));
}

TEST(StockWords, OfAnImageThatWasNotMeasuredHaveNoFigures) {
  IndexEntry one = claiming("one");
  measure(one, "mnist-cnn", 1.1, 1.3);
  const IndexEntry other = claiming("other");
  const auto words = stock_words(other.image, other.measurements, measured_setups({one}));
  const Json document = Json::parse(gain_document(other.image, words, {}));
  EXPECT_EQ(document.at("word"), "not measured");
  EXPECT_EQ(document.at("words").at(0).at("word"), "not measured");
  EXPECT_FALSE(document.at("words").at(0).contains("low"));
}

}  // namespace
}  // namespace kiln
