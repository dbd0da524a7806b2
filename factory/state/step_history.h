// What steps took when they ran: `<state>/history.jsonl`, a line a run, added to and never changed. It is in
// no key and promises nothing: a line that is lost or damaged is a run less to learn from.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "factory/base/effects.h"
#include "factory/resolve/resolve.h"

namespace kiln {

// One try of a step.
struct PastRun {
  enum class End { done, failed, out_of_memory, out_of_time };
  std::string key;        // of the step
  std::string kind;       // as name_of(StepKind)
  std::string component;  // "framework/pytorch"
  std::string version;
  std::string method;
  std::string host;
  std::int64_t time = 0;  // of its end, seconds since 1970
  End end = End::done;
  double seconds = 0;
  double processor_seconds = 0;  // of all that it started and waited for; 0: not known
  MemoryUse memory = {};
};
std::string_view name_of(PastRun::End end);

// A run of `step`, of which the rest is for the caller to say.
PastRun past_run_of(const Step& step);

// One line of the file, with its newline.
std::string history_line(const PastRun& run);
// Oldest first. Lines that cannot be read (cut by a full disk, damaged) are left out; with `component`, those
// of others.
std::vector<PastRun> parse_history(std::string_view lines, std::string_view component = {});
// What is kept of a history that has grown: of each step the last five runs, and of those the newest that
// have room in `most` bytes.
std::vector<PastRun> without_oldest(std::vector<PastRun> runs, std::size_t most);

// Adds a run, whoever else does so at this moment; one that has grown is made shorter. False when that cannot
// be done: no right to write, a full disk.
bool record_run(const std::filesystem::path& file, const PastRun& run);
// Of the file; empty when there is none or it cannot be read.
std::vector<PastRun> read_history(const std::filesystem::path& file, std::string_view component = {});

}  // namespace kiln
