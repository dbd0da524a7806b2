// kiln gc: what is not needed any more goes; first it is only told.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "factory/app/collection.h"
#include "factory/base/json_put.h"
#include "factory/base/reading.h"
#include "factory/base/text.h"
#include "factory/cli/collection.h"
#include "factory/cli/invocation.h"
#include "factory/cli/options.h"
#include "factory/cli/print.h"
#include "factory/cli/state_lock.h"
#include "factory/collect/collect.h"
#include "factory/collect/survey.h"
#include "factory/report/plan_graph.h"

namespace kiln {
namespace {

struct GcOutput {
  std::string format = "table";  // or json
  bool verbose = false;          // each thing, not only each kind
};

std::string size_or_blank(std::uint64_t bytes) { return bytes == 0 ? "" : size_text(bytes); }

// Right-aligned in its column.
std::string padded(const std::string& text, std::size_t width) { return fmt::format("{:>{}}", text, width); }

void print_groups(const std::vector<Garbage>& garbage) {
  constexpr std::size_t kSize = 10;
  constexpr std::size_t kCount = 6;
  Table table({"WHAT", padded("COUNT", kCount), padded("SIZE", kSize), "WHY"});
  for (const GarbageGroup& group : groups_of(garbage))
    table.add({name_of(group.kind), padded(std::to_string(group.count), kCount),
               padded(size_or_blank(group.bytes), kSize), group.why});
  table.print();
}

void print_each(const std::vector<Garbage>& garbage) {
  constexpr std::size_t kSize = 10;
  Table table({"WHAT", "NAME", padded("SIZE", kSize), "WHY"});
  for (const Garbage& one : garbage)
    table.add({name_of(one.kind), one.name, padded(size_or_blank(one.bytes), kSize), one.why});
  table.print();
}

Json to_json(const std::vector<Garbage>& garbage) {
  return json_list(garbage, [](const Garbage& one) {
    return Json{{"kind", name_of(one.kind)}, {"name", one.name}, {"why", one.why}, {"bytes", one.bytes}};
  });
}

Json to_json(const Survey& survey, bool removed) {
  Json kept = json_list(survey.roots.snapshots, [](const auto& snapshot) {
    return Json{{"number", snapshot.first}, {"why", snapshot.second}};
  });
  return {{"deleted", removed},
          {"bytes", bytes_of(survey.garbage)},
          {"garbage", to_json(survey.garbage)},
          {"kept_snapshots", std::move(kept)},
          {"notes", survey.notes}};
}

// Of each kind and reason how many there are and what the disk gets back. `removed`: it is gone by now.
void print_garbage(const Survey& survey, const GcOutput& output, bool removed) {
  if (output.format == "json") return print_json(to_json(survey, removed));
  const std::string kept =
      survey.roots.snapshots.empty() ? "" : counted(survey.roots.snapshots.size(), "snapshot") + " kept; ";
  if (survey.garbage.empty()) return say("{}nothing to collect\n", kept);
  if (output.verbose)
    print_each(survey.garbage);
  else
    print_groups(survey.garbage);
  const std::string size = size_text(bytes_of(survey.garbage));
  if (removed) return say("\n{}{} freed\n", kept, size);
  say("\n{}{} to free; nothing is changed: `kiln gc --delete` does it\n", kept, size);
}

void print_contents(const StateContents& contents, const GcOutput& output, bool removed) {
  if (output.format == "json")
    return print_json({{"deleted", removed},
                       {"bytes", bytes_of(contents.parts)},
                       {"parts", to_json(contents.parts)},
                       {"left", contents.unknown}});
  std::map<std::string, std::uint64_t> sizes;
  for (const Garbage& part : contents.parts) sizes[part.why] += part.bytes;
  constexpr std::size_t kSize = 10;
  Table table({padded("SIZE", kSize), "WHAT"});
  for (const auto& [what, bytes] : sizes) table.add({padded(size_or_blank(bytes), kSize), what});
  if (!sizes.empty()) table.print();
  for (const std::string& name : contents.unknown) say("{} is not kiln's, and stays\n", name);
  const std::string size = size_text(bytes_of(contents.parts));
  if (contents.parts.empty()) return say("nothing to collect\n");
  if (removed) return say("\n{} freed: the state folder is empty\n", size);
  say("\nall of it, {}; nothing is changed: `kiln gc --all --delete` does it\n", size);
}

struct GcRequest {
  std::string keep_for, keep_steps_for;  // "": the site's
  int keep_snapshots = 0;                // 0: the site's
  std::vector<std::string> keep;         // beside the site's
  bool remove = false;
  bool dry_run = false;
  bool all = false;
  bool in_registry = false;
  std::string registry;  // "": the site's
  bool shared_steps = false;
  GcOutput output;
};

std::chrono::seconds age_from(const std::string& text, const char* option) {
  if (auto age = duration_of(text)) return *age;
  throw Error(ExitCode::usage, fmt::format("{}: expected an age, found '{}'", option, text),
              "a whole number and s, m, h or d, such as 30d");
}

Retention chosen_retention(const GcRequest& request, const Site& site) {
  RetentionWishes wishes{{}, {}, request.keep_snapshots, request.keep};
  if (!request.keep_for.empty()) wishes.keep_for = age_from(request.keep_for, "--keep-for");
  if (!request.keep_steps_for.empty())
    wishes.keep_steps_for = age_from(request.keep_steps_for, "--keep-steps-for");
  return retention_of(site.retention, wishes);
}

void need_state(const StatePaths& state, const Invocation& invocation) {
  if (!invocation.files.is_directory(state.root()))
    throw Error(ExitCode::store, "there is no state folder " + state.root().string(),
                "name another one with --state");
  need_state_folder(state, invocation.files);
}

// "" where nothing is collected in a registry.
std::string registry_of(const GcRequest& request, const Invocation& invocation) {
  const bool wanted = request.in_registry || invocation.site().collect_registry;
  return wanted ? registry_to_collect(request.registry, invocation) : "";
}

void print(const GarbageFound& found, const GcRequest& request, bool removed) {
  print_garbage(found.survey, request.output, removed);
  if (found.in_registry) throw Error(*found.in_registry);
}

void run_gc(const GcRequest& request, Invocation& invocation) {
  need_state(invocation.state(), invocation);
  // What is wrong with it is said before anybody waits.
  const CollectionTerms terms{chosen_retention(request, invocation.site()), registry_of(request, invocation)};
  if (!request.remove) return print(look_for_garbage(terms, invocation), request, false);
  need_rights_to_collect(invocation);
  const WriterLock lock = lock_state(invocation, "kiln gc");
  print(collect_garbage(terms, invocation), request, true);
}

void run_all(const GcRequest& request, Invocation& invocation) {
  const StatePaths state = invocation.state().with_scratch(invocation.site().scratch);
  need_state(state, invocation);
  if (!request.remove) return print_contents(state_contents(state, invocation.files), request.output, false);
  if (invocation.files.is_directory(state.engine())) invocation.need_root_or_namespace();
  const WriterLock lock = lock_state(invocation, "kiln gc --all");
  const StateContents contents = state_contents(state, invocation.files);
  empty_state(contents, state, invocation.runner, invocation.files, invocation.child_environment());
  print_contents(contents, request.output, true);
}

void run_shared(const GcRequest& request, Invocation& invocation) {
  const StatePaths state = invocation.state();
  const Site site = invocation.site();
  const auto shared =
      invocation.shared_steps(site, state, [&](const std::string& text) { invocation.note(text); });
  if (!shared)
    throw Error(ExitCode::input, "the site file has no \"steps\": nothing is shared",
                "docs/cluster.md says how");
  const SharedSteps::Old old = shared->old();
  if (request.remove) shared->remove(old);
  if (request.output.format == "json")
    return print_json(Json{
        {"place", shared->place()}, {"steps", old.all}, {"unused", old.names}, {"removed", request.remove}});
  if (request.output.verbose)
    for (const std::string& name : old.names) say("{}\n", name);
  const char* what =
      request.remove ? ", and gone" : "; nothing is changed: `kiln gc --shared-steps --delete` does it";
  say("{}: {} of {} not used for {} d{}\n", shared->place(), old.names.size(),
      counted(old.all, "shared step"), site.shared_steps.keep_for.count() / 86400,
      old.names.empty() ? "" : what);
}

void add_retention_options(CLI::App& command, GcRequest& request) {
  add_value(command, "--keep-for", request.keep_for, "AGE",
            "keep snapshots, images and logs that are younger (default: 30d)");
  add_number(command, "--keep-snapshots", request.keep_snapshots, "N",
             "keep this many of the newest snapshots, at any age (default: 10)", 1, 1'000'000);
  add_value(command, "--keep-steps-for", request.keep_steps_for, "AGE",
            "keep steps and tests without a plan that are younger (default: 7d)");
  add_list(command, "--keep", request.keep, "WHAT",
           "keep a snapshot by number, or images by name (with * and ?) or digest; may be repeated");
}

}  // namespace

CLI::App* add_gc(CLI::App& app, Invocation& invocation) {
  auto request = std::make_shared<GcRequest>();
  CLI::App* command = add_below(
      app, "gc", "List files of the state folder that are no longer needed; with --delete, delete them",
      "kiln gc                                    # lists what it would delete, and the disk space\n"
      "kiln gc --delete\n"
      "kiln gc --keep-for 7d --keep-snapshots 3 --keep 'pytorch:2.6.0-*' --delete\n"
      "kiln gc --registry                         # also in the registry of the site file\n"
      "kiln gc --all --delete                     # empties the state folder");
  add_retention_options(*command, *request);
  command->add_flag("--delete", request->remove, "delete them; without this option, nothing is changed");
  command->add_flag("-n,--dry-run", request->dry_run, "list only (the default)");
  command->add_flag("--all", request->all, "everything that kiln made in the state folder, needed or not");
  CLI::Option* registry = command->add_option(
      "--registry", request->registry,
      "also images that were pushed to this registry (default: the site file's) and are no longer needed");
  registry->expected(0, 1)->type_name("REGISTRY");
  command->add_flag("--shared-steps", request->shared_steps,
                    "instead of all this: shared steps that no builder has used for the time in the site "
                    "file (default: 30d)");
  command->add_flag("-v,--verbose", request->output.verbose,
                    "list each item with its reason, not only each kind");
  add_format_option(*command, request->output.format);
  add_wait_option(*command, invocation.options);
  command->callback([request, command, registry, &invocation] {
    request->in_registry = registry->count() > 0;
    refuse_together(*command, "--delete", "--dry-run");
    for (const char* option :
         {"--keep-for", "--keep-snapshots", "--keep-steps-for", "--keep", "--all", "--registry", "--wait"})
      refuse_together(*command, "--shared-steps", option, "they are not in the state folder");
    if (request->shared_steps) return run_shared(*request, invocation);
    for (const char* option : {"--keep-for", "--keep-snapshots", "--keep-steps-for", "--keep"})
      refuse_together(*command, "--all", option, "nothing is kept");
    refuse_together(*command, "--all", "--registry", "the state folder does not contain pushed images");
    if (request->all) return run_all(*request, invocation);
    run_gc(*request, invocation);
  });
  return command;
}

}  // namespace kiln
