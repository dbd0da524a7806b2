// A comparison of images: which of them it measures, where it goes on, and what it answers with. The turns
// are in app/benching.h.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "factory/app/benching.h"
#include "factory/app/catalogue.h"
#include "factory/app/ready_workload.h"
#include "factory/run/bench_rounds.h"
#include "factory/run/kept_runs.h"
#include "registry/index/index.h"

namespace kiln {

struct ImageBenchSetup {
  const Catalogue& catalogue;
  const StatePaths& state;
  FileSystem& files;
  const Clock& clock;
  HostDescription host;                           // that is measured
  std::string architecture;                       // of this machine, in OCI's words
  std::map<std::string, std::string> settings{};  // that restrict the workloads
};

// Effects of a comparison on containers, cluster and terminal.
struct ImageBenchEffects {
  // Starts the workload once on this machine. A run for each of its metrics.
  std::function<std::vector<BenchRun>(const BenchRequest&)> start;
  std::function<std::string()> measured_by;           // BenchRun::kiln
  std::function<void(const std::string& line)> note;  // for a person who watches
  // In place of `start`: runs these rounds as jobs, up to `at_once` at a time. Empty: nothing runs as a job.
  std::function<std::vector<std::vector<BenchAnswer>>(const std::vector<BenchRound>& rounds, int repeats,
                                                      const RoundFiles& folder)>
      jobs{};
  int at_once = 1;
};

struct ImageBenchDone {
  std::vector<BenchRow> rows;
  std::vector<Error> errors{};  // of images in which the workload failed: they have no rows that are fresh
};

class ImageBench {
 public:
  // Reads the index. REQUIRES: all but the effects outlive this; the state folder is locked.
  ImageBench(ImageBenchSetup setup, Index& index, ImageBenchEffects effects);

  // An image that is not built or not in the index is passed over, with a note. Throws Error(no_match) when
  // none is left, before anything is run; Error(usage) when there is no such workload; Error(input) for data
  // that is missing; interrupted, and then the same call goes on with what is left. An image in which the
  // workload fails has nothing recorded; if it leaves no row and is the only one, its error is thrown.
  ImageBenchDone run(const BenchWork& work, const ImageNumbers& images);
  const HostDescription& host() const { return setup_.host; }

 private:
  struct Candidate : BenchedImage {
    ImageSpec image;
    SpeedsByName known;  // before this session
  };
  std::vector<Candidate> candidates(const ImageNumbers& images) const;
  bool has_layers(const Candidate& one) const;  // else it says so
  void find_known(std::vector<Candidate>& all, const BenchWork& work, const ReadyWorkload& workload,
                  const KeptRuns& kept, const std::string& session) const;
  std::vector<BenchRequest> requests_of(const std::vector<Candidate>& all, const BenchWork& work,
                                        const ReadyWorkload& workload, const std::string& session) const;
  TurnsDone turns_here(const BenchWork& work, std::vector<BenchRequest>& requests, BegunComparison& begun);
  TurnsDone turns_in_jobs(BenchWork work, std::vector<BenchRequest>& requests, BegunComparison& begun,
                          const ImageNumbers& images);

  const ImageBenchSetup setup_;
  SessionRecords records_;
  const ImageBenchEffects effects_;
};

}  // namespace kiln
