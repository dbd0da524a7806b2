// Measures a workload in images of a catalogue, interleaved, and records what came out.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "factory/cli/invocation.h"
#include "factory/plan/cell_patterns.h"
#include "factory/run/bench.h"

namespace kiln {

// What is to be measured, and how often.
struct BenchWork {
  std::string workload;
  WorkloadWishes wishes;
  int rounds = 3;
  int repeats = 1;             // of a run that others disturbed
  bool again = false;          // what was measured on this host before, too
  std::size_t runs_after = 0;  // at the most, in what follows this: for the time that is left
};

struct BenchRow {
  std::string image;  // repository:tag
  Measurement measurement;
  bool fresh = false;          // measured now
  std::vector<BenchRun> runs;  // of which the measurement is; empty where it is not fresh
};

class ImageBench {
 public:
  // Takes index and host. REQUIRES: all outlive this; the state folder is locked. Throws Error(usage) when
  // there is no such folder of recipes.
  ImageBench(const Catalogue& catalogue, const StepSetup& setup, Index& index, Invocation& invocation);

  // Throws Error(no_match) when one of the images is not in the index, before anything is run; Error(usage)
  // when there is no such workload; interrupted, and then the same call goes on with what is left. An image
  // in which the workload fails is told on stderr and not in the answer, has nothing recorded, and makes the
  // exit code images_failed; the error itself where it is the only one.
  std::vector<BenchRow> run(const BenchWork& work, const ImageNumbers& images);

 private:
  struct Candidate {
    ImageSpec image;
    std::vector<std::string> names;  // of all that have these bits
  };
  std::vector<Candidate> candidates(const ImageNumbers& images) const;
  // Of this host, nullptr: none, or it counts no more.
  const Measurement* known_before(const Candidate& one, const BenchWork& work) const;
  // Records what was measured now. A row for each name; none where there are neither runs nor `before`.
  void add_rows(const Candidate& one, const std::vector<BenchRun>* runs, const Measurement* before,
                std::vector<BenchRow>& rows);

  const Catalogue& catalogue_;
  const StepSetup& setup_;
  Index& index_;
  Invocation& invocation_;
  HostDescription host_;
  std::map<std::string, IndexEntry> published_;  // by the bits, which several names may have
};

}  // namespace kiln
