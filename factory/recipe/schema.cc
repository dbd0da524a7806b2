#include "factory/recipe/schema.h"

#include <fmt/format.h>

#include <map>

#include "factory/base/error.h"

namespace kiln {

// Generated from schema/*.schema.json by cmake/embed.cmake.
std::map<std::string_view, std::string_view> embedded_schemas();

const std::vector<std::string>& schema_names() {
  static const std::vector<std::string> kNames = {"recipe", "matrix", "target", "site",     "lock",
                                                  "plan",   "host",   "dsl",    "mappings", "night",
                                                  "suite",  "runs",   "space",  "network"};
  return kNames;
}

std::string schema_text(std::string_view name) {
  const auto schemas = embedded_schemas();
  auto found = schemas.find(fmt::format("{}.schema.json", name));
  if (found != schemas.end()) return std::string(found->second);
  throw Error(ExitCode::usage, fmt::format("there is no schema '{}'", name),
              did_you_mean(name, schema_names(), "schemas: "));
}

}  // namespace kiln
