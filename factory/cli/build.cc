// kiln build: everything that is not built yet, in parallel; one broken image never stops the others.
#include "factory/run/build.h"

#include <set>

#include "factory/base/text.h"
#include "factory/cli/build_images.h"
#include "factory/cli/invocation.h"
#include "factory/cli/options.h"
#include "factory/cli/print.h"
#include "factory/cli/state_lock.h"
#include "factory/run/cell_state.h"
#include "factory/state/state.h"

namespace kiln {
namespace {

struct BuildRequest : CellOptions {
  std::string format = "table";
  int jobs = 0;
  bool keep_going = true;
  bool fail_fast = false;
  bool dry_run = false;
};

// Each step once, under the first image that needs it.
void print_dry_run(const BuildPlan& plan, const ChosenCells& chosen, const StateView& view,
                   Invocation& invocation) {
  std::set<std::string> listed;
  std::size_t missing = 0;
  auto list = [&](const std::vector<StepTable::Number>& steps) {
    for (StepTable::Number step : steps) {
      const std::string key = plan.steps().hex(step);
      const Step& pattern = plan.steps().pattern(plan.steps().first(step));
      if (listed.insert(key).second)
        say("{:<6} {}  {}\n", pattern.kind == StepKind::test ? "test" : "step", key.substr(0, 12),
            pattern.title);
    }
  };
  for (std::uint32_t number : chosen.images) {
    const ResolvedImage image = plan.image(number);
    if (view.is_whole(image)) continue;
    ++missing;
    list(view.to_run(image));
    say("{:<6} {}  {}\n", "image", image.key().substr(0, 12), image.reference());
  }
  for (std::uint32_t number : chosen.broken) {
    const BrokenCell cell = plan.broken(number);
    say("broken {}  {}\n", cell.request.id, cell.why.format(""));
    invocation.exit_code = ExitCode::images_failed;
  }
  if (missing > 0)
    say("{}, {}\n", counted(listed.size(), "step or test", "steps and tests"), counted(missing, "image"));
  else if (chosen.broken.empty())
    say("nothing to do\n");
}

// Images that lack a format are taken away while no other build may need them.
void repackage_alone(const Site& site, const Invocation& invocation) {
  const StatePaths state = invocation.state();
  RealFileSystem files;
  if (has_formats(site, state, files) || files.list(state.built_folder()).empty()) return;
  const WriterLock alone = lock_state(invocation, "kiln build, for the formats of its images");
  repackage_for_formats(site, state, files);
}

void run_build(const CLI::App& command, const BuildRequest& options, Invocation& invocation) {
  refuse_together(command, "--keep-going", "--fail-fast");
  refuse_together(command, "--dry-run", "--format",
                  "`kiln plan --format json` has the states of all cells and steps");
  refuse_together(command, "--dry-run", "--fail-fast", "nothing is run");
  refuse_together(command, "--dry-run", "--wait", "no lock is taken");
  const double start = invocation.clock.monotonic_seconds();
  const StatePaths state = invocation.state();
  StateNames names(state, invocation.files);
  names.look_ahead();
  const Catalogue catalogue = invocation.load(options.matrix);
  const BuildPlan& plan = catalogue.plan;
  const ChosenCells chosen = choose_cells(plan, options, invocation);
  const Site site = invocation.site();
  const StateView view(plan, site, state, invocation.files, names);
  if (options.dry_run) {
    print_dry_run(plan, chosen, view, invocation);
    return look_for_room(plan, chosen.images, view, site, invocation);
  }
  // No lock is taken for it. What no run has looked at since the site's formats changed is looked at below.
  if (has_formats(site, state, invocation.files)) {
    if (auto report = nothing_to_do(plan, chosen.images, view)) {
      add_broken(plan, chosen, *report);
      view.keep(invocation.files);
      restore_plan(plan, state, invocation.files, [&](const std::string& line) { invocation.note(line); });
      report->seconds = invocation.clock.monotonic_seconds() - start;
      print_build(*report, options.format);
      invocation.exit_code = report->exit_code();
      return;
    }
  }
  invocation.need_root_for_steps();
  repackage_alone(site, invocation);
  const BuildLocks locks = lock_for_build(invocation, plan.name());
  look_for_room(plan, chosen.images, view, site, invocation);
  BuildReport report =
      build_images(catalogue, chosen.images, {options.jobs, options.fail_fast}, site, invocation);
  add_broken(plan, chosen, report);
  print_build(report, options.format);
  if (!report.stopped.empty() && !report.interrupted)
    throw Error(report.exit_code(), report.stopped, "finished steps stay: run `kiln build` again");
  invocation.exit_code = report.exit_code();
}

}  // namespace

CLI::App* add_build(CLI::App& app, Invocation& invocation) {
  auto options = std::make_shared<BuildRequest>();
  CLI::App* command =
      add_below(app, "build", "Build, test and package the images of a matrix",
                "kiln build -f matrix/demo.json\n"
                "kiln build -f matrix/demo.json -j 4 framework=pytorch --exclude 'compiler=*xla*'\n"
                "kiln build -f matrix/demo.json --dry-run");
  add_cell_options(*command, *options);
  add_jobs_option(*command, options->jobs);
  command->add_flag("-k,--keep-going", options->keep_going,
                    "continue with other images when one fails (the default)");
  command->add_flag("--fail-fast", options->fail_fast, "start nothing new after the first failure");
  command->add_flag("-n,--dry-run", options->dry_run,
                    "list the steps, tests and images that kiln would make");
  add_wait_option(*command, invocation.options);
  add_format_option(*command, options->format);
  command->callback([options, command, &invocation] { run_build(*command, *options, invocation); });
  return command;
}

}  // namespace kiln
