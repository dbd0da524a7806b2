// kiln host: this machine, as `kiln select --host` reads it elsewhere.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "factory/app/ready_workload.h"
#include "factory/base/text.h"
#include "factory/cli/bench.h"
#include "factory/cli/invocation.h"
#include "factory/cli/options.h"
#include "factory/cli/print.h"
#include "factory/cli/state_lock.h"
#include "factory/run/bench.h"
#include "factory/state/state_names.h"

namespace kiln {
namespace {

struct HostMeasuring : CellOptions {
  bool measure = false;
  bool again = false;  // also where this machine is known
};

void need_host_rates(const RecipeBook& recipes) {
  if (recipes.find(Kind::workload, kHostRates) != nullptr) return;
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
  need_host_rates(catalogue.recipes);
  const StatePaths state = invocation.state();
  StateNames names(state, invocation.files);
  for (std::uint32_t number : chosen.images) {
    const ResolvedImage image = catalogue.plan.image(number);
    if (!names.is_built(image, catalogue.plan.steps())) continue;
    const WriterLock lock = lock_state(invocation, "kiln host --measure");
    const ReadyWorkload workload(catalogue.recipes, kHostRates, invocation.files);
    const Site site = invocation.site();
    const ImageSpec spec = image.spec();
    invocation.note(fmt::format("measure  this machine in {}:{}", spec.repository, spec.tag));
    const BenchRequest request{
        spec, {}, workload.recipe, {}, is_stock(spec, catalogue.recipes), host, KILN_VERSION, 0, "", "", ""};
    HostRecord record = measure_host(request, invocation.step_setup(site, state));
    keep_host(state, invocation.files, record);
    doubt(record, invocation);
    return record;
  }
  throw Error(ExitCode::no_match, "none of the images is built", "run `kiln build` first");
}

// What the state folder knows of `host`; measured before that in the first of the chosen images that is
// built, when asked for and not known. It prints its progress on stderr. nullopt: the host is not measured.
// Throws Error(no_match) when none of the images is built, and as measure_host().
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

Json value_of(const std::string& key, const std::string& text) {
  if (key == "features" || key == "accelerators") {
    Json list = Json::array();
    for (std::string_view item : split(text, ','))
      if (!item.empty()) list.push_back(std::string(item));
    return list;
  }
  if (key != "cores" && key != "memory_bytes") return text;
  Json number = Json::parse(text, nullptr, false);
  if (number.is_number_integer()) return number;
  throw Error(ExitCode::usage, fmt::format("--set {}: '{}' is no number", key, text));
}

// KEY=VALUE over what was detected; KEY= takes it away.
void set(Json& host, const std::string& said) {
  const auto [key, text] = assignment(said, "KEY=VALUE", "driver=535.104.05 or accelerators=nvidia:sm_90");
  if (text.empty())
    host.erase(key);
  else
    host[key] = value_of(key, text);
}

void add_measuring(CLI::App& command, HostMeasuring& measuring, Invocation& invocation) {
  auto* measure = command.add_flag("--measure", measuring.measure,
                                   "measure memory, arithmetic and disk once on each machine, in the first "
                                   "chosen image that is built; the state folder keeps the rates");
  add_cell_options(command, measuring);
  for (const char* name : {"--file", "--only", "--exclude", "cells"})
    command.get_option(name)->required(false)->needs(measure);
  command.get_option("--file")->envname("");
  measure->needs(command.get_option("--file"));
  command.add_flag("--again", measuring.again, "measure again even if the rates are known")->needs(measure);
  add_wait_option(command, invocation.options);
}

}  // namespace

CLI::App* add_host(CLI::App& app, Invocation& invocation) {
  CLI::App* command =
      add_below(app, "host", "Describe this machine, for `kiln select --host FILE` elsewhere",
                "kiln host >node.json\n"
                "kiln host --measure -f matrix/demo.json framework=pytorch >node.json\n"
                "kiln host --set accelerators=nvidia:sm_90,nvidia:sm_90 --set mpi=openmpi@4.1.6 >node.json\n"
                "kiln select --dsl job.json --host node.json");
  auto assignments = std::make_shared<std::vector<std::string>>();
  auto measuring = std::make_shared<HostMeasuring>();
  add_list(*command, "--set", *assignments, "KEY=VALUE",
           "override a detected value: driver=535.104.05, mpi=openmpi@4.1.6; lists "
           "with commas; an empty value removes the key");
  add_measuring(*command, *measuring, invocation);
  command->callback([assignments, measuring, &invocation] {
    HostDescription found = detect_host(invocation.files, invocation.cpus());
    if (auto measured = host_rates(*measuring, found, invocation)) found.rates = measured->host.rates;
    Json host = to_json(found);
    for (const std::string& assignment : *assignments) set(host, assignment);
    const JsonDocument document = JsonDocument::parse(host.dump(), "kiln host");
    print_members(to_json(read_host(document.root(), invocation.cpus())));
  });
  return command;
}

}  // namespace kiln
