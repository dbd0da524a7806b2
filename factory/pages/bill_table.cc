#include "factory/pages/bill_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "factory/base/json.h"
#include "factory/base/text.h"
#include "factory/pages/page_frame.h"
#include "factory/pages/page_text.h"
#include "factory/record/record_fields.h"

namespace kiln {
namespace {

constexpr JsonLimits kBillLimits{.bytes = 256u << 20, .members = 20'000'000};

struct BillPackage {
  std::string name, version, licence;
};

// What SPDX writes where nobody said anything.
std::string said(const std::string& text) { return text == "NOASSERTION" || text == "NONE" ? "" : text; }

std::vector<BillPackage> packages_of(const JsonNode& document) {
  std::vector<BillPackage> packages;
  for (const JsonNode& node : document.at("packages").items()) {
    if (text_at(node, "primaryPackagePurpose") == "CONTAINER") continue;  // the image itself
    const std::string concluded = said(text_at(node, "licenseConcluded"));
    packages.push_back({text_at(node, "name"), text_at(node, "versionInfo"),
                        concluded.empty() ? said(text_at(node, "licenseDeclared")) : concluded});
  }
  return packages;
}

std::string licences_html(const std::vector<BillPackage>& packages) {
  std::map<std::string, std::size_t> counts;
  for (const BillPackage& package : packages) ++counts[package.licence];
  std::vector<std::pair<std::string, std::size_t>> order(counts.begin(), counts.end());
  std::stable_sort(order.begin(), order.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  std::string rows;
  for (const auto& [licence, count] : order)
    rows += fmt::format("<tr><th scope=\"row\">{}</th><td class=\"number\">{}</td></tr>\n",
                        licence.empty() ? "not said" : page_text(licence), count);
  return wide_table("Licences, and how many packages are under each", {"Licence", "Packages"}, rows);
}

std::string packages_html(const std::vector<BillPackage>& packages) {
  std::string rows;
  for (const BillPackage& package : packages)
    rows += fmt::format("<tr><th scope=\"row\">{}</th><td>{}</td><td>{}</td></tr>\n", page_text(package.name),
                        page_text(package.version),
                        package.licence.empty() ? "not said" : page_text(package.licence));
  return fmt::format("<details><summary>All {}</summary>\n{}</details>\n",
                     counted(packages.size(), "package"),
                     wide_table("Packages", {"Package", "Version", "Licence"}, rows));
}

// The part of the statement that says how the image was made.
std::optional<JsonNode> definition_in(const JsonDocument& statement) {
  const auto predicate = statement.root().find("predicate");
  return predicate ? predicate->find("buildDefinition") : std::nullopt;
}

template <typename Use>
std::string of_definition(const std::string& provenance, const Use& use) {
  try {
    const JsonDocument statement = JsonDocument::parse(provenance, "provenance", kBillLimits);
    const auto definition = definition_in(statement);
    return definition ? use(*definition) : "";
  } catch (const Error& error) {
    return fmt::format("<p class=\"doubt\">The provenance could not be read: {}</p>\n",
                       page_text(error.message()));
  }
}

std::vector<JsonNode> internal_items(const JsonNode& definition, std::string_view key) {
  const auto internal = definition.find("internalParameters");
  const auto found = internal ? internal->find(key) : std::nullopt;
  return found ? found->items() : std::vector<JsonNode>{};
}

std::string flag_row(const JsonNode& flag) {
  return fmt::format(
      "<tr><th "
      "scope=\"row\"><code>{}</code></th><td><code>{}</code></td><td>{}</td><td>{}</td><td>{}</td></tr>\n",
      page_text(text_at(flag, "variable")), page_text(text_at(flag, "value")),
      page_text(text_at(flag, "compiler")), page_text(text_at(flag, "from")),
      page_text(text_at(flag, "component")));
}

}  // namespace

std::string bill_html(const std::string& spdx) {
  try {
    const JsonDocument document = JsonDocument::parse(spdx, "the bill of materials", kBillLimits);
    const std::vector<BillPackage> packages = packages_of(document.root());
    if (packages.empty()) return "<p>Nothing that a package manager knows is in it.</p>\n";
    return licences_html(packages) + packages_html(packages);
  } catch (const Error& error) {
    return fmt::format("<p class=\"doubt\">The bill of materials could not be read: {}</p>\n",
                       page_text(error.message()));
  }
}

std::string flags_html(const std::string& provenance) {
  return of_definition(provenance, [](const JsonNode& definition) -> std::string {
    std::string rows;
    for (const JsonNode& flag : internal_items(definition, "flags")) rows += flag_row(flag);
    if (rows.empty()) return "";
    return wide_table("Compiler flags", {"Variable", "Value", "Compiler", "Where it came from", "Read by"},
                      rows);
  });
}

std::string steps_html(const std::string& provenance) {
  return of_definition(provenance, [](const JsonNode& definition) -> std::string {
    std::string rows;
    for (const JsonNode& step : internal_items(definition, "steps"))
      rows += fmt::format("<tr><th scope=\"row\">{}</th><td>{}</td><td><code>{}</code></td></tr>\n",
                          page_text(text_at(step, "title")), page_text(text_at(step, "kind")),
                          page_text(text_at(step, "key").substr(0, 12)));
    if (rows.empty()) return "";
    return fmt::format("<details><summary>The steps that made it</summary>\n{}</details>\n",
                       wide_table("Steps", {"Step", "Kind", "Key"}, rows));
  });
}

std::string matrix_of(const std::string& provenance) {
  try {
    const JsonDocument statement = JsonDocument::parse(provenance, "provenance", kBillLimits);
    const auto definition = definition_in(statement);
    const auto parameters = definition ? definition->find("externalParameters") : std::nullopt;
    return parameters ? text_at(*parameters, "matrix") : "";
  } catch (const Error&) {
    return "";
  }
}

}  // namespace kiln
