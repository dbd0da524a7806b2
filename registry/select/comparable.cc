#include "registry/select/comparable.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <limits>
#include <numeric>
#include <set>
#include <tuple>

namespace kiln {
namespace {

using Workload = std::pair<std::string, std::string>;            // name, unit
using MeasuredHost = std::tuple<std::string, std::string, int>;  // model, microarchitecture, cores

// One that compares.
struct Comparable {
  const IndexEntry* entry;
  const Measurement* measured;
  int distance;  // 0 is the same model with as many cores

  Workload workload() const { return {measured->workload, measured->unit}; }
  MeasuredHost host() const { return {measured->host.model, measured->host.cpu, measured->host.cores}; }
};

std::optional<int> distance(const HostDescription& measured, const HostDescription& here) {
  if (!here.model.empty() && measured.model == here.model) return measured.cores == here.cores ? 0 : 1;
  return !here.cpu.empty() && measured.cpu == here.cpu ? std::optional(2) : std::nullopt;
}

// In one order: two of a kind are not one.
std::vector<std::string> sorted_accelerators(const HostDescription& host) {
  std::vector<std::string> sorted = host.accelerators;
  std::ranges::sort(sorted);
  return sorted;
}

std::vector<Comparable> comparable(const std::vector<const IndexEntry*>& entries, const std::string& workload,
                                   const HostDescription& here) {
  std::vector<Comparable> all;
  for (const IndexEntry* entry : entries) {
    for (const Measurement& measured : entry->measurements) {
      if (!workload.empty() && measured.workload != workload) continue;
      if (direction_of(measured.unit) == Direction::unknown) continue;
      auto near = distance(measured.host, here);
      if (!near) continue;
      if (!entry->image.accelerators.empty() &&
          sorted_accelerators(measured.host) != sorted_accelerators(here))
        continue;
      all.push_back({entry, &measured, *near});
    }
  }
  return all;
}

// The one that most images were measured with; of equals the first by name.
Workload choose_workload(const std::vector<Comparable>& all) {
  std::map<Workload, std::set<const IndexEntry*>> images;
  for (const Comparable& one : all) images[one.workload()].insert(one.entry);
  return std::ranges::max_element(images, {}, [](const auto& one) { return one.second.size(); })->first;
}

// The nearest, then the one with most images, then the first by name.
MeasuredHost choose_host(const std::vector<Comparable>& all) {
  std::map<MeasuredHost, std::pair<int, std::set<const IndexEntry*>>> hosts;
  for (const Comparable& one : all) {
    auto [found, is_new] = hosts.try_emplace(one.host(), one.distance, std::set<const IndexEntry*>{});
    found->second.second.insert(one.entry);
  }
  return std::ranges::min_element(hosts,
                                  [](const auto& a, const auto& b) {
                                    return std::pair(a.second.first, b.second.second.size()) <
                                           std::pair(b.second.first, a.second.second.size());
                                  })
      ->first;
}

// The version of the workload with most images; of equals the one that was measured last, then the first by
// name.
std::string choose_version(const std::vector<Comparable>& all) {
  struct Version {
    std::set<const IndexEntry*> images;
    std::string last;
  };
  std::map<std::string, Version> versions;
  for (const Comparable& one : all) {
    Version& version = versions[one.measured->workload_files];
    version.images.insert(one.entry);
    version.last = std::max(version.last, one.measured->taken);
  }
  return std::ranges::max_element(versions,
                                  [](const auto& a, const auto& b) {
                                    return std::pair(a.second.images.size(), a.second.last) <
                                           std::pair(b.second.images.size(), b.second.last);
                                  })
      ->first;
}

bool faster(const Measurement& a, const Measurement& b) {
  return direction_of(a.unit) == Direction::less ? a.median < b.median : a.median > b.median;
}

// The faster; of equals the one whose quartiles begin, then end, lower: any rule, so long as it is one.
bool before(const Measurement& a, const Measurement& b) {
  if (a.median != b.median) return faster(a, b);
  return std::pair(a.low, a.high) < std::pair(b.low, b.high);
}

void classify(std::map<const IndexEntry*, Speed>& speeds) {
  std::vector<Speed*> order;
  for (auto& [entry, speed] : speeds) order.push_back(&speed);
  std::ranges::stable_sort(order,
                           [](const Speed* a, const Speed* b) { return before(*a->measured, *b->measured); });
  std::vector<Quartiles> fastest_first;
  fastest_first.reserve(order.size());
  for (const Speed* speed : order) fastest_first.push_back({speed->measured->low, speed->measured->high});
  const std::vector<int> classes = speed_classes(fastest_first);
  for (std::size_t i = 0; i < order.size(); ++i) order[i]->speed_class = classes[i];
}

}  // namespace

Direction direction_of(std::string_view unit) {
  const std::string_view first = unit.substr(0, unit.find('/'));
  for (std::string_view time : {"ns", "us", "µs", "ms", "s", "min", "h"})
    if (first == time) return Direction::less;
  for (std::string_view rate : {"/s", "/min", "/h"})
    if (unit.ends_with(rate)) return Direction::more;
  return Direction::unknown;
}

bool is_comparable(const IndexEntry& entry, const HostDescription& here) {
  return !comparable({&entry}, "", here).empty();
}

std::map<const IndexEntry*, Speed> comparable_speeds(const std::vector<const IndexEntry*>& entries,
                                                     const std::string& workload,
                                                     const HostDescription* here) {
  std::vector<Comparable> all;
  if (here != nullptr) all = comparable(entries, workload, *here);
  if (all.empty()) return {};
  const Workload chosen = choose_workload(all);
  std::erase_if(all, [&](const Comparable& one) { return one.workload() != chosen; });
  const MeasuredHost host = choose_host(all);
  std::erase_if(all, [&](const Comparable& one) { return one.host() != host; });
  const std::string version = choose_version(all);
  std::map<const IndexEntry*, Speed> speeds;
  for (const Comparable& one : all) {
    if (one.measured->workload_files != version) continue;
    const Measurement*& held = speeds[one.entry].measured;
    if (held == nullptr || one.measured->taken > held->taken ||
        (one.measured->taken == held->taken && before(*one.measured, *held)))
      held = one.measured;
  }
  classify(speeds);
  return speeds;
}

namespace {

// Those without a class yet, by where they begin, under a tree of where they end: all that overlap with one
// are found without a look at the others.
class Unclassed {
 public:
  explicit Unclassed(const std::vector<Quartiles>& all) : all_(all), order_(all.size()), place_(all.size()) {
    std::iota(order_.begin(), order_.end(), std::size_t{0});
    std::ranges::sort(order_, [&](std::size_t a, std::size_t b) { return all[a].low < all[b].low; });
    while (leaves_ < all.size()) leaves_ *= 2;
    ends_.assign(2 * leaves_, kGone);
    for (std::size_t i = 0; i < order_.size(); ++i) {
      place_[order_[i]] = i;
      ends_[leaves_ + i] = all[order_[i]].high;
    }
    for (std::size_t node = leaves_; node-- > 1;) ends_[node] = latest_below(node);
  }

  bool has(std::size_t number) const { return ends_[leaves_ + place_[number]] > kGone; }

  void remove(std::size_t number) {
    std::size_t node = leaves_ + place_[number];
    ends_[node] = kGone;
    while (node /= 2) ends_[node] = latest_below(node);
  }

  std::vector<std::size_t> overlapping(const Quartiles& with) const {
    const auto end = std::ranges::upper_bound(
        order_, with.high, [&](double high, std::size_t number) { return high < all_[number].low; });
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
    rest.remove(fastest);  // of its own class, whatever its quartiles are
    classes[fastest] = next;
    for (std::size_t number : rest.overlapping(fastest_first[fastest])) {
      classes[number] = next;
      rest.remove(number);
    }
    ++next;
  }
  return classes;
}

std::string PredictedSpeed::text() const {
  return fmt::format("{:.4g} ms/step, {:.4g} to {:.4g}", 1000 * seconds, 1000 * low, 1000 * high);
}

std::vector<int> predicted_classes(const std::vector<std::optional<PredictedSpeed>>& speeds) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < speeds.size(); ++i)
    if (speeds[i]) order.push_back(i);
  std::ranges::stable_sort(order, {}, [&](std::size_t at) {
    return std::tie(speeds[at]->seconds, speeds[at]->low, speeds[at]->high);
  });
  std::vector<Quartiles> intervals;
  for (const std::size_t place : order) intervals.push_back({speeds[place]->low, speeds[place]->high});
  const std::vector<int> found = speed_classes(intervals);
  std::vector<int> classes(speeds.size(), 0);
  for (std::size_t i = 0; i < order.size(); ++i) classes[order[i]] = found[i];
  return classes;
}

}  // namespace kiln
