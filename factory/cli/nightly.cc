// kiln nightly: everything that a night does, in one command, and how the last nights went.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>

#include "factory/app/night_watch.h"
#include "factory/base/reading.h"
#include "factory/base/text.h"
#include "factory/cli/build_images.h"
#include "factory/cli/invocation.h"
#include "factory/cli/night_work.h"
#include "factory/cli/options.h"
#include "factory/cli/print.h"
#include "factory/cli/publication.h"
#include "factory/night/lease.h"
#include "factory/night/night.h"
#include "factory/night/night_files.h"
#include "factory/night/night_text.h"
#include "factory/recipe/matrix.h"

namespace kiln {
namespace {

constexpr std::size_t kNights = 14;

Json status_json(const std::vector<PastNight>& nights, const std::string& runs, const std::string& trouble) {
  Json json{{"trouble", trouble}, {"runs", runs}, {"nights", Json::array()}};
  for (const PastNight& night : nights)
    json["nights"].push_back({{"number", night.number},
                              {"state", name_of(night.state)},
                              {"started", rfc3339(night.started)},
                              {"ended", rfc3339(night.ended)},
                              {"snapshot", night.snapshot},
                              {"headline", night.headline}});
  return json;
}

void print_table(const std::vector<PastNight>& nights) {
  Table table({"NIGHT", "BEGAN", "STATE", "SNAPSHOT", "IMAGES", "NOT GOOD"});
  for (const PastNight& night : nights) {
    table.add({std::to_string(night.number), rfc3339(night.started), std::string(name_of(night.state)),
               night.snapshot == 0 ? "-" : std::to_string(night.snapshot), std::to_string(night.images),
               std::to_string(night.images - night.good)});
  }
  table.print();
}

// How the last nights of a matrix went. For whoever watches from outside: exit code 1 when the last was not
// green, when the next is overdue, and when there was none.
void print_night_status(const std::string& matrix, const std::string& format, Invocation& invocation) {
  invocation.need_file(matrix);
  const StatePaths state = invocation.state();
  const std::string name = read_matrix(invocation.files, matrix).name;
  const NightFolder folder(state, name, invocation.files);
  NightWatch watch;
  // Looked at twice: a night may begin or end while the lease is read.
  watch.begun = folder.begun();
  watch.holder = Lease::holder(state.nights_lease());
  const auto again = folder.begun();
  if (!again || !watch.begun || again->number != watch.begun->number) watch.begun.reset();
  std::vector<PastNight>& nights = watch.nights;
  folder.each_past(
      [&](PastNight past) {
        nights.push_back(std::move(past));
        return nights.size() < kNights;
      },
      &watch.damaged);
  std::ranges::reverse(nights);
  watch.now = invocation.clock.unix_seconds();
  const std::string runs = watch.holder ? watch.holder->holder : "";
  const std::string trouble = trouble_of(watch, invocation.site().night);
  if (format == "json") {
    print_json(status_json(nights, runs, trouble));
  } else {
    if (!nights.empty()) print_table(nights);
    if (!runs.empty()) say("now: {}\n", runs);
    say("{}\n", trouble.empty() ? "all is well" : trouble);
  }
  if (!trouble.empty()) invocation.exit_code = ExitCode::images_failed;
}

struct NightlyOptions {
  NightRequest request;
  PublishDestination asked;  // on the command line
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
  MeasureTerms terms{suite_from_json(read_document(invocation.files, options.suite).root())};
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
  if (!options.local) options.request.place = chosen_place(site_place(invocation.site()), options.asked);
  invocation.need_root_for_steps();
  const NightReport report = run_nightly(options.request, invocation);
  if (options.format == "json")
    print_json(to_json(report));
  else
    print_text(night_text(report));
  invocation.exit_code = static_cast<ExitCode>(report.exit_code);
}

void add_options(CLI::App& command, NightlyOptions& options, Invocation& invocation) {
  add_matrix_option(command, options.request.matrix);
  add_jobs_option(command, options.request.jobs);
  add_value(command, "--report", options.request.report, "DIR",
            "also write report.html, junit.xml and night.json to this folder");
  add_value(command, "--to", options.asked.registry, "REGISTRY",
            "push to this registry, as kiln publish --to (default: the site file's)");
  command.add_flag("--local", options.local, "push to no registry, even if the site file names one");
  CLI::Option* key =
      add_value(command, "--sign-key", options.asked.key, "FILE", "sign the pushed images with this key");
  add_value(command, "--sign-passphrase-file", options.asked.passphrase_file, "FILE",
            "file whose first line is the key's passphrase")
      ->needs(key);
  add_value(command, "--budget", options.budget, "TIME",
            "build for this long: first stale images, then requested ones (kiln index demand), then "
            "images that were never built");
  CLI::Option* measure = add_value(
      command, "--measure", options.suite, "SUITE",
      "after publishing, measure images that claim more than stock and are new or changed, against their "
      "stock images, with the workloads of this file (kiln schema suite)");
  add_value(command, "--measure-budget", options.measure_budget, "TIME",
            "measure for this long: no round begins later, and the next night goes on")
      ->needs(measure);
  command
      .add_flag("--measure-anyway", options.measure_anyway,
                "measure even if other processes keep the machine busy")
      ->needs(measure);
  command.add_flag("--no-update", options.no_update, "do not change the lockfile");
  command.add_flag("--no-gc", options.no_gc, "do not collect garbage");
  command.add_flag(
      "--status", options.status,
      "run nothing, and show the last nights; exit code 1 unless the last one ended green and the next "
      "is not overdue");
  add_format_option(command, options.format);
  add_wait_option(command, invocation.options);
}

}  // namespace

CLI::App* add_nightly(CLI::App& app, Invocation& invocation) {
  auto options = std::make_shared<NightlyOptions>();
  CLI::App* command =
      add_below(app, "nightly", "Update the lockfile, build, test, publish, collect and report, unattended",
                "kiln nightly -f matrix/demo.json\n"
                "kiln nightly -f matrix/demo.json --report public --to registry.site:5000/ai\n"
                "kiln nightly -f matrix/demo.json --status");
  add_options(*command, *options, invocation);
  command->callback([options, command, &invocation] {
    for (const char* option : {"--jobs", "--report", "--to", "--local", "--budget", "--measure",
                               "--no-update", "--no-gc", "--wait"})
      refuse_together(*command, "--status", option, "nothing is run");
    for (const char* option : {"--to", "--sign-key", "--sign-passphrase-file"})
      refuse_together(*command, "--local", option, "nothing is pushed to a registry");
    if (options->status) return print_night_status(options->request.matrix, options->format, invocation);
    run_options(*options, invocation);
  });
  return command;
}

}  // namespace kiln
