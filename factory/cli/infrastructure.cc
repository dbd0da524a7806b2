// kiln infrastructure: the machines that jobs go to, in the index.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "factory/base/effects.h"
#include "factory/base/json_put.h"
#include "factory/base/reading.h"
#include "factory/base/text.h"
#include "factory/cli/invocation.h"
#include "factory/cli/options.h"
#include "factory/cli/print.h"
#include "factory/cli/site_documents.h"
#include "factory/record/host_description.h"
#include "registry/deploy/deploy_site.h"
#include "registry/deploy/detected_machines.h"

namespace kiln {
namespace {

void run_import(const SiteDocumentOptions& options, Invocation& invocation) {
  std::vector<SiteDocument> documents = read_site_files({options.files, {}, {}}, invocation.files);
  const std::size_t count = documents.size();
  const std::int64_t snapshot =
      change_documents(std::move(documents), "kiln infrastructure import", invocation);
  say("snapshot {}: {} imported\n", snapshot, counted(count, "infrastructure"));
}

[[noreturn]] void unknown_infrastructure(const std::string& name, const std::vector<SiteDocument>& known) {
  std::vector<std::string> names;
  for (const SiteDocument& one : known) names.push_back(one.name);
  throw Error(ExitCode::no_match, fmt::format("the index has no infrastructure '{}'", name),
              did_you_mean(name, names));
}

void run_remove(const SiteDocumentOptions& options, Invocation& invocation) {
  const auto known = kept_documents(SiteKind::infrastructure, options.snapshot, invocation);
  if (std::ranges::none_of(known, [&](const SiteDocument& one) { return one.name == options.name; }))
    unknown_infrastructure(options.name, known);
  SiteDocument removal;
  removal.name = options.name;
  const std::int64_t snapshot =
      change_documents({std::move(removal)}, "kiln infrastructure remove", invocation);
  say("snapshot {}: {} removed\n", snapshot, options.name);
}

void run_list(const SiteDocumentOptions& options, Invocation& invocation) {
  const auto documents = kept_documents(SiteKind::infrastructure, options.snapshot, invocation);
  if (options.json)
    return print_json(
        json_list(documents, [](const SiteDocument& one) { return Json::parse(one.document); }));
  Table table({"INFRASTRUCTURE", "SCHEDULER", "PARTITIONS", "SINCE"});
  const DeploySite site(documents);
  for (const SiteDocument& one : documents) {
    const Infrastructure& machines = *site.infrastructure(one.name);
    std::string partitions;
    for (const auto& [name, partition] : machines.partitions)
      partitions +=
          fmt::format("{}{} ({})", partitions.empty() ? "" : ", ", name, counted(partition.nodes, "node"));
    table.add(
        {one.name, kSchedulers.of(machines.scheduler), partitions, fmt::format("snapshot {}", one.since)});
  }
  print_text(table.text());
}

void run_show(const SiteDocumentOptions& options, Invocation& invocation) {
  const auto known = kept_documents(SiteKind::infrastructure, options.snapshot, invocation);
  for (const SiteDocument& one : known)
    if (one.name == options.name) return print_json(Json::parse(one.document));
  unknown_infrastructure(options.name, known);
}

void run_detect(const SiteDocumentOptions& options, Invocation& invocation) {
  MachineAnswers answers;
  const auto nodes = invocation.output_of({"scontrol", "--oneliner", "show", "node"});
  if (!nodes && invocation.runner.find_program("scontrol"))
    invocation.note("note: scontrol does not answer: the nodes and partitions of Slurm are left out");
  answers.nodes = nodes.value_or("");
  answers.partitions = invocation.output_of({"scontrol", "--oneliner", "show", "partition"}).value_or("");
  answers.gpus = invocation.output_of({"nvidia-smi", "--query-gpu=name,compute_cap", "--format=csv,noheader"})
                     .value_or("");
  answers.host = detect_host(invocation.files, invocation.cpus());
  if (!options.labels.empty()) {
    constexpr JsonLimits kLimits{.bytes = 64u << 20, .members = 5'000'000};  // of some thousands of nodes
    answers.labelled = read_labelled_nodes(read_document(invocation.files, options.labels, kLimits).root());
  }
  const std::string whole = host_name();
  answers.host_name = whole.substr(0, whole.find('.'));  // as slurmd takes it (gethostname_short)
  const std::string name = options.name.empty() ? answers.host_name : options.name;
  const DetectedMachines found = detected_machines(answers, name, invocation.cpus());
  // What was printed can be imported.
  read_site_document(SiteKind::infrastructure,
                     JsonDocument::parse(found.infrastructure.dump(), "detect").root());
  for (const std::string& note : found.notes) invocation.note("note: " + note);
  print_json(found.infrastructure);
}

}  // namespace

CLI::App* add_infrastructure(CLI::App& app, Invocation& invocation) {
  auto options = std::make_shared<SiteDocumentOptions>();
  CLI::App* command =
      add_below(app, "infrastructure", "Keep the machines that jobs go to in the registry index",
                "kiln infrastructure detect --name hlrs >hlrs.json\n"
                "kiln infrastructure import hlrs.json\n"
                "kiln job --dsl job.json --infrastructure hlrs");
  command->require_subcommand(1);
  CLI::App* importing = add_below(*command, "import", "Import infrastructures, as a new snapshot",
                                  "kiln infrastructure import cluster.json");
  add_value(*importing, "files", options->files, "FILE",
            "JSON as MODAK has it, one infrastructure or an array")
      ->required();
  add_wait_option(*importing, invocation.options);
  importing->callback([options, &invocation] { run_import(*options, invocation); });
  CLI::App* list =
      add_below(*command, "list", "List the infrastructures of a snapshot", "kiln infrastructure list");
  list->add_flag("--json", options->json, "print them as a JSON array");
  add_snapshot_option(*list, options->snapshot)->check(CLI::Range(1, 1'000'000'000));
  list->callback([options, &invocation] { run_list(*options, invocation); });
  CLI::App* show = add_below(*command, "show", "Print one infrastructure, as JSON",
                             "kiln infrastructure show hlrs >hlrs.json");
  add_value(*show, "name", options->name, "NAME", "its name")->required();
  add_snapshot_option(*show, options->snapshot)->check(CLI::Range(1, 1'000'000'000));
  show->callback([options, &invocation] { run_show(*options, invocation); });
  CLI::App* remove = add_below(*command, "remove", "Remove an infrastructure, as a new snapshot",
                               "kiln infrastructure remove hlrs");
  add_value(*remove, "name", options->name, "NAME", "its name")->required();
  add_wait_option(*remove, invocation.options);
  remove->callback([options, &invocation] { run_remove(*options, invocation); });
  CLI::App* detect =
      add_below(*command, "detect", "Describe the machines of this site's Slurm, or this machine, as JSON",
                "kiln infrastructure detect --name hlrs >hlrs.json");
  add_value(*detect, "--name", options->name, "NAME", "its name (default: that of this machine)");
  add_value(*detect, "--labels", options->labels, "FILE",
            "output of `kubectl get nodes -o json`: NFD's labels name processors and GPUs");
  detect->callback([options, &invocation] { run_detect(*options, invocation); });
  return command;
}

}  // namespace kiln
