// kiln build: everything that is not built yet, in parallel; one broken image never stops the others.
#include "image/build.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <thread>

#include "cli/invocation.h"
#include "cli/table.h"
#include "image/lock.h"

namespace kiln {
namespace {

struct Options {
  std::string matrix;
  std::vector<std::string> cells;
  std::string format = "table";
  int jobs = 0;
  bool keep_going = true;
  bool fail_fast = false;
  bool dry_run = false;
};

// Half the processors: one image's compiler or pip already fills the other half.
int default_jobs(const Site& site) {
  if (site.jobs > 0) return site.jobs;
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()) / 2 + 1);
}

void print_report(const BuildReport& report, const Options& options) {
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
  fmt::print("{}\n{} built, {} up to date, {} failed, {} not reached; {} steps run in {:.1f} s\n",
             table.text(), report.count(Verdict::built), report.count(Verdict::up_to_date),
             report.count(Verdict::failed), report.count(Verdict::not_reached), report.steps_run,
             report.seconds);
  if (report.steps_run == 0 && report.count(Verdict::up_to_date) == report.images.size())
    fmt::print("nothing to do\n");
}

void print_dry_run(const BuildPlan& plan, const std::vector<std::string>& ids, const StatePaths& state,
                   const FileSystem& files) {
  for (const PlannedImage& image : plan.images) {
    if (std::find(ids.begin(), ids.end(), image.spec.request.id) == ids.end()) continue;
    if (is_built(image, state, files)) continue;
    fmt::print("{}:{}\n", image.spec.repository, image.spec.tag);
    for (const std::string& key : image.steps)
      if (!files.exists(state.step(key)))
        fmt::print("  {}  {}\n", key.substr(0, 12), plan.steps.at(key).title);
  }
}

std::string own_path() { return fs::read_symlink("/proc/self/exe").string(); }

void run(const Options& options, Invocation& invocation) {
  Catalogue catalogue = invocation.load(options.matrix);
  auto ids = choose_cells(catalogue.plan, options.cells);
  StatePaths state = invocation.state();
  if (options.dry_run) return print_dry_run(catalogue.plan, ids, state, invocation.files);
  invocation.need_root_or_namespace();
  Site site = invocation.site();
  StateLock lock(state.lock(), invocation.clock, "kiln build of " + catalogue.plan.name);
  Progress progress = invocation.progress();
  auto environment = invocation.child_environment();
  if (!site.file.empty()) environment["KILN_SITE"] = fs::absolute(site.file).string();
  BuildSetup setup{
      catalogue.plan,   ids,        catalogue.recipes, site, state, invocation.files, invocation.runner,
      invocation.clock, environment};
  BuildReport report =
      build(setup, {options.jobs > 0 ? options.jobs : default_jobs(site), !options.fail_fast, own_path()},
            progress);
  print_report(report, options);
  invocation.exit_code = report.exit_code();
}

}  // namespace

CLI::App* add_build(CLI::App& app, Invocation& invocation) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("build", "Build, test and package the images of a matrix");
  command->add_option("-f,--file", options->matrix, "matrix file")->required()->type_name("FILE");
  command->add_option(
      "cells", options->cells,
      "cell patterns, one of which must match: a glob over the id, or axis=value (default: all)");
  command
      ->add_option("-j,--jobs", options->jobs,
                   "steps at a time (default: the site file's, else half the processors + 1)")
      ->check(CLI::Range(1, 1024));
  command->add_flag("-k,--keep-going", options->keep_going,
                    "go on with other images when one fails (the default)");
  command->add_flag("--fail-fast", options->fail_fast, "start nothing new after the first failure");
  command->add_flag("-n,--dry-run", options->dry_run, "list the steps that would run");
  command->add_option("--format", options->format, "table or json")->check(CLI::IsMember({"table", "json"}));
  command->callback([options, &invocation] { run(*options, invocation); });
  return command;
}

}  // namespace kiln
