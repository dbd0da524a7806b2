// The file of a step history: lines are added under a lock, and it is written anew when it has grown.
#include "factory/base/durable_file.h"
#include "factory/base/line_file.h"
#include "factory/base/read_whole.h"
#include "factory/state/step_history.h"

namespace kiln {
namespace fs = std::filesystem;
namespace {

constexpr std::uint64_t kShortenFrom = 4u << 20;  // bytes: some 14,000 runs, read by each step in some ms
constexpr std::uint64_t kMostRead = 64u << 20;
constexpr std::chrono::seconds kHistoryPatience{5};  // a run that is not kept harms nobody

void shorten(const fs::path& file) {
  std::string text;
  for (const PastRun& run : without_oldest(read_history(file), kShortenFrom / 2)) text += history_line(run);
  DurableFile written(file.parent_path());
  written.write(text.data(), text.size());
  written.publish(file);
}

}  // namespace

bool record_run(const fs::path& file, const PastRun& run) {
  LineFile history(file, kHistoryPatience);
  if (!history.is_open() || !history.append(history_line(run))) return false;
  try {
    if (history.size() >= kShortenFrom) shorten(file);
  } catch (const Error&) {  // the next one does it
  }
  return true;
}

std::vector<PastRun> read_history(const fs::path& file, std::string_view component) {
  try {
    return parse_history(read_whole(file, kMostRead).value_or(""), component);
  } catch (const Error&) {
    return {};
  }
}

}  // namespace kiln
