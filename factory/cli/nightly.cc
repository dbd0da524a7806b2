// kiln nightly: everything that a night does, in one command, and how the last nights went.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "factory/base/quantity.h"
#include "factory/base/text.h"
#include "factory/cli/build_images.h"
#include "factory/cli/invocation.h"
#include "factory/cli/night_run.h"
#include "factory/cli/nightly_status.h"
#include "factory/cli/print.h"
#include "factory/cli/publish_to.h"
#include "factory/cli/state_lock.h"
#include "factory/cli/usage.h"
#include "factory/night/night_text.h"

namespace kiln {
namespace {

struct NightlyOptions {
  NightRequest request;
  PublishPlace asked;  // on the command line
  bool local = false;
  bool no_update = false;
  bool no_gc = false;
  bool status = false;
  std::string budget;
  std::string suite, measure_budget;
  bool measure_anyway = false;
  std::string format = "table";
};

std::chrono::seconds budget_of(const char* option, const std::string& text) {
  const auto budget = duration_of(text);
  if (!budget || budget->count() == 0)
    throw Error(ExitCode::usage, fmt::format("{}: expected a time, found '{}'", option, text),
                "a whole number and s, m, h or d, such as 6h");
  return *budget;
}

MeasureTerms measure_terms(const NightlyOptions& options, const Invocation& invocation) {
  invocation.need_file(options.suite);
  const std::string text = invocation.files.read(options.suite).value_or("");
  MeasureTerms terms{suite_from_json(JsonDocument::parse(text, options.suite).root())};
  terms.on_busy_machine = options.measure_anyway;
  if (!options.measure_budget.empty()) terms.budget = budget_of("--measure-budget", options.measure_budget);
  return terms;
}

void run_options(NightlyOptions& options, Invocation& invocation) {
  options.request.update = !options.no_update && !invocation.options.offline;
  if (invocation.options.offline && !options.no_update)
    invocation.note("--offline: the lockfile stays as it is, which moves only with a network");
  options.request.collect = !options.no_gc;
  if (!options.budget.empty()) options.request.budget = budget_of("--budget", options.budget);
  if (!options.suite.empty()) options.request.measure = measure_terms(options, invocation);
  if (!options.local) options.request.place = publish_place(options.asked, invocation);
  invocation.need_root_for_steps();
  const NightReport report = run_nightly(options.request, invocation);
  if (options.format == "json")
    print_json(to_json(report));
  else
    print_text(night_text(report));
  invocation.exit_code = static_cast<ExitCode>(report.exit_code);
}

void add_options(CLI::App& command, NightlyOptions& options, Invocation& invocation) {
  command.add_option("-f,--file", options.request.matrix, "matrix file")
      ->required()
      ->type_name("FILE")
      ->envname("KILN_FILE");
  command
      .add_option("-j,--jobs", options.request.jobs,
                  "steps at a time (default: $KILN_JOBS, else the site file's, else half the processors + 1)")
      ->check(CLI::Range(1, kMostJobs));
  command
      .add_option("--report", options.request.report,
                  "also write report.html, junit.xml and night.json to this folder")
      ->type_name("DIR");
  command
      .add_option("--to", options.asked.registry,
                  "push to this registry, as kiln publish --to (default: the site file's)")
      ->type_name("REGISTRY");
  command.add_flag("--local", options.local, "push to no registry, even if the site file names one");
  CLI::Option* key =
      command.add_option("--sign-key", options.asked.key, "sign the pushed images with this key");
  key->type_name("FILE");
  command
      .add_option("--sign-passphrase-file", options.asked.passphrase_file,
                  "file whose first line is the key's passphrase")
      ->type_name("FILE")
      ->needs(key);
  command
      .add_option("--budget", options.budget,
                  "build for this long: first stale images, then requested ones (kiln index demand), then "
                  "images that were never built")
      ->type_name("TIME");
  CLI::Option* measure = command.add_option(
      "--measure", options.suite,
      "after publishing, measure images that claim more than stock and are new or changed, against their "
      "stock images, with the workloads of this file (kiln schema suite)");
  measure->type_name("SUITE");
  command
      .add_option("--measure-budget", options.measure_budget,
                  "measure for this long: no round begins later, and the next night goes on")
      ->type_name("TIME")
      ->needs(measure);
  command
      .add_flag("--measure-anyway", options.measure_anyway,
                "measure even if other processes keep the machine busy")
      ->needs(measure);
  command.add_flag("--no-update", options.no_update, "do not change the lockfile");
  command.add_flag("--no-gc", options.no_gc, "do not collect garbage");
  command.add_flag(
      "--status", options.status,
      "run nothing, and show the last nights; exit code 1 if the last was not green or is overdue");
  command.add_option("--format", options.format, "table or json")
      ->check(CLI::IsMember({"table", "json"}))
      ->capture_default_str();
  add_wait_option(command, invocation.options);
}

}  // namespace

CLI::App* add_nightly(CLI::App& app, Invocation& invocation) {
  auto options = std::make_shared<NightlyOptions>();
  CLI::App* command = app.add_subcommand(
      "nightly", "Update the lockfile, build, test, publish, collect and report, unattended");
  add_options(*command, *options, invocation);
  command->footer(
      "kiln nightly -f matrix/demo.json\n"
      "kiln nightly -f matrix/demo.json --report public --to registry.site:5000/ai\n"
      "kiln nightly -f matrix/demo.json --status");
  command->callback([options, command, &invocation] {
    for (const char* option : {"--jobs", "--report", "--to", "--local", "--budget", "--measure",
                               "--no-update", "--no-gc", "--wait"})
      refuse_together(*command, "--status", option, "nothing is run");
    for (const char* option : {"--to", "--sign-key", "--sign-passphrase-file"})
      refuse_together(*command, "--local", option, "nothing goes to a registry");
    if (options->status) return print_night_status(options->request.matrix, options->format, invocation);
    run_options(*options, invocation);
  });
  return command;
}

}  // namespace kiln
