#include "registry/select/speed_classes.h"

#include <algorithm>
#include <limits>
#include <numeric>

namespace kiln {
namespace {

// Those without a class yet, by where they begin, under a tree of where they end: all that overlap with one
// are found without a look at the others.
class Unclassed {
 public:
  explicit Unclassed(const std::vector<Quartiles>& all) : all_(all), order_(all.size()), place_(all.size()) {
    std::iota(order_.begin(), order_.end(), std::size_t{0});
    std::sort(order_.begin(), order_.end(),
              [&](std::size_t a, std::size_t b) { return all[a].low < all[b].low; });
    while (leaves_ < all.size()) leaves_ *= 2;
    ends_.assign(2 * leaves_, kGone);
    for (std::size_t i = 0; i < order_.size(); ++i) {
      place_[order_[i]] = i;
      ends_[leaves_ + i] = all[order_[i]].high;
    }
    for (std::size_t node = leaves_; node-- > 1;) ends_[node] = latest_below(node);
  }

  bool has(std::size_t number) const { return ends_[leaves_ + place_[number]] > kGone; }

  void take(std::size_t number) {
    std::size_t node = leaves_ + place_[number];
    ends_[node] = kGone;
    while (node /= 2) ends_[node] = latest_below(node);
  }

  std::vector<std::size_t> overlapping(const Quartiles& with) const {
    const auto end =
        std::upper_bound(order_.begin(), order_.end(), with.high,
                         [&](double high, std::size_t number) { return high < all_[number].low; });
    std::vector<std::size_t> found;
    collect(1, 0, leaves_, static_cast<std::size_t>(end - order_.begin()), with.low, found);
    return found;
  }

 private:
  static constexpr double kGone = -std::numeric_limits<double>::infinity();

  double latest_below(std::size_t node) const { return std::max(ends_[2 * node], ends_[2 * node + 1]); }

  // Of the leaves [first, first + width) below `node` those before `end` that end at `low` or later.
  void collect(std::size_t node, std::size_t first, std::size_t width, std::size_t end, double low,
               std::vector<std::size_t>& found) const {
    if (first >= end || ends_[node] < low || ends_[node] == kGone) return;
    if (width == 1) return found.push_back(order_[first]);
    collect(2 * node, first, width / 2, end, low, found);
    collect(2 * node + 1, first + width / 2, width / 2, end, low, found);
  }

  const std::vector<Quartiles>& all_;
  std::vector<std::size_t> order_;  // numbers by `low`
  std::vector<std::size_t> place_;  // of a number in `order_`
  std::size_t leaves_ = 1;
  std::vector<double> ends_;  // node i has children 2i and 2i+1; the latest `high` below it
};

}  // namespace

std::vector<int> speed_classes(const std::vector<Quartiles>& fastest_first) {
  std::vector<int> classes(fastest_first.size());
  Unclassed rest(fastest_first);
  int next = 0;
  for (std::size_t fastest = 0; fastest < fastest_first.size(); ++fastest) {
    if (!rest.has(fastest)) continue;
    rest.take(fastest);  // of its own class, whatever its quartiles are
    classes[fastest] = next;
    for (std::size_t number : rest.overlapping(fastest_first[fastest])) {
      classes[number] = next;
      rest.take(number);
    }
    ++next;
  }
  return classes;
}

}  // namespace kiln
