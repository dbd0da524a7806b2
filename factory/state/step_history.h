// Durations and peaks of earlier runs of steps: `<state>/history.jsonl`, a line a run, only appended to. It
// is in no key. A lost or damaged line only means one run less for predictions.
#pragma once

#include <cstdint>
#include <filesystem>
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
// The kept part of a long history: of each step the last five runs, and of those the newest that fit in
// `most` bytes.
std::vector<PastRun> without_oldest(std::vector<PastRun> runs, std::size_t most);

// Adds a run, even if another process does so at this moment; one that has grown is made shorter. False when
// that cannot be done: no right to write, a full disk.
bool record_run(const std::filesystem::path& file, const PastRun& run);
// Of the file; empty when there is none or it cannot be read.
std::vector<PastRun> read_history(const std::filesystem::path& file, std::string_view component = {});

// Predicts the needs of a step from those of similar steps. Pure.
//
// As Spack's gantry does it, from the last five runs of the nearest kind: of the same step; of the same
// component in the same version by the same method; of the same component; else nothing is known. The target
// is left out, as it is there: it says little about memory.
//
// Other than there, where the mean of means is asked for, memory is the most that any of the five had, and a
// quarter more; half as much again where they were other steps. The mean of a distribution is too little
// every second time, and what is reserved too little here is an OOM kill of a build of hours, while what is
// reserved too much is a wait. It is no bound: gantry's documentation speaks of builds of one package that
// differ by 200 to 400 % for no reason that can be seen, so nothing is killed for having more than was
// predicted. A try that ran out of memory counts with twice what it had.
struct StepNeed {
  enum class Like { step, method, component, nothing };
  Like like = Like::nothing;  // the similarity of those runs
  std::size_t runs = 0;       // at most five
  std::uint64_t memory = 0;   // bytes; 0: not known
  double seconds = 0;         // the mean; 0: not known
  double processors = 0;      // that the busiest of them kept busy, over its time; 0: not known
  double deviation = 0;       // of one run from that, in seconds; from a single run half of its time
};

// `history`: oldest first.
StepNeed need_of(const PastRun& step, const std::vector<PastRun>& history);

}  // namespace kiln
