// Counters of the server, as Prometheus reads them (text format 0.0.4).
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <filesystem>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

#include "registry/http/server.h"
#include "registry/select/demand.h"

namespace kiln {

// Values at the moment of the request.
struct ServeGauges {
  HttpCounts http{};
  std::int64_t snapshot = 0;       // 0: there is none
  std::size_t demand_waiting = 0;  // questions that are not written yet
  std::size_t cache_bytes = 0;
  std::uint64_t memory = 0;  // bytes that the process has in memory
  std::size_t tokens = 0;
};

class ServeMetrics {
 public:
  // `verb` is a word of the program's. REQUIRES: it lives as long as this.
  void count(std::string_view verb, int status, double seconds);
  void count_cache(bool hit);
  void count_wrong_token();
  std::string text(const ServeGauges& gauges);

 private:
  static constexpr std::array<double, 9> kBounds = {0.0005, 0.001, 0.0025, 0.005, 0.01,
                                                    0.025,  0.05,  0.25,   1.0};  // seconds
  using Count = std::atomic<std::uint64_t>;
  std::mutex lock_;  // of the map
  std::map<std::pair<std::string_view, int>, std::uint64_t> requests_;
  std::array<Count, kBounds.size() + 1> times_{};
  Count microseconds_{0};
  Count hits_{0}, misses_{0}, wrong_tokens_{0};
};

// Counts questions in memory and writes them together: an answer waits for no disk.
class DemandBatch {
 public:
  static constexpr std::size_t kMostKept = 10'000;  // questions; more are not counted until it is written

  void add(const Demand& demand);
  // Adds all of it to the state's counters, as of this day ("2026-11-23"). Counts that cannot be written are
  // tried again the next time.
  void write(const std::filesystem::path& state, const std::string& day);
  std::size_t size();  // questions that are not written yet

 private:
  std::mutex lock_;
  std::map<std::string, Demand> waiting_;
};

}  // namespace kiln
