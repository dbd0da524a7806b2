// The model with OpenVINO's published table: docs/performance.md, "External hosts", has these figures.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iterator>
#include <sstream>
#include <utility>

#include "factory/base/median.h"
#include "factory/bench/published_tables.h"
#include "registry/model/anchors.h"
#include "registry/model/model_check.h"

namespace kiln::testing {
namespace {

std::vector<SpeedRecord> published_records(const std::string& precision) {
  std::ifstream file(std::string(KILN_TEST_DATA) + "/model/openvino/OV-benchmark-data.csv");
  std::stringstream text;
  text << file.rdbuf();
  std::vector<SpeedRecord> records =
      external_records(openvino_tables(text.str(), "OV-benchmark-data.csv", {}).tables).anchored;
  std::erase_if(records,
                [&](const SpeedRecord& record) { return record.words.at("precision") != precision; });
  return records;
}

TEST(PublishedHosts, AnchorsPredictAHostThatIsLeftOut) {
  for (const auto& [precision, most] : {std::pair("fp32", 0.021), std::pair("int8", 0.016)}) {
    const ModelCheck check = check_with_anchors(published_records(precision), LeftOut::host, 10);
    EXPECT_EQ(check.groups, 19U);
    EXPECT_EQ(check.anchors, 7U) << "15 networks";
    EXPECT_EQ(check.predicted, 19U * 8);
    EXPECT_EQ(check.no_data, 0U);
    EXPECT_LT(check.model, most) << text_of(check);
    EXPECT_TRUE(check.beats_both()) << text_of(check);
  }
}

// Of the eight networks that are no anchors.
double median_error_of(const SpeedSeries& there, const std::vector<SpeedSeries>& all) {
  std::vector<SpeedSeries> others;
  std::ranges::copy_if(all, std::back_inserter(others),
                       [&](const SpeedSeries& series) { return series.host != there.host; });
  const auto pairs = nearest_series(there, others, 2 * kFewestAnchors);
  const auto anchors = choose_anchors(pairs.front().known, 7);
  const SeriesPair& pair = best_pair(pairs, anchors);
  const AnchoredModel model(pair, anchors);
  std::vector<double> errors;
  for (std::size_t i = 0; i < pair.there.size(); ++i)
    if (std::ranges::find(anchors, i) == anchors.end())
      errors.push_back(std::abs(model.predict(i).seconds / pair.there[i].seconds - 1));
  return median_of(errors);
}

// The median of all hosts hides that one of them has no host like it: it alone has AMX.
TEST(PublishedHosts, AHostWithoutARelativeIsFarOff) {
  for (const char* precision : {"fp32", "int8"}) {
    const std::vector<SpeedSeries> all = speed_series(published_records(precision));
    ASSERT_EQ(all.size(), 19U);
    for (const SpeedSeries& there : all) {
      const double error = median_error_of(there, all);
      if (there.host == "xeon-gold-6448y")
        EXPECT_GT(error, 0.25) << precision;
      else
        EXPECT_LT(error, 0.15) << there.host << ", " << precision << ": " << error;
    }
  }
}

}  // namespace
}  // namespace kiln::testing
