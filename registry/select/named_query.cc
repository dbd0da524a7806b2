#include "registry/select/named_query.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "factory/base/reading.h"
#include "factory/record/gpu_code.h"

namespace kiln {

std::string named_document(const std::string& application, const std::string& workload) {
  const std::size_t at = application.find('@');
  const std::string name = application.substr(0, at);
  const std::string version = at == std::string::npos ? "" : application.substr(at + 1);
  if (!is_name(name) || (at != std::string::npos && version.empty()))
    throw Error(ExitCode::usage, fmt::format("expected an application, found '{}'", application),
                "for example pytorch, pytorch@2.6 or 'pytorch@>=2.6'; --dsl names a document");
  if (!workload.empty() && !is_name(workload))
    throw Error(ExitCode::usage, fmt::format("invalid workload name '{}'", workload));
  Json framework = Json::object();
  if (!version.empty()) framework["version"] = version;
  Json optimisation = {
      {"enable_opt_build", true},
      {"app_type", "ai_training"},
      {"app_type-ai_training", {{"config", {{"ai_framework", name}}}, {"ai_framework-" + name, framework}}}};
  if (!workload.empty()) optimisation["workload"] = workload;
  return Json{{"optimisation", optimisation}}.dump();
}

void ask_for_accelerators_of(const Host& host, ImageQuery& query) {
  if (!host.known || host.description.accelerators.empty()) return;
  query.acc_type = split_accelerator(host.description.accelerators.front()).first;
}

}  // namespace kiln
