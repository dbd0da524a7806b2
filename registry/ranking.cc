#include "registry/ranking.h"

#include <algorithm>
#include <climits>
#include <compare>
#include <map>
#include <optional>
#include <set>
#include <tuple>

namespace kiln {
namespace {

constexpr int kUnmeasured = INT_MAX;

// Speeds compare only where everything else is the same.
using Workload = std::pair<std::string, std::string>;            // name, unit
using MeasuredHost = std::tuple<std::string, std::string, int>;  // model, microarchitecture, cores

Workload workload_of(const Measurement& measurement) { return {measurement.workload, measurement.unit}; }

MeasuredHost host_of(const Measurement& measurement) {
  return {measurement.host.model, measurement.host.cpu, measurement.host.cores};
}

// The one that most candidates were measured with; of equals the first by name.
std::optional<Workload> choose_workload(const std::string& asked, const std::vector<Candidate>& candidates) {
  std::map<Workload, std::size_t> images;
  for (const auto& candidate : candidates) {
    std::set<Workload> seen;
    for (const auto& measurement : candidate.entry->measurements) {
      if (asked.empty() || measurement.workload == asked) seen.insert(workload_of(measurement));
    }
    for (const auto& workload : seen) ++images[workload];
  }
  auto best = std::max_element(images.begin(), images.end(),
                               [](const auto& a, const auto& b) { return a.second < b.second; });
  return best == images.end() ? std::nullopt : std::optional(best->first);
}

// 0 is the same processor with as many cores.
int distance(const HostDescription& measured, const Host& host, const Microarchitectures& cpus) {
  if (!host.known) return 0;
  const HostDescription& here = host.description;
  if (!here.model.empty() && measured.model == here.model) return measured.cores == here.cores ? 0 : 1;
  if (!here.cpu.empty() && measured.cpu == here.cpu) return 2;
  return cpus.runs(here.cpu, measured.cpu) || cpus.runs(measured.cpu, here.cpu) ? 3 : 4;
}

// Hosts in the order in which their measurements count: nearest first, then the one with most images.
std::map<MeasuredHost, int> order_hosts(const Workload& workload, const std::vector<Candidate>& candidates,
                                        const Host& host, const Microarchitectures& cpus) {
  std::map<MeasuredHost, std::pair<int, std::set<const IndexEntry*>>> hosts;
  for (const auto& candidate : candidates) {
    for (const auto& measurement : candidate.entry->measurements) {
      if (workload_of(measurement) != workload) continue;
      auto& found = hosts[host_of(measurement)];
      found.first = distance(measurement.host, host, cpus);
      found.second.insert(candidate.entry);
    }
  }
  std::vector<std::tuple<int, std::size_t, MeasuredHost>> order;  // second: more images sort first
  for (const auto& [name, found] : hosts)
    order.emplace_back(found.first, SIZE_MAX - found.second.size(), name);
  std::sort(order.begin(), order.end());
  std::map<MeasuredHost, int> positions;
  for (const auto& [near, images, name] : order) positions.emplace(name, static_cast<int>(positions.size()));
  return positions;
}

// The latest measurement on the nearest host.
void attach_measurement(Ranked& ranked, const Workload& workload, const std::map<MeasuredHost, int>& hosts) {
  for (const auto& measurement : ranked.candidate.entry->measurements) {
    if (workload_of(measurement) != workload) continue;
    int group = hosts.at(host_of(measurement));
    const Measurement* held = ranked.candidate.measured;
    bool later = held != nullptr && group == ranked.host_group &&
                 std::tie(measurement.taken, held->median) > std::tie(held->taken, measurement.median);
    if (held == nullptr || group < ranked.host_group || later) {
      ranked.candidate.measured = &measurement;
      ranked.host_group = group;
    }
  }
}

std::size_t specificity(const ImageRecord& image, const Microarchitectures& cpus) {
  const Microarchitecture* cpu = cpus.find(image.cpu);
  std::size_t named_gpus =
      std::count_if(image.accelerators.begin(), image.accelerators.end(),
                    [](const std::string& text) { return text.find(':') != std::string::npos; });
  return (cpu == nullptr ? 0 : 1 + cpu->ancestors.size()) + (named_gpus > 0 ? 1 : 0);
}

struct Comparison {
  std::strong_ordering order;
  Preference by;
};

Comparison compare(const ImageQuery& query, const Ranked& a, const Ranked& b) {
  const ImageRecord& left = a.candidate.entry->image;
  const ImageRecord& right = b.candidate.entry->image;
  if (auto order = a.host_group <=> b.host_group; order != 0) return {order, Preference::measured};
  if (a.candidate.measured != nullptr && b.candidate.measured != nullptr &&
      a.candidate.measured->median != b.candidate.measured->median) {
    bool faster = a.candidate.measured->median < b.candidate.measured->median;
    return {faster ? std::strong_ordering::less : std::strong_ordering::greater, Preference::speed};
  }
  if (query.opt_build.value_or(false) && left.optimised != right.optimised) {
    return {right.optimised <=> left.optimised, Preference::optimised};
  }
  if (query.acc_type.empty() && left.accelerators.size() != right.accelerators.size()) {
    return {left.accelerators.size() <=> right.accelerators.size(), Preference::fewer_accelerators};
  }
  if (auto order = b.specificity <=> a.specificity; order != 0) return {order, Preference::specific_target};
  if (auto order = right.version <=> left.version; order != 0) return {order, Preference::version};
  auto last = std::tie(a.name, left.code, left.manifest) <=> std::tie(b.name, right.code, right.manifest);
  return {last, Preference::name};
}

}  // namespace

std::vector<Ranked> rank(const ImageQuery& query, std::vector<Candidate> qualifying, const Host& host,
                         const Microarchitectures& cpus) {
  auto workload = choose_workload(query.workload, qualifying);
  std::map<MeasuredHost, int> hosts;
  if (workload) hosts = order_hosts(*workload, qualifying, host, cpus);
  std::vector<Ranked> ranked;
  for (auto& candidate : qualifying) {
    const ImageRecord& image = candidate.entry->image;
    Ranked item{std::move(candidate), image.name(), specificity(image, cpus), kUnmeasured};
    if (workload) attach_measurement(item, *workload, hosts);
    ranked.push_back(std::move(item));
  }
  std::sort(ranked.begin(), ranked.end(),
            [&](const Ranked& a, const Ranked& b) { return compare(query, a, b).order < 0; });
  return ranked;
}

Preference first_difference(const ImageQuery& query, const Ranked& better, const Ranked& other) {
  return compare(query, better, other).by;
}

}  // namespace kiln
