#include <utility>

#include "factory/base/text.h"
#include "factory/bench/conditions.h"
#include "factory/cli/bench.h"
#include "factory/cli/night_work.h"
#include "factory/cli/print.h"
#include "factory/engine/architecture.h"
#include "factory/oci/registry_call.h"

namespace kiln {
namespace {

constexpr std::chrono::seconds kLook{1}, kBetweenLooks{2};

double others_busy(bool is_first, const FileSystem& files) {
  if (!is_first) wait_unless_interrupted(kBetweenLooks);
  const std::string before = files.read("/proc/stat").value_or("");
  wait_unless_interrupted(kLook);
  return processor_use(before, files.read("/proc/stat").value_or("")).busy;
}

}  // namespace

void measure_for_night(const Catalogue& catalogue, const MeasureTerms& terms,
                       const std::vector<NightImage>& before, const Site& site, Invocation& invocation,
                       NightMeasuring& done) {
  MeasuringPlace place(site, {}, "bench", invocation);
  try {
    place.machine();
  } catch (const Error& error) {
    if (error.code() != ExitCode::images_failed) throw;
    done.remarks.push_back("not measured: " + without_controls(error.message()));
    return;
  }
  const StatePaths state = invocation.state();
  const StepSetup setup = invocation.step_setup(site, state);
  Index index = invocation.index(Index::Mode::write);
  ImageBench bench = image_bench(catalogue, setup, index, place, invocation);
  const std::vector<IndexEntry> entries = index.entries();
  measure_tonight({catalogue, terms, state, invocation.files, invocation.clock, invocation.cpus(),
                   bench.host(), own_architecture(), place.in_jobs(), entries, before},
                  {[&](bool is_first) { return others_busy(is_first, invocation.files); },
                   [&](const BenchWork& work, const ImageNumbers& images) {
                     ImageBenchDone session = bench.run(work, images);
                     for (const Error& error : session.errors) tell(error.format());
                     return session;
                   }},
                  done);
}

}  // namespace kiln
