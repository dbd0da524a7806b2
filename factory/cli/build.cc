// kiln build: everything that is not built yet, in parallel; one broken image never stops the others.
#include "image/build.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>
#include <set>
#include <thread>

#include "cli/cell_options.h"
#include "cli/documents_step.h"
#include "cli/invocation.h"
#include "cli/sif_step.h"
#include "cli/standing.h"
#include "cli/table.h"
#include "cli/usage.h"
#include "image/architecture.h"
#include "image/lock.h"
#include "image/state_names.h"
#include "plan/planner.h"

namespace kiln {
namespace {

struct BuildRequest : CellOptions {
  std::string format = "table";
  int jobs = 0;
  bool keep_going = true;
  bool fail_fast = false;
  bool dry_run = false;
};

constexpr int kMostJobs = 1024;

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
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()) / 2 + 1);
}

void print_report(const BuildReport& report, const BuildRequest& options) {
  if (options.format == "json") {
    fmt::print("{}\n", to_json(report).dump(2));
    return;
  }
  Table table({"IMAGE", "VERDICT", "REASON"});
  for (const ImageVerdict& image : report.images) {
    std::string reason = image.reason;
    if (!image.log.empty()) reason += ", log " + image.log.string();
    table.add({image.name, std::string(name_of(image.verdict)), reason});
  }
  std::size_t skipped = report.count(Verdict::skipped);
  fmt::print("{}\n{} built, {} up to date, {} failed, {} not reached{}; {} steps run in {:.1f} s\n",
             table.text(), report.count(Verdict::built), report.count(Verdict::up_to_date),
             report.count(Verdict::failed), report.count(Verdict::not_reached),
             skipped > 0 ? fmt::format(", {} skipped", skipped) : "", report.steps_run, report.seconds);
  if (skipped > 0) fmt::print("skipped: {}\n", kOtherMachines);
  if (report.steps_run == 0 && report.count(Verdict::up_to_date) == report.images.size())
    fmt::print("nothing to do\n");
}

// Each step once, under the first image that needs it.
void print_dry_run(const BuildPlan& plan, const CellChoice& choice, const StateView& view) {
  std::set<std::string> listed;
  std::size_t images = 0;
  for (const PlannedImage* image : choice.images) {
    if (view.is_whole(*image)) continue;
    ++images;
    for (const auto* keys : {&image->steps, &image->tests})
      for (const std::string& key : *keys)
        if (view.step(key) != NodeState::done && listed.insert(key).second)
          fmt::print("{:<6} {}  {}\n", keys == &image->tests ? "test" : "step", key.substr(0, 12),
                     plan.steps.at(key).title);
    fmt::print("{:<6} {}  {}:{}\n", "image", image->spec.key.substr(0, 12), image->spec.repository,
               image->spec.tag);
  }
  if (images == 0)
    fmt::print("nothing to do\n");
  else
    fmt::print("{} steps and tests, {} images\n", listed.size(), images);
}

// The report when every image of the matrix is built; nothing else is looked into, and no lock is taken.
std::optional<BuildReport> nothing_to_do(const std::string& matrix, Invocation& invocation) {
  double start = invocation.clock.monotonic_seconds();
  CatalogueFiles read = invocation.read(matrix);
  Planner planner(read.matrix, {read.recipes, read.targets, invocation.cpus()});
  StatePaths paths = invocation.state();
  if (!has_formats(invocation.site(), paths, invocation.files)) return std::nullopt;
  StateNames names(paths, invocation.files);
  BuildReport report;
  while (planner.next()) {
    if (!names.is_built(planner.record_name(), planner.repository(), planner.immutable_tag()))
      return std::nullopt;
    report.images.push_back({planner.request().id,
                             planner.repository() + ":" + planner.tag(),
                             planner.key(),
                             Verdict::up_to_date,
                             "",
                             {}});
  }
  if (report.images.empty()) return std::nullopt;
  invocation.note_plan(read.matrix.name, planner.warnings(), planner.images(), planner.excluded());
  report.seconds = invocation.clock.monotonic_seconds() - start;
  return report;
}

std::string own_path() { return fs::read_symlink("/proc/self/exe").string(); }

void run_build(const CLI::App& command, const BuildRequest& options, Invocation& invocation) {
  refuse_together(command, "--keep-going", "--fail-fast");
  refuse_together(command, "--dry-run", "--format",
                  "`kiln plan --format json` has the states of all cells and steps");
  refuse_together(command, "--dry-run", "--fail-fast", "nothing is run");
  if (options.every_cell() && !options.dry_run && !invocation.has_lockfile(options.matrix))
    if (auto report = nothing_to_do(options.matrix, invocation)) return print_report(*report, options);
  Catalogue catalogue = invocation.load(options.matrix);
  CellChoice choice = choose_cells(catalogue.plan, options, invocation);
  auto ids = choice.ids();
  StatePaths state = invocation.state();
  Site site = invocation.site();
  if (options.dry_run)
    return print_dry_run(catalogue.plan, choice,
                         StateView(catalogue.plan.name, site, state, invocation.files));
  invocation.need_root_or_namespace();
  StateLock lock(state.lock(), invocation.clock, "kiln build of " + catalogue.plan.name);
  repackage_for_formats(site, state, invocation.files);
  Progress progress = invocation.progress();
  auto environment = invocation.child_environment();
  if (!site.file.empty()) environment["KILN_SITE"] = fs::absolute(site.file).string();
  keep_recipe_origin(catalogue.plan.name, catalogue.recipes, invocation);
  BuildSetup setup{
      catalogue.plan,   ids,        catalogue.recipes, site, state, invocation.files, invocation.runner,
      invocation.clock, environment};
  BuildReport report = build(setup,
                             {options.jobs > 0 ? options.jobs : default_jobs(site, invocation.environment),
                              !options.fail_fast, own_path()},
                             progress);
  print_report(report, options);
  invocation.exit_code = report.exit_code();
}

}  // namespace

CLI::App* add_build(CLI::App& app, Invocation& invocation) {
  auto options = std::make_shared<BuildRequest>();
  CLI::App* command = app.add_subcommand("build", "Build, test and package the images of a matrix");
  add_cell_options(*command, *options);
  command
      ->add_option(
          "-j,--jobs", options->jobs,
          "steps at a time (default: $KILN_JOBS, else the site file's, else half the processors + 1)")
      ->check(CLI::Range(1, kMostJobs));
  command->add_flag("-k,--keep-going", options->keep_going,
                    "go on with other images when one fails (the default)");
  command->add_flag("--fail-fast", options->fail_fast, "start nothing new after the first failure");
  command->add_flag("-n,--dry-run", options->dry_run, "list the steps, tests and images that would be made");
  command->add_option("--format", options->format, "table or json")
      ->check(CLI::IsMember({"table", "json"}))
      ->capture_default_str();
  command->footer(
      "kiln build -f matrix/demo.json\n"
      "kiln build -f matrix/demo.json -j 4 framework=pytorch --exclude 'compiler=*xla*'\n"
      "kiln build -f matrix/demo.json --dry-run");
  command->callback([options, command, &invocation] { run_build(*command, *options, invocation); });
  return command;
}

}  // namespace kiln
