// The file of the counters: a line a question, summed up when it has grown.
#include "factory/base/durable_file.h"
#include "factory/base/read_whole.h"
#include "registry/select/demand.h"

namespace kiln {
namespace fs = std::filesystem;
namespace {

constexpr const char* kFile = "demand.jsonl";
constexpr std::uint64_t kSumUpFrom = 4u << 20;  // bytes
constexpr std::size_t kMostKept = 4000;         // questions, those asked most: at most 3.2 MB
constexpr std::uint64_t kMostRead = 64u << 20;
constexpr std::chrono::milliseconds kPatience{50};  // a counter is not worth more

void sum_up(const fs::path& file) {
  std::vector<Demand> sums = sum_of_demand(read_whole(file, kMostRead).value_or(""));
  if (sums.size() > kMostKept) {
    std::stable_sort(sums.begin(), sums.end(),
                     [](const Demand& a, const Demand& b) { return a.count > b.count; });
    sums.resize(kMostKept);
  }
  std::string text;
  for (const Demand& demand : sums) text += demand_line(demand);
  DurableFile written(file.parent_path());
  written.write(text.data(), text.size());
  written.publish(file);
}

}  // namespace

bool record_demand(const fs::path& state, const Demand& demand) {
  const std::string line = demand_line(demand);
  if (line.empty()) return false;
  LineFile file(state / kFile, kPatience);
  if (!file.is_open() || !file.append(line)) return false;
  try {
    if (file.size() >= kSumUpFrom) sum_up(state / kFile);
  } catch (const Error&) {  // the next one does it
  }
  return true;
}

std::vector<Demand> read_demand(const fs::path& state) {
  return sum_of_demand(read_whole(state / kFile, kMostRead).value_or(""));
}

}  // namespace kiln
