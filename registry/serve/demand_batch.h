// What was asked, counted in memory and written together: an answer waits for no disk.
#pragma once

#include <filesystem>
#include <map>
#include <mutex>
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
  std::mutex lock_;
  std::map<std::string, Demand> waiting_;
};

}  // namespace kiln
