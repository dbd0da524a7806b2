#include "factory/cli/build_images.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <thread>

#include "factory/base/text.h"
#include "factory/cli/print.h"
#include "factory/cluster/job_request.h"
#include "factory/engine/architecture.h"
#include "factory/fetch/source_needs.h"
#include "factory/mirror/mirror_folder.h"
#include "factory/os/file_lock.h"
#include "factory/run/build.h"
#include "factory/state/lock.h"
#include "factory/state/record_store.h"
#include "factory/state/state.h"

namespace kiln {

namespace {

// What a mirror is known not to have is told before anything is built.
void need_mirror(const Catalogue& catalogue, const ImageNumbers& images, const Site& site,
                 Invocation& invocation) {
  const MirrorFolder folder(site.mirror, invocation.files);
  if (!folder.is_there())
    throw Error(ExitCode::usage, fmt::format("'{}' is no mirror: it has no mirror.json", site.mirror),
                "`kiln mirror -f MATRIX DIR` makes one, with a network");
  const StatePaths state = invocation.state();
  const SourceNeeds needs =
      source_needs(catalogue.plan, images, catalogue.recipes,
                   [&](const std::string& key) { return invocation.files.exists(state.step(key)); });
  const Mirror mirror = folder.read();
  std::vector<std::string> lines = lacking(needs, mirror);
  for (const auto& [key, item] : mirror.items) {
    const bool ours = std::ranges::any_of(
        item.cells, [&](std::uint32_t cell) { return needs.cells.contains(mirror.cells[cell]); });
    if (ours && !folder.has(item)) lines.push_back(item.name);
  }
  if (lines.empty()) return;
  for (const std::string& line : lines) tell(fmt::format("the mirror does not have {}", line));
  throw Error(ExitCode::network,
              fmt::format("--offline, and {} {} missing in {}", lines.size(),
                          lines.size() == 1 ? "source is" : "sources are", site.mirror),
              fmt::format("with a network: kiln mirror -f MATRIX {}", site.mirror));
}

std::string own_path() { return fs::read_symlink("/proc/self/exe").string(); }

}  // namespace

int jobs_of(int asked, const Site& site, const std::map<std::string, std::string>& environment) {
  return jobs_of(asked, site, environment, static_cast<int>(std::thread::hardware_concurrency()));
}

void print_build(const BuildReport& report, const std::string& format) {
  if (format == "json") return print_json(to_json(report));
  Table table({"IMAGE", "VERDICT", "REASON"});
  for (const ImageOutcome& image : report.images) {
    std::string reason = image.reason;
    if (!image.log.empty()) reason += ", log " + image.log.string();
    table.add({image.name, std::string(name_of(image.outcome)), reason});
  }
  std::size_t skipped = report.count(Outcome::skipped);
  say("{}\n{} built, {} up to date, {} failed, {} not reached{}; {} run{} in {:.1f} s\n", table.text(),
      report.count(Outcome::built), report.count(Outcome::up_to_date), report.count(Outcome::failed),
      report.count(Outcome::not_reached), skipped > 0 ? fmt::format(", {} skipped", skipped) : "",
      counted(report.steps_run, "step"),
      report.steps_fetched > 0 ? fmt::format(", {} fetched", report.steps_fetched) : "", report.seconds);
  say("{}", report.legend());
  if (skipped > 0) say("skipped: {}\n", kOtherMachines);
  if (report.steps_run == 0 && report.count(Outcome::up_to_date) == report.images.size())
    say("nothing to do\n");
}

BuildReport build_images(const Catalogue& catalogue, const ImageNumbers& images, const BuildRun& run,
                         const Site& site, Invocation& invocation) {
  const StatePaths state = invocation.state();
  if (site.launcher.slurm) check_partitions(*site.launcher.slurm, invocation.cpus(), site.file);
  if (site.offline) need_mirror(catalogue, images, site, invocation);
  Progress progress = invocation.progress();
  const auto environment = invocation.child_environment();
  const auto origin = sbom::find_origin(catalogue.recipes, invocation.runner, environment);
  {
    const FileLock turn = FileLock::acquire(state.builds_turn());  // another build may be cleaning up
    // Images that lack a format may be what another build has just made: a later build repackages them.
    if (other_builds(state, invocation.files, catalogue.plan.name()).empty())
      repackage_for_formats(site, state, invocation.files);
    RecordWriter(state, invocation.files).write_recipe_origin(catalogue.plan.name(), origin);
  }
  BuildSetup setup{catalogue.plan,    images,           catalogue.recipes, site, state, invocation.files,
                   invocation.runner, invocation.clock, environment,       {}};
  if (site.shared_steps.is_used())
    setup.open_shared = [&](const std::function<void(const std::string&)>& tell) {
      return invocation.shared_steps(site, state, tell);
    };
  const int jobs = jobs_of(run.jobs, site, invocation.environment);
  return build(setup, {jobs, !run.fail_fast, own_path(), run.no_step_after, run.fetch}, progress);
}

void look_for_room(const BuildPlan& plan, const ImageNumbers& images, const StateView& view, const Site& site,
                   const Invocation& invocation) {
  const fs::path state = invocation.state().root();
  std::error_code unknown;
  const fs::space_info space = fs::space(state, unknown);
  if (unknown) return;  // the folder is not there yet: nothing is known of any kind
  const std::string warning =
      room_warning(need_of(plan, images, view, site.sif, known_sizes(invocation.state(), invocation.files)),
                   space.available, state.string());
  if (!warning.empty()) invocation.note(warning);
}

}  // namespace kiln
