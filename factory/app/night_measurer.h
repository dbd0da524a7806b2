// The measurements of a night: images of its suite that run here and claim more than stock take turns with
// their stock images, until the time is up or the machine is busy. The agenda of one workload is in
// night/measuring.h.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "factory/app/image_bench.h"
#include "factory/app/night_agenda.h"
#include "factory/app/night_course.h"
#include "factory/bench/suite.h"
#include "factory/cpu/microarchitecture.h"

namespace kiln {

struct MeasureTerms {
  Suite suite;
  std::chrono::seconds budget{0};  // 0: no end
  bool on_busy_machine = false;    // measure although other processes keep it busy
};

struct NightMeasurerSetup {
  const Catalogue& catalogue;
  const MeasureTerms& terms;
  const StatePaths& state;
  const FileSystem& files;
  const Clock& clock;
  const Microarchitectures& cpus;
  const HostDescription& host;             // that is measured
  std::string architecture;                // of this machine, in OCI's words
  bool in_jobs = false;                    // which have a node to themselves
  const std::vector<IndexEntry>& entries;  // of the current snapshot
  const std::vector<NightImage>& before;   // images of the last night that looked at any
};

struct NightMeasurerEffects {
  // How many processors of this machine other processes keep busy. Waits before any look but the first.
  std::function<double(bool is_first)> look;
  std::function<ImageBenchDone(const BenchWork& work, const ImageNumbers& images)>
      bench;  // ImageBench::run()
};

// `done` has its results, also after an error. Throws what the effects throw, but for the errors of a session
// that cannot run (images_failed, no_match), which become remarks.
void measure_tonight(const NightMeasurerSetup& setup, const NightMeasurerEffects& effects,
                     NightMeasuring& done);

}  // namespace kiln
