#include "registry/ranking.h"

#include <algorithm>
#include <compare>
#include <set>
#include <tuple>

#include "registry/host_clauses.h"
#include "registry/select_clauses.h"

namespace kiln {
namespace {

// The processor and the GPUs that code is good for: the host's, or where there is none those that the
// question names.
class Aim {
 public:
  Aim(const ImageQuery& query, const Host& host, const Microarchitectures& cpus)
      : query_(&query), cpus_(&cpus) {
    if (host.known && cpus.find(host.description.cpu) != nullptr) {
      known_.emplace(host.description, cpus);
    } else if (cpus.find(query.cpu) != nullptr) {
      asked_.cpu = query.cpu;
      cpu_.emplace(asked_, cpus);
    }
  }

  void fill(Ranked& ranked, const ImageRecord& image) const {
    const Microarchitecture* target = cpus_->find(image.cpu);
    const HostCpu* cpu = known_ ? &known_->cpu() : cpu_ ? &*cpu_ : nullptr;
    if (cpu != nullptr)
      ranked.cpu = target == nullptr ? CpuFit{} : cpu->fit(*target);
    else if (target != nullptr)
      ranked.cpu_reach = reach(image, *target);
    ranked.gpu = gpu(image, target);
    if (ranked.gpu.level == GpuFit::Level::unnamed) ranked.gpu_reach = gpu_reach(image);
  }

 private:
  static CpuReach reach(const ImageRecord& image, const Microarchitecture& target) {
    const std::vector<std::string> beyond = exceeding_features(image, &target);
    return reach_of(target, {beyond.begin(), beyond.end()});
  }

  GpuFit gpu(const ImageRecord& image, const Microarchitecture* target) const {
    const GpuFit unnamed{GpuFit::Level::unnamed, 0};
    if (known_) return gpu_fit(ImageOnHost{image, target, *known_, query_->acc_type}).value_or(unnamed);
    if (query_->gpu.empty()) return unnamed;
    auto [vendor, code] = asked_gpu(query_->gpu);
    return gpu_fit(image, vendor, code);
  }

  static GpuReach gpu_reach(const ImageRecord& image) {
    GpuReach reach{false, 0, SIZE_MAX - image.accelerators.size()};
    for (const std::string& accelerator : image.accelerators) {
      const std::string code = split_accelerator(accelerator).second;
      const int number = compute_capability(code);
      reach.named = reach.named || !code.empty();
      if (number != 0 && (reach.lowest == 0 || number < reach.lowest)) reach.lowest = number;
    }
    return reach;
  }

  const ImageQuery* query_;
  const Microarchitectures* cpus_;
  std::optional<KnownHost> known_;
  HostDescription asked_;
  std::optional<HostCpu> cpu_;
};

struct Comparison {
  std::strong_ordering order;
  Preference by;
};

// Of two ways in which "less" is better.
template <typename Value>
bool differ(const Value& a, const Value& b, Preference by, Comparison& comparison) {
  comparison = {a <=> b, by};
  return std::is_neq(comparison.order);
}

Comparison compare(const ImageQuery& query, const Ranked& a, const Ranked& b) {
  const ImageRecord& left = a.candidate.entry->image;
  const ImageRecord& right = b.candidate.entry->image;
  Comparison result{std::strong_ordering::equal, Preference::name};
  if (differ(a.pre_release, b.pre_release, Preference::released, result)) return result;
  if (differ(a.speed.measured == nullptr, b.speed.measured == nullptr, Preference::measured, result))
    return result;
  if (differ(a.speed.speed_class, b.speed.speed_class, Preference::speed, result)) return result;
  if (query.opt_build.value_or(false) &&
      differ(right.optimised, left.optimised, Preference::optimised, result))
    return result;
  if (query.acc_type.empty() &&
      differ(left.accelerators.size(), right.accelerators.size(), Preference::fewer_accelerators, result))
    return result;
  if (differ(a.gpu, b.gpu, Preference::gpu_code, result)) return result;
  if (differ(a.gpu_reach, b.gpu_reach, Preference::gpu_reach, result)) return result;
  if (differ(b.cpu, a.cpu, Preference::cpu_code, result)) return result;
  if (differ(a.cpu_reach, b.cpu_reach, Preference::cpu_reach, result)) return result;
  if (differ(right.version, left.version, Preference::version, result)) return result;
  if (differ(a.doubtful, b.doubtful, Preference::state, result)) return result;
  differ(std::tie(a.name, left.code, left.manifest), std::tie(b.name, right.code, right.manifest),
         Preference::name, result);
  return result;
}

}  // namespace

std::vector<Ranked> rank(const ImageQuery& query, std::vector<Candidate> qualifying, const Host& host,
                         const Microarchitectures& cpus) {
  std::vector<const IndexEntry*> entries;
  entries.reserve(qualifying.size());
  for (const Candidate& candidate : qualifying) entries.push_back(candidate.entry);
  auto speeds = comparable_speeds(entries, query.workload, host.known ? &host.description : nullptr);
  const bool any_version = query.version.names_pre_release();
  const Aim aim(query, host, cpus);
  std::vector<Ranked> ranked;
  ranked.reserve(qualifying.size());
  for (Candidate& candidate : qualifying) {
    const IndexEntry& entry = *candidate.entry;
    Ranked item{};
    item.candidate = std::move(candidate);
    item.name = entry.image.name();
    item.pre_release = !any_version && entry.image.version.is_pre_release();
    if (auto found = speeds.find(&entry); found != speeds.end()) item.speed = found->second;
    item.candidate.measured = item.speed.measured;
    item.doubtful = entry.stale || entry.image.external();
    aim.fill(item, entry.image);
    ranked.push_back(std::move(item));
  }
  std::sort(ranked.begin(), ranked.end(),
            [&](const Ranked& a, const Ranked& b) { return std::is_lt(compare(query, a, b).order); });
  return ranked;
}

Preference first_difference(const ImageQuery& query, const Ranked& better, const Ranked& other) {
  return compare(query, better, other).by;
}

}  // namespace kiln
