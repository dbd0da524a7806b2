#include "factory/cli/build_images.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>
#include <set>
#include <thread>

#include "factory/base/text.h"
#include "factory/cli/print.h"
#include "factory/cluster/job_place.h"
#include "factory/collect/disk_need.h"
#include "factory/engine/architecture.h"
#include "factory/fetch/source_needs.h"
#include "factory/mirror/mirror_folder.h"
#include "factory/os/file_lock.h"
#include "factory/report/sharing.h"
#include "factory/run/build.h"
#include "factory/state/formats.h"
#include "factory/state/lock.h"
#include "factory/state/record_store.h"

namespace kiln {

namespace {

// Half the processors: one image's compiler or pip already fills the other half.
int default_jobs(const Site& site, const std::map<std::string, std::string>& environment) {
  // Not left to the parser, which would refuse a wrong value to commands that have no jobs.
  if (auto named = environment.find("KILN_JOBS"); named != environment.end() && !named->second.empty()) {
    int jobs = 0;
    const std::string& text = named->second;
    auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), jobs);
    if (problem != std::errc{} || end != text.data() + text.size() || jobs < 1 || jobs > kMostJobs)
      throw Error(ExitCode::usage,
                  fmt::format("KILN_JOBS: expected a number from 1 to {}, found '{}'", kMostJobs, text));
    return jobs;
  }
  if (site.jobs > 0) return site.jobs;
  constexpr int kJobsOfSlurm = 32;  // that run or wait: what is between is Slurm's business
  if (site.launcher_config.slurm) return kJobsOfSlurm;
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()) / 2 + 1);
}

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
    const bool ours = std::any_of(item.cells.begin(), item.cells.end(), [&](std::uint32_t cell) {
      return needs.cells.contains(mirror.cells[cell]);
    });
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
  return asked > 0 ? asked : default_jobs(site, environment);
}

void print_build(const BuildReport& report, const std::string& format) {
  if (format == "json") {
    print_json(to_json(report));
    return;
  }
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
  if (site.launcher_config.slurm) check_places(*site.launcher_config.slurm, invocation.cpus(), site.file);
  if (site.offline) need_mirror(catalogue, images, site, invocation);
  Progress progress = invocation.progress();
  auto environment = invocation.child_environment();
  environment["KILN_ENGINE"] = site.engine;
  if (!site.cache.use) environment["KILN_NO_CACHE"] = "true";
  if (site.offline) {
    environment["KILN_OFFLINE"] = "true";
    environment["KILN_MIRROR"] = site.mirror;
  }
  if (!site.file.empty()) environment["KILN_SITE"] = fs::absolute(site.file).string();
  const auto origin = sbom::find_origin(catalogue.recipes, invocation.runner, invocation.child_environment());
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

namespace {

DiskNeed need_of(const BuildPlan& plan, const ImageNumbers& images, const StateView& view, const Site& site,
                 const Invocation& invocation) {
  std::set<StepTable::Number> seen;
  std::vector<std::string> steps;
  std::vector<ImageToMake> lacking;
  for (std::uint32_t number : images) {
    const ResolvedImage image = plan.image(number);
    if (view.is_whole(image)) continue;
    lacking.push_back({image.repository(), {}, site.sif});
    for (StepTable::Number step : image.steps()) {
      const StepTable::Number first = plan.steps().first(step);
      if (view.step(plan.steps().hex(first)) == NodeState::done) continue;
      const std::string& title = plan.steps().pattern(first).title;
      lacking.back().steps.push_back(title);
      if (seen.insert(first).second) steps.push_back(title);
    }
  }
  return disk_need(steps, lacking, known_sizes(invocation.state(), invocation.files));
}

}  // namespace

void look_for_room(const BuildPlan& plan, const ImageNumbers& images, const StateView& view, const Site& site,
                   const Invocation& invocation) {
  const fs::path state = invocation.state().root();
  std::error_code unknown;
  const fs::space_info space = fs::space(state, unknown);
  if (unknown) return;  // the folder is not there yet: nothing is known of any kind
  const DiskNeed need = need_of(plan, images, view, site, invocation);
  if (need.bytes <= space.available) return;
  const std::string figures = fmt::format("the disk of {} has {} free, and this build needs some {}",
                                          state.string(), size_text(space.available), size_text(need.bytes));
  if (need.least > space.available)
    throw Error(ExitCode::store, figures + ": not even its smallest image fits",
                "`kiln gc` lists what can be deleted");
  invocation.note(fmt::format(
      "warning: {}, as images of its kind did before{}; `kiln gc` lists what can be deleted", figures,
      need.unknown == 0 ? ""
                        : fmt::format(" ({} of {} are of a new kind, and not counted)", need.unknown,
                                      need.known + need.unknown)));
}

}  // namespace kiln
