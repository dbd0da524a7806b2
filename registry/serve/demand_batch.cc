#include "registry/serve/demand_batch.h"

namespace kiln {
namespace {

std::string key_of(const Demand& demand) {
  constexpr char kBetween = '\0';
  std::string key;
  key.reserve(demand.question.size() + demand.host.size() + demand.why.size() + 16);
  key.append(demand.question) += kBetween;
  key.append(demand.host) += kBetween;
  key.append(name_of(demand.outcome)) += kBetween;
  return key.append(demand.why);
}

}  // namespace

void DemandBatch::add(const Demand& demand) {
  const std::string key = key_of(demand);
  const std::lock_guard held(lock_);
  if (const auto found = waiting_.find(key); found != waiting_.end())
    found->second.count += demand.count;
  else if (waiting_.size() < kMostKept)
    waiting_.emplace(key, demand);
}

void DemandBatch::write(const std::filesystem::path& state, const std::string& day) {
  std::map<std::string, Demand> written;
  {
    const std::lock_guard held(lock_);
    written.swap(waiting_);
  }
  for (auto& [key, demand] : written) {
    demand.last = day;
    // A question that is too long to be kept has no line: that is not tried again.
    if (!record_demand(state, demand) && !demand_line(demand).empty()) add(demand);
  }
}

std::size_t DemandBatch::size() {
  const std::lock_guard held(lock_);
  return waiting_.size();
}

}  // namespace kiln
