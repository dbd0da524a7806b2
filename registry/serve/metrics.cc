#include "registry/serve/metrics.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace kiln {
namespace {

void describe(std::string& out, std::string_view name, std::string_view type, std::string_view help) {
  fmt::format_to(std::back_inserter(out), "# HELP {} {}\n# TYPE {} {}\n", name, help, name, type);
}

template <typename Number>
void one(std::string& out, std::string_view name, std::string_view type, std::string_view help,
         Number value) {
  describe(out, name, type, help);
  fmt::format_to(std::back_inserter(out), "{} {}\n", name, value);
}

void append_gauges(std::string& out, const ServeGauges& gauges) {
  one(out, "kiln_connections", "gauge", "Connections that are open.", gauges.http.connections);
  one(out, "kiln_connections_late_total", "counter", "Connections cut at their deadline.", gauges.http.late);
  one(out, "kiln_connections_refused_total", "counter", "Connections beyond a limit.", gauges.http.refused);
  one(out, "kiln_requests_malformed_total", "counter", "Requests refused for their head.",
      gauges.http.malformed);
  one(out, "kiln_snapshot", "gauge", "Number of the current snapshot; 0 when there is none.",
      gauges.snapshot);
  one(out, "kiln_demand_waiting", "gauge", "Questions that are counted and not written yet.",
      gauges.demand_waiting);
  one(out, "kiln_cache_bytes", "gauge", "Bytes of answers that are kept.", gauges.cache_bytes);
  one(out, "kiln_memory_bytes", "gauge", "Memory of the process.", gauges.memory);
  one(out, "kiln_tokens", "gauge", "Tokens that may write.", gauges.tokens);
}

}  // namespace

void ServeMetrics::count(std::string_view verb, int status, double seconds) {
  const auto bucket = std::ranges::lower_bound(kBounds, seconds) - kBounds.begin();
  ++times_[static_cast<std::size_t>(bucket)];
  microseconds_ += static_cast<std::uint64_t>(seconds * 1e6);
  const std::lock_guard held(lock_);
  ++requests_[{verb, status}];
}

void ServeMetrics::count_cache(bool hit) { ++(hit ? hits_ : misses_); }

void ServeMetrics::count_wrong_token() { ++wrong_tokens_; }

std::string ServeMetrics::text(const ServeGauges& gauges) {
  std::string out;
  const std::lock_guard held(lock_);
  describe(out, "kiln_requests_total", "counter", "Requests answered, by verb and status.");
  for (const auto& [key, count] : requests_)
    fmt::format_to(std::back_inserter(out), "kiln_requests_total{{verb=\"{}\",code=\"{}\"}} {}\n", key.first,
                   key.second, count);
  describe(out, "kiln_request_seconds", "histogram", "Time to make an answer.");
  std::uint64_t below = 0;
  for (std::size_t i = 0; i < kBounds.size(); ++i) {
    below += times_[i];
    fmt::format_to(std::back_inserter(out), "kiln_request_seconds_bucket{{le=\"{}\"}} {}\n", kBounds[i],
                   below);
  }
  below += times_.back();
  fmt::format_to(std::back_inserter(out),
                 "kiln_request_seconds_bucket{{le=\"+Inf\"}} {0}\nkiln_request_seconds_sum {1}\n"
                 "kiln_request_seconds_count {0}\n",
                 below, static_cast<double>(microseconds_.load()) / 1e6);
  one(out, "kiln_cache_hits_total", "counter", "Answers that were kept.", hits_.load());
  one(out, "kiln_cache_misses_total", "counter", "Answers that were not kept, or not any more.",
      misses_.load());
  one(out, "kiln_wrong_tokens_total", "counter", "Requests with an invalid token.", wrong_tokens_.load());
  append_gauges(out, gauges);
  return out;
}

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
