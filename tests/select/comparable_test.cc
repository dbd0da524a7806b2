#include "registry/select/comparable.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace kiln {
namespace {

// docs/selection.md, word for word: the fastest and all that overlap with it are equal; the fastest of the
// rest begins the next class.
std::vector<int> by_the_text(const std::vector<Quartiles>& fastest_first) {
  std::vector<int> classes(fastest_first.size(), -1);
  for (int next = 0;; ++next) {
    const auto fastest = std::find(classes.begin(), classes.end(), -1);
    if (fastest == classes.end()) return classes;
    const Quartiles& one = fastest_first[static_cast<std::size_t>(fastest - classes.begin())];
    *fastest = next;
    for (std::size_t i = 0; i < classes.size(); ++i)
      if (classes[i] == -1 && one.low <= fastest_first[i].high && fastest_first[i].low <= one.high)
        classes[i] = next;
  }
}

TEST(SpeedClasses, AreThoseOfTheText) {
  EXPECT_EQ(speed_classes({}), std::vector<int>{});
  EXPECT_EQ(speed_classes({{1, 2}}), std::vector<int>{0});
  EXPECT_EQ(speed_classes({{1, 2}, {2, 3}, {3, 4}}), (std::vector<int>{0, 0, 1}))
      << "ends included, no chains";
  EXPECT_EQ(speed_classes({{3, 1}, {3, 1}}), (std::vector<int>{0, 1}))
      << "what cannot be overlaps with nothing";
  std::mt19937 random(7);
  for (int round = 0; round < 2000; ++round) {
    const int values = round % 2 == 0 ? 12 : 60;
    std::vector<Quartiles> all(random() % 40);
    for (Quartiles& one : all) {
      one.low = static_cast<double>(random() % static_cast<unsigned>(values));
      one.high = one.low + static_cast<double>(random() % 6) - (random() % 30 == 0 ? 4 : 0);
    }
    ASSERT_EQ(speed_classes(all), by_the_text(all)) << "round " << round;
  }
}

// None overlaps with another: each is a class of its own. Each with each would be 500 thousand million
// comparisons, which no test has the time for.
TEST(SpeedClasses, ManyImagesTakeNoTime) {
  std::vector<Quartiles> all;
  for (int i = 0; i < 1'000'000; ++i) all.push_back({10.0 * i, 10.0 * i + 1});
  EXPECT_EQ(speed_classes(all).back(), 999'999);
}

}  // namespace
}  // namespace kiln
