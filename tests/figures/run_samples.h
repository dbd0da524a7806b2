// Runs for the tests of figures: made up, and called so.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "factory/bench/run.h"

namespace kiln::testing {

struct RunDraft {
  std::string framework = "pytorch", version = "1.4.0", method = "pip";
  bool stock = true;
  double median = 100;
  std::vector<std::string> compilers = {};
  std::string target = "x86_64";
  std::string name = "";  // "": of the axes
  std::vector<std::string> runtimes = {};
};

inline BenchRun made_up_run(const RunDraft& draft, int round = 0) {
  BenchRun run;
  run.workload = "mnist-cnn";
  run.unit = "ms/step";
  for (double share : {1.7, 0.99, 1.0, 1.01, 1.0, 0.995, 1.005}) run.samples.push_back(draft.median * share);
  run.warm = 1;
  run.name = draft.name;
  if (run.name.empty()) {
    run.name = draft.framework + ":" + draft.version + "-" + draft.method;
    for (const std::string& compiler : draft.compilers) run.name += "-" + compiler;
    for (const std::string& runtime : draft.runtimes) run.name += "-" + runtime;
    run.name += "-" + draft.target;
  }
  run.image = Digest::of(run.name);
  run.axes = {draft.framework, draft.version, draft.method, draft.target, draft.compilers, "cpu"};
  run.axes.runtimes = draft.runtimes;
  run.stock = draft.stock;
  run.threads = 2;
  run.host.model = "Made-up processor";
  run.host.cores = 2;
  run.taken = "2026-11-2" + std::to_string(round) + "T10:00:00Z";
  run.kiln = "test data";
  run.session = "made up";
  run.round = round;
  return run;
}

// Three starts of each, a little apart.
inline std::vector<BenchRun> made_up_runs(const std::vector<RunDraft>& drafts) {
  std::vector<BenchRun> runs;
  for (int round = 0; round < 3; ++round)
    for (RunDraft draft : drafts) {
      draft.median *= 1 + 0.002 * round;
      runs.push_back(made_up_run(draft, round));
    }
  return runs;
}

}  // namespace kiln::testing
