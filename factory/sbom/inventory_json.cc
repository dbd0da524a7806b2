// Inventory as JSON and back, for what is kept of an examined image.
#include <array>
#include <nlohmann/json.hpp>

#include "factory/base/json.h"
#include "factory/sbom/inventory.h"

namespace kiln::sbom {
namespace {

struct Field {
  const char* name;
  std::string Package::*member;
};
constexpr std::array kFields = {Field{"name", &Package::name},
                                Field{"version", &Package::version},
                                Field{"epoch", &Package::epoch},
                                Field{"architecture", &Package::architecture},
                                Field{"source_name", &Package::source_name},
                                Field{"source_version", &Package::source_version},
                                Field{"build", &Package::build},
                                Field{"channel", &Package::channel},
                                Field{"supplier", &Package::supplier},
                                Field{"homepage", &Package::homepage},
                                Field{"download", &Package::download},
                                Field{"checksum", &Package::checksum},
                                Field{"installer", &Package::installer},
                                Field{"method", &Package::method},
                                Field{"kind", &Package::kind},
                                Field{"state", &Package::state},
                                Field{"database", &Package::database},
                                Field{"owner", &Package::owner}};

Json to_json(const Package& package) {
  Json json{{"ecosystem", name_of(package.ecosystem)}};
  for (const Field& field : kFields)
    if (const std::string& value = package.*field.member; !value.empty()) json[field.name] = value;
  if (!package.license.empty()) json["license"] = package.license.expression;
  if (!package.license.extracted.empty()) json["extracted"] = package.license.extracted;
  if (!package.python.empty()) json["python"] = package.python;
  return json;
}

Package package_from(const JsonNode& node) {
  Package package;
  const std::string ecosystem = node.at("ecosystem").string();
  auto known = ecosystem_from(ecosystem);
  if (!known) node.fail("'" + ecosystem + "' is no ecosystem");
  package.ecosystem = *known;
  for (const Field& field : kFields)
    if (auto value = node.find(field.name)) package.*field.member = value->string();
  if (auto license = node.find("license")) package.license.expression = license->string();
  if (auto extracted = node.find("extracted"))
    for (const auto& [name, text] : extracted->members()) package.license.extracted[name] = text.string();
  if (auto python = node.find("python")) package.python = python->strings();
  return package;
}

}  // namespace

Json to_json(const Inventory& inventory) {
  const Distribution& distribution = inventory.distribution;
  Json packages = Json::array();
  for (const Package& package : inventory.packages) packages.push_back(to_json(package));
  return {{"distribution",
           {{"id", distribution.id}, {"version", distribution.version}, {"name", distribution.name}}},
          {"packages", std::move(packages)},
          {"gaps", inventory.gaps}};
}

Inventory inventory_from_json(const JsonNode& node) {
  Inventory inventory;
  const JsonNode distribution = node.at("distribution");
  inventory.distribution = {distribution.at("id").string(), distribution.at("version").string(),
                            distribution.at("name").string()};
  for (const JsonNode& package : node.at("packages").items())
    inventory.packages.push_back(package_from(package));
  inventory.gaps = node.at("gaps").strings();
  return inventory;
}

}  // namespace kiln::sbom
