#include "registry/deploy/enforcement.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "factory/base/text.h"
#include "registry/deploy/template_text.h"
#include "registry/select/dsl_values.h"

namespace kiln {
namespace {

constexpr const char* kStorageVariable = "preferred_storage_location";

void read_conditions(const JsonNode& node, EnforcementScript& script) {
  node.allow_only({"application", "infrastructure"});
  if (auto application = present(node, "application")) {
    application->allow_only({"name", "feature"});
    if (auto name = present(*application, "name")) script.application = lower_case(name->name());
    if (auto features = present(*application, "feature"))
      for (const auto& [key, value] : features->members())
        if (!value.is_null()) script.features[lower_case(key)] = scalar_text(value, {});
    if (script.application.empty() && !script.features.empty())
      application->fail("features without the application that has them", "add its 'name'");
  }
  if (auto infrastructure = present(node, "infrastructure")) {
    infrastructure->allow_only({"name", "storage_class"});
    if (auto name = present(*infrastructure, "name")) script.infrastructure = name->line_of_text();
    if (auto name = present(*infrastructure, "storage_class"))
      script.storage_class = storage_class_named(name->line_of_text());
  }
}

void check_raw(const JsonNode& node, const std::string& raw) {
  if (trimmed(raw).empty()) node.fail("the script is empty");
  if (raw.find('\0') != raw.npos) node.fail("a script must not have NUL in it");
  for (const std::string_view line : split(raw, '\n'))
    for (const char* directive : {"#SBATCH", "#PBS"})
      if (line.starts_with(directive))
        node.fail(fmt::format("{} behind commands is ignored by the scheduler", directive),
                  "options of a job are in job_options");
  for (const std::string& name : template_variables(raw, node.where()))
    if (name != kStorageVariable)
      node.fail(fmt::format("nothing sets the variable '{}'", name), did_you_mean(name, {kStorageVariable}));
}

bool has_class(const Infrastructure& infrastructure, const std::string& name) {
  return std::any_of(infrastructure.storage.begin(), infrastructure.storage.end(),
                     [&](const auto& storage) { return storage.second == name; });
}

bool holds(const EnforcementScript& script, const ScriptSituation& situation) {
  const Infrastructure* machines = situation.infrastructure;
  if (!script.infrastructure.empty() && (machines == nullptr || machines->name != script.infrastructure))
    return false;
  if (!script.storage_class.empty() && (machines == nullptr || !has_class(*machines, script.storage_class)))
    return false;
  if (!script.application.empty() && script.application != lower_case(situation.application)) return false;
  return std::all_of(script.features.begin(), script.features.end(), [&](const auto& feature) {
    const auto option = situation.options.find(feature.first);
    return option != situation.options.end() && option->second == feature.second;
  });
}

int place_in_order(const EnforcementScript& script) {
  const bool machines = !script.infrastructure.empty() || !script.storage_class.empty();
  const bool application = !script.application.empty();
  const int group = machines && application ? 3 : application ? 2 : machines ? 1 : 0;
  const int within = group == 1 ? (script.infrastructure.empty()  ? 1
                                   : script.storage_class.empty() ? 0
                                                                  : 2)
                                : (script.features.empty() ? 0 : 1);
  return 4 * group + within;
}

}  // namespace

EnforcementScript read_enforcement_script(const JsonNode& node) {
  node.allow_only({"id", "description", "conditions", "data"});
  EnforcementScript script;
  if (auto id = present(node, "id")) script.id = id->line_of_text();
  if (auto text = present(node, "description")) script.description = text->line_of_text();
  if (auto conditions = present(node, "conditions")) read_conditions(*conditions, script);
  const JsonNode data = node.at("data");
  data.allow_only({"stage", "raw"});
  script.after = word_of(data.at("stage"), {"pre", "post"}, "stage") == "post";
  const JsonNode raw = data.at("raw");
  script.raw = raw.string();
  script.where = raw.where();
  check_raw(raw, script.raw);
  return script;
}

std::string preferred_storage(const ScriptSituation& situation) {
  if (situation.infrastructure == nullptr) return "";
  std::vector<std::string> classes = situation.storage_classes;
  classes.insert(classes.end(), storage_classes().begin(), storage_classes().end());
  for (const std::string& name : classes)
    for (const auto& [url, storage_class] : situation.infrastructure->storage)
      if (storage_class == storage_class_named(name)) return url;
  return "";
}

std::vector<EnforcementScript> scripts_for(const std::vector<EnforcementScript>& scripts,
                                           const ScriptSituation& situation) {
  std::vector<EnforcementScript> found;
  std::set<std::string> ids;
  for (const EnforcementScript& script : scripts)
    if (holds(script, situation) && (script.id.empty() || ids.insert(script.id).second))
      found.push_back(script);
  std::stable_sort(found.begin(), found.end(),
                   [](const EnforcementScript& one, const EnforcementScript& other) {
                     return place_in_order(one) < place_in_order(other);
                   });
  return found;
}

ScriptSituation situation_of(const JobRequest& job, const Infrastructure* infrastructure) {
  return {job.application, job.features, infrastructure, job.storage_classes};
}

std::vector<SiteCommands> site_commands(const std::vector<EnforcementScript>& scripts,
                                        const ScriptSituation& situation) {
  std::vector<SiteCommands> commands;
  for (const EnforcementScript& script : scripts_for(scripts, situation))
    commands.push_back({script.description.empty() ? script.id : script.description,
                        script_text(script, situation), script.after});
  return commands;
}

std::vector<EnforcementScript> read_enforcement_scripts(const JsonDocument& document) {
  std::vector<EnforcementScript> scripts;
  const JsonNode root = document.root();
  if (!root.is_array()) return {read_enforcement_script(root)};
  for (const JsonNode& node : root.items()) scripts.push_back(read_enforcement_script(node));
  return scripts;
}

std::string script_text(const EnforcementScript& script, const ScriptSituation& situation) {
  return filled_template(script.raw, {{kStorageVariable, preferred_storage(situation)}}, script.where);
}

}  // namespace kiln
