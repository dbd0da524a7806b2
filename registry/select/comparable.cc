#include "registry/select/comparable.h"

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <tuple>

#include "registry/select/speed_classes.h"

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
  std::sort(sorted.begin(), sorted.end());
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
  return std::max_element(images.begin(), images.end(),
                          [](const auto& a, const auto& b) { return a.second.size() < b.second.size(); })
      ->first;
}

// The nearest, then the one with most images, then the first by name.
MeasuredHost choose_host(const std::vector<Comparable>& all) {
  std::map<MeasuredHost, std::pair<int, std::set<const IndexEntry*>>> hosts;
  for (const Comparable& one : all) {
    auto [found, is_new] = hosts.try_emplace(one.host(), one.distance, std::set<const IndexEntry*>{});
    found->second.second.insert(one.entry);
  }
  return std::min_element(hosts.begin(), hosts.end(),
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
  return std::max_element(versions.begin(), versions.end(),
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
  std::stable_sort(order.begin(), order.end(),
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

}  // namespace kiln
