// Sessions: runs of images that took turns, with one version of a workload, on one host. This is the only
// place that turns runs into figures: which runs count, how fast an image is, and how much faster than
// another one. `kiln bench` records these figures in the index, where select and the pages read them
// (registry/select/gain.h); `bench compare` and `report` compute them from the kept runs. Pure.
#pragma once

#include <compare>
#include <string>
#include <vector>

#include "factory/bench/run.h"
#include "factory/record/image_record.h"

namespace kiln {

// The properties that two runs must share for their speeds to be compared.
struct SessionName {
  std::string id;        // BenchRun::session; of old runs, their day and what measured them
  std::string workload;  // speed_name()
  std::string unit;
  std::string host;   // model, processors and accelerators
  std::string files;  // BenchRun::workload_files
  auto operator<=>(const SessionName&) const = default;
};
SessionName session_of(const BenchRun& run);

// An image by its bits: its key; its name or axes if it has none.
std::string image_id(const BenchRun& run);

// Those that figures are made of, in the same order. REQUIRES: all runs that are kept of their sessions.
//  - A round of a session counts if every image of the session has a run in it.
//  - Rounds with a disturbed run are left out if at least two undisturbed rounds remain.
//  - Of old runs, which have no session, the last of each image and round counts.
std::vector<BenchRun> runs_that_count(const std::vector<BenchRun>& runs);

// The steady samples of each.
std::vector<std::vector<double>> steady_runs(const std::vector<BenchRun>& runs);

// Of one image, in one session.
struct SessionRuns {
  SessionName session;
  std::vector<BenchRun> runs;  // never empty
};
// REQUIRES: runs of one image, each of which counts. The session that ended last is the last one.
std::vector<SessionRuns> by_session(const std::vector<BenchRun>& runs);

// How many times as fast the image of `runs` is as that of `over`: bench/statistics.h. gain_of(b, a) is the
// inverse of gain_of(a, b). REQUIRES: neither is empty; one unit.
MeasuredGain gain_of(const std::vector<BenchRun>& runs, const std::vector<BenchRun>& over);

// The runs of two images in the last session that has both; nullptr without such a session.
struct SharedSession {
  const SessionRuns* image = nullptr;
  const SessionRuns* over = nullptr;
};
SharedSession shared_session(const std::vector<SessionRuns>& image, const std::vector<SessionRuns>& over);

// The speed of an image: the median of the medians of its runs, and the quartiles of all steady samples.
// REQUIRES: runs of one image in one session, not empty.
Measurement measurement_of(const std::vector<BenchRun>& runs);

// The speed of each image in each session, with its gains over the others. REQUIRES: as runs_that_count().
std::vector<Measurement> measurements_of(const std::vector<BenchRun>& kept);

}  // namespace kiln
