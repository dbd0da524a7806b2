#include <fmt/format.h>

#include "factory/cli/bench.h"
#include "factory/cli/print.h"
#include "factory/engine/architecture.h"
#include "factory/os/processors.h"
#include "factory/record/host_description.h"
#include "factory/sbom/provenance.h"

namespace kiln {
namespace {

// The machine as its measurements describe it. With a restriction, this process keeps to so many processors.
HostDescription measured_host(const Restriction& restriction, MeasuringPlace& place, Invocation& invocation) {
  if (restriction.empty()) return place.machine();
  if (place.in_jobs())
    throw Error(ExitCode::usage, "--restrict restricts this machine, and the site's measurements are jobs",
                "--here measures on this machine");
  HostDescription host =
      restricted_host(detect_host(invocation.files, invocation.cpus()), restriction, invocation.cpus());
  host.features.clear();  // a hundred words beside each run, which compares by model and name
  if (restriction.cores > 0) keep_to_processors(static_cast<unsigned>(restriction.cores));
  return host;
}

}  // namespace

std::string measured_by(const RecipeBook& recipes, Invocation& invocation) {
  std::string by = KILN_VERSION;
  const auto origin = sbom::find_origin(recipes, invocation.runner, invocation.child_environment());
  for (const sbom::RecipeRepository& repository : origin.repositories)
    by += fmt::format(", recipes of {}{}", repository.commit.substr(0, 12),
                      repository.modified ? " with changes" : "");
  return by;
}

ImageBench image_bench(const Catalogue& catalogue, const StepSetup& setup, Index& index,
                       MeasuringPlace& place, Invocation& invocation, const Restriction& restriction) {
  ImageBenchEffects effects{[&setup](const BenchRequest& request) { return run_workload(request, setup); },
                            [&catalogue, &invocation] { return measured_by(catalogue.recipes, invocation); },
                            [&invocation](const std::string& line) { invocation.note(line); }};
  if (place.in_jobs()) {
    effects.at_once = static_cast<int>(place.at_once());
    effects.jobs = [&setup, &place](const std::vector<BenchRound>& rounds, int repeats,
                                    const RoundFiles& folder) {
      const JobSetup jobs = place.job_setup(setup);
      return run_round_jobs(rounds, repeats, folder, place.jobs(jobs));
    };
  }
  return {{catalogue, setup.state, setup.files, setup.clock, measured_host(restriction, place, invocation),
           own_architecture(), restricting_variables(restriction)},
          index,
          std::move(effects)};
}

std::vector<BenchRow> bench_images(ImageBench& bench, const BenchWork& work, const ImageNumbers& images,
                                   Invocation& invocation) {
  ImageBenchDone done = bench.run(work, images);
  for (const Error& error : done.errors) tell(error.format());
  if (!done.errors.empty()) invocation.exit_code = ExitCode::images_failed;
  return std::move(done.rows);
}

}  // namespace kiln
