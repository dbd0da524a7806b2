// kiln scripts: the site's enforcement scripts, in the index.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "factory/base/json_put.h"
#include "factory/base/text.h"
#include "factory/cli/invocation.h"
#include "factory/cli/options.h"
#include "factory/cli/print.h"
#include "factory/cli/site_documents.h"
#include "registry/deploy/enforcement.h"

namespace kiln {
namespace {

EnforcementScript script_of(const SiteDocument& document) {
  return read_enforcement_script(JsonDocument::parse(document.document, "script").root());
}

// "tensorflow with xla=true, on hlrs"; "every job".
std::string conditions_of(const EnforcementScript& script) {
  std::string text = script.application;
  for (const auto& [name, value] : script.features)
    text += fmt::format("{}{}={}", text.empty() ? "" : " ", name, value);
  for (const std::string& machines : {script.infrastructure, script.storage_class})
    if (!machines.empty()) text += fmt::format("{}on {}", text.empty() ? "" : " ", machines);
  return text.empty() ? "every job" : on_one_line(text);
}

// kiln never runs a script whose condition names machines that it does not know.
void note_unknown_machines(const std::vector<SiteDocument>& scripts, const Invocation& invocation) {
  const auto machines = kept_documents(SiteKind::infrastructure, 0, invocation);
  for (const SiteDocument& one : scripts) {
    const std::string name = script_of(one).infrastructure;
    if (name.empty() ||
        std::ranges::any_of(machines, [&](const SiteDocument& known) { return known.name == name; }))
      continue;
    invocation.note(fmt::format("note: the index has no infrastructure '{}', which a script names", name));
  }
}

// What bash says of the syntax, without running it; "" without a complaint.
std::string bash_complaint(const std::string& text, Invocation& invocation) {
  Command command;
  command.argv = {"bash", "--norc", "-n", "-c", text, "script"};
  command.environment = invocation.child_environment();
  const CommandResult result = invocation.runner.run(command);
  if (result.end == CommandEnd::interrupted) throw Error(ExitCode::interrupted, "interrupted");
  if (result.ok()) return "";
  const std::string why = last_lines(result.tail, 2);
  return why.empty() ? "it ended with an error" : why;
}

// A script becomes a part of job scripts: whatever it leaves open would take in the lines after it.
void check_shell(const EnforcementScript& script, const std::string& file, Invocation& invocation) {
  auto fail = [&](const std::string& what, const std::string& hint) {
    const std::string name = script.description.empty() ? "a script" : on_one_line(script.description);
    throw Error(ExitCode::input, {file, 0, 0, ""}, fmt::format("{}: {}", name, what), hint);
  };
  const std::string text = script_to_check(script);
  if (text.find('\r') != text.npos) fail("its lines end in CR LF", "write it with LF alone");
  if (text.ends_with('\\')) fail("its last line continues in the next one", "remove the '\\' at its end");
  if (!invocation.runner.find_program("bash")) return;
  if (const std::string why = bash_complaint(text, invocation); !why.empty())
    fail("bash cannot read it: " + on_one_line(why), "`bash -n` checks a script");
  // An open bracket after it is a mistake, unless the script takes it in.
  if (bash_complaint(text + "\n(", invocation).empty())
    fail("it takes in the lines of the job that follow it", "close its here-document");
}

void import_scripts(const SiteDocumentOptions& options, Invocation& invocation) {
  const std::vector<SiteDocument> scripts = read_site_files({{}, options.files, {}}, invocation.files);
  for (const std::string& file : options.files)
    for (const SiteDocument& one : read_site_files({{}, {file}, {}}, invocation.files))
      check_shell(script_of(one), file, invocation);
  const std::int64_t snapshot = change_documents(scripts, "kiln scripts import", invocation);
  note_unknown_machines(scripts, invocation);
  say("snapshot {}: {} imported\n", snapshot, counted(scripts.size(), "script"));
}

void list_scripts(const SiteDocumentOptions& options, Invocation& invocation) {
  const auto documents = kept_documents(SiteKind::script, options.snapshot, invocation);
  if (options.json)
    return print_json(json_list(documents, [](const SiteDocument& one) {
      Json script = Json::parse(one.document);
      script["id"] = one.id();
      return script;
    }));
  Table table({"ID", "STAGE", "CONDITIONS", "DESCRIPTION", "SINCE"});
  for (const SiteDocument& one : documents) {
    const EnforcementScript script = script_of(one);
    table.add({one.id(), script.after ? "post" : "pre", conditions_of(script),
               on_one_line(script.description), fmt::format("snapshot {}", one.since)});
  }
  print_text(table.text());
}

// By its id, or what only its id begins with.
SiteDocument find_script(const SiteDocumentOptions& options, const Invocation& invocation) {
  std::vector<SiteDocument> found = kept_documents(SiteKind::script, options.snapshot, invocation);
  std::erase_if(found, [&](const SiteDocument& one) {
    return options.name.empty() || !one.id().starts_with(lower_case(options.name));
  });
  if (found.size() == 1) return found.front();
  if (found.empty())
    throw Error(ExitCode::no_match, fmt::format("the index has no script '{}'", on_one_line(options.name)),
                "`kiln scripts list` shows their ids");
  throw Error(ExitCode::no_match, fmt::format("{} scripts begin with '{}'", found.size(), options.name),
              "write more of the id");
}

void show_script(const SiteDocumentOptions& options, Invocation& invocation) {
  print_json(Json::parse(find_script(options, invocation).document));
}

void remove_script(const SiteDocumentOptions& options, Invocation& invocation) {
  SiteDocument script = find_script(options, invocation);
  const std::string id = script.id();
  script.document.clear();
  const std::int64_t snapshot = change_documents({std::move(script)}, "kiln scripts remove", invocation);
  say("snapshot {}: {} removed\n", snapshot, id);
}

}  // namespace

CLI::App* add_scripts(CLI::App& app, Invocation& invocation) {
  auto options = std::make_shared<SiteDocumentOptions>();
  CLI::App* command = add_below(app, "scripts", "Keep the site's enforcement scripts in the registry index",
                                "kiln scripts import scripts.json\nkiln scripts list");
  command->require_subcommand(1);
  auto add = [&](const char* name, const char* help, const char* example,
                 void (*act)(const SiteDocumentOptions&, Invocation&)) {
    CLI::App* sub = add_below(*command, name, help, example);
    sub->callback([options, act, &invocation] { act(*options, invocation); });
    return sub;
  };
  CLI::App* importing = add("import", "Check enforcement scripts and import them, as a new snapshot",
                            "kiln scripts import scripts.json", import_scripts);
  add_value(*importing, "files", options->files, "FILE", "JSON as MODAK has it, one script or an array")
      ->required();
  add_wait_option(*importing, invocation.options);
  CLI::App* list =
      add("list", "List the enforcement scripts of a snapshot", "kiln scripts list", list_scripts);
  list->add_flag("--json", options->json, "print them as a JSON array");
  add_snapshot_option(*list, options->snapshot)->check(CLI::Range(1, 1'000'000'000));
  CLI::App* show =
      add("show", "Print one script, as JSON", "kiln scripts show 3f1c >script.json", show_script);
  add_value(*show, "id", options->name, "ID", "its id, or the beginning of it")->required();
  add_snapshot_option(*show, options->snapshot)->check(CLI::Range(1, 1'000'000'000));
  CLI::App* remove =
      add("remove", "Remove a script, as a new snapshot", "kiln scripts remove 3f1c", remove_script);
  add_value(*remove, "id", options->name, "ID", "its id, or the beginning of it")->required();
  add_wait_option(*remove, invocation.options);
  return command;
}

}  // namespace kiln
