#include "factory/figures/line_chart.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace kiln::testing {
namespace {

std::size_t count_in(const std::string& text, const std::string& word) {
  std::size_t count = 0;
  for (std::size_t at = text.find(word); at != text.npos; at = text.find(word, at + 1)) ++count;
  return count;
}

TEST(LineChart, DrawsEachPointInside) {
  const LineChart chart{"A < B",
                        {"one & two"},
                        "ranks",
                        {{"seconds", true, {{"a", {{1, 100}, {2, 10}, {4, 1}}}, {"b", {{4, 5}}}}}}};
  const std::string svg = line_chart_svg(chart);
  EXPECT_EQ(count_in(svg, "<circle"), 4U);
  EXPECT_NE(svg.find("A &lt; B"), std::string::npos);
  EXPECT_NE(svg.find("one &amp; two"), std::string::npos);
  EXPECT_EQ(svg.find("nan"), std::string::npos);
  EXPECT_EQ(svg, line_chart_svg(chart));
  // 1 is left and low on a logarithmic panel whose values are 1 to 100
  EXPECT_NE(svg.find("<path d=\"M76.0 "), std::string::npos);
}

TEST(LineChart, NothingAndOnePointAreDrawnToo) {
  for (const LineChart& chart :
       {LineChart{"t", {}, "ranks", {}}, LineChart{"t", {}, "ranks", {{"s", true, {}}}},
        LineChart{"t", {}, "ranks", {{"s", false, {{"a", {{1, 0}}}}}}},
        LineChart{"t", {}, "ranks", {{"s", true, {{"a", {{8, 10}}}}}}}}) {
    const std::string svg = line_chart_svg(chart);
    EXPECT_EQ(svg.find("nan"), std::string::npos) << svg;
    EXPECT_EQ(svg.find("inf"), std::string::npos) << svg;
  }
}

TEST(ScalingPicture, HasThreePanelsAndLeavesOutWhatDoesNotFit) {
  const Network network = network_named("vgg16");
  TrainingTerms terms;
  terms.samples = network.samples;
  terms.batch = 512;  // more than the memory of 16 GB
  const std::vector<std::int64_t> ranks = {1, 2, 4};
  const std::vector<Parallelism> kinds = {Parallelism::data};
  const auto outlooks = parallel_outlooks(network, terms, ranks, kinds, 0.5);
  const std::string svg = scaling_picture(network, terms, outlooks);
  EXPECT_EQ(count_in(svg, "class=\"group\""), 3U);
  EXPECT_EQ(count_in(svg, "<circle"), 3U);  // of the memory alone
}

}  // namespace
}  // namespace kiln::testing
