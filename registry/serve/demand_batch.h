// What was asked, counted in memory and written together: an answer waits for no disk.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <map>
#include <shared_mutex>
#include <string>

#include "registry/select/demand.h"

namespace kiln {

class DemandBatch {
 public:
  static constexpr std::size_t kMostKept = 10'000;  // questions; more are not counted until it is written

  void add(const Demand& demand);
  // Adds all of it to the state's counters, as of this day ("2026-11-23"). What cannot be written is tried
  // again the next time.
  void write(const std::filesystem::path& state, const std::string& day);
  std::size_t size();  // questions that are not written yet

 private:
  struct Waiting {
    explicit Waiting(const Demand& what) : demand(what), count(what.count) {}
    Demand demand;
    std::atomic<std::uint64_t>
        count;  // in place of the demand's own: what is asked often is counted together
  };
  std::shared_mutex lock_;
  std::map<std::string, Waiting> waiting_;
};

}  // namespace kiln
