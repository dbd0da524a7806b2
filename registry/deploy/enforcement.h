// Enforcement scripts, MODAK's: text for the job script, put before or after the application where its
// conditions hold. A graph compiler that was asked for is switched on so.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "factory/base/error.h"
#include "factory/base/json.h"
#include "registry/deploy/deployment.h"

namespace kiln {

struct EnforcementScript {
  std::string id, description;
  std::string application;                      // framework, library or app_tag; "" = any
  std::map<std::string, std::string> features;  // options that the document asks for, all of them
  std::string infrastructure, storage_class;    // "" = any
  bool after = false;                           // the application: stage `post`
  std::string raw;
  SourceLocation where;  // of `raw`
};

// {"description", "conditions": {"application": {"name", "feature"}, "infrastructure": {"name",
// "storage_class"}}, "data": {"stage", "raw"}}, as posted to MODAK. Throws Error(input), also for a template
// variable that nothing sets and for a directive of a scheduler, which would follow commands and be ignored.
EnforcementScript read_enforcement_script(const JsonNode& node);

// The values for conditions, and the variables of templates.
struct ScriptSituation {
  std::string application;
  std::map<std::string, std::string> options;  // of the framework's or the library's part: "xla": "true"
  const Infrastructure* infrastructure = nullptr;
  std::vector<std::string> storage_classes;  // of the document, the preferred one first
};

// The first storage of a preferred class, else one of the slowest class, by MODAK's order of classes; "" =
// there is none.
std::string preferred_storage(const ScriptSituation& situation);

// Those whose conditions hold, in MODAK's order: of the infrastructure, of the application, of both; within
// these, fewer conditions first, then as given. Each id once.
std::vector<EnforcementScript> scripts_for(const std::vector<EnforcementScript>& scripts,
                                           const ScriptSituation& situation);

// Of a document and its machines, which outlive it.
ScriptSituation situation_of(const JobRequest& job, const Infrastructure* infrastructure);

// All of it for one job: its commands, rendered. Throws as script_text().
std::vector<SiteCommands> site_commands(const std::vector<EnforcementScript>& scripts,
                                        const ScriptSituation& situation);

// A file with one script, or an array of them. Throws Error(input).
std::vector<EnforcementScript> read_enforcement_scripts(const JsonDocument& document);

// `raw` with a plain word in place of each variable, so that a shell can check it.
std::string script_to_check(const EnforcementScript& script);

// `raw` with the values of its variables. Throws Error(input) where one is not set, and for a value that
// would not stay one word of a shell.
std::string script_text(const EnforcementScript& script, const ScriptSituation& situation);

}  // namespace kiln
