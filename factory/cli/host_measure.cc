#include "factory/cli/host_measure.h"

#include <fmt/format.h>

#include "factory/cli/state_lock.h"
#include "factory/cli/temporary_folder.h"
#include "factory/state/state_names.h"

namespace kiln {
namespace {

Recipe workload_of(const RecipeBook& recipes) {
  const Recipe* found = recipes.find(Kind::workload, kHostRates);
  if (found != nullptr) return *found;
  throw Error(ExitCode::usage, fmt::format("the recipes have no workload '{}'", kHostRates),
              "kiln's own have one: name them with --recipes, too");
}

// Others on the machine make every rate worse.
void doubt(const HostRecord& record, const Invocation& invocation) {
  if (!record.marks.empty())
    invocation.note(
        fmt::format("warning: {}: measure again at rest, with --again", fmt::join(record.marks, ", ")));
}

HostRecord measure_now(const HostMeasuring& asked, const HostDescription& host, Invocation& invocation) {
  invocation.need_root_or_namespace();
  const Catalogue catalogue = invocation.load(asked.matrix);
  const ChosenCells chosen = choose_whole_cells(catalogue.plan.resolution(), asked, invocation);
  Recipe workload = workload_of(catalogue.recipes);
  const StatePaths state = invocation.state();
  StateNames names(state, invocation.files);
  for (std::uint32_t number : chosen.images) {
    const ResolvedImage image = catalogue.plan.image(number);
    if (!names.is_built(image, catalogue.plan.steps())) continue;
    const WriterLock lock = lock_state(invocation, "kiln host --measure");
    TemporaryFolder folder;  // of the workload's files, shared ones among them
    for (const auto& [path, file] : workload.files)
      invocation.files.write_output(folder.path() / path, file.bytes);
    workload.folder = folder.path();
    const Site site = invocation.site();
    const ImageSpec spec = image.spec();
    invocation.note(fmt::format("measure  this machine in {}:{}", spec.repository, spec.tag));
    const BenchRequest request{spec, {}, workload, {}, is_stock(spec, catalogue.recipes), host, KILN_VERSION,
                               0,    "", "",       ""};
    HostRecord record = measure_host(request, invocation.step_setup(site, state));
    keep_host(state, invocation.files, record);
    doubt(record, invocation);
    return record;
  }
  throw Error(ExitCode::no_match, "none of the images is built", "run `kiln build` first");
}

}  // namespace

std::optional<HostRecord> host_rates(const HostMeasuring& asked, const HostDescription& host,
                                     Invocation& invocation) {
  std::optional<HostRecord> known = known_host(invocation.state(), invocation.files, host);
  if (!asked.measure || (known && !asked.again)) {
    if (asked.measure)
      invocation.note(fmt::format("this machine was measured on {} in {}: --again measures it anew",
                                  known->taken, known->image));
    return known;
  }
  return measure_now(asked, host, invocation);
}

}  // namespace kiln
