#include "factory/pages/bill_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>

#include "factory/base/json.h"
#include "factory/base/quote.h"
#include "factory/base/text.h"
#include "factory/pages/page_frame.h"
#include "factory/record/record_fields.h"

namespace kiln {
namespace {

constexpr JsonLimits kBillLimits{.bytes = 256u << 20, .members = 20'000'000};

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

using LicenceCounts = std::vector<std::pair<std::string, std::size_t>>;

std::string licence_table(LicenceCounts::const_iterator begin, LicenceCounts::const_iterator end) {
  std::string rows;
  for (auto one = begin; one != end; ++one)
    rows += fmt::format("<tr><th scope=\"row\">{}</th><td class=\"number\">{}</td></tr>\n",
                        one->first.empty() ? "not said" : markup_text(one->first), one->second);
  return wide_table("Licences, and how many packages name each", {"Licence", "Packages"}, rows);
}

// Licences one by one: a distribution's package names all that its files are under, which may be dozens.
std::string licences_html(const std::vector<BillPackage>& packages) {
  constexpr std::ptrdiff_t kMostAtOnce = 10;
  std::map<std::string, std::size_t> counts;
  for (const BillPackage& package : packages) {
    const std::vector<std::string> named = licences_in(package.licence);
    for (const std::string& licence : named) ++counts[licence];
    if (named.empty()) ++counts[""];
  }
  LicenceCounts order(counts.begin(), counts.end());
  std::ranges::stable_sort(order, [](const auto& a, const auto& b) { return a.second > b.second; });
  const auto first = order.begin() + std::min(std::ssize(order), kMostAtOnce);
  std::string html =
      fmt::format("<p>{}. A package may name several licences.</p>\n", counted(packages.size(), "package")) +
      licence_table(order.begin(), first);
  if (first != order.end())
    html += fmt::format("<details><summary>{} more</summary>\n{}</details>\n",
                        counted(static_cast<std::size_t>(order.end() - first), "licence"),
                        licence_table(first, order.end()));
  return html;
}

// An expression that is as long as a paragraph is folded.
std::string licence_cell(const std::string& expression) {
  constexpr std::size_t kMostShown = 60;
  if (expression.empty()) return "not said";
  if (expression.size() <= kMostShown) return markup_text(expression);
  return fmt::format("<details><summary>{}</summary>{}</details>",
                     counted(licences_in(expression).size(), "licence"), markup_text(expression));
}

std::string packages_html(const std::vector<BillPackage>& packages) {
  std::string rows;
  for (const BillPackage& package : packages)
    rows +=
        fmt::format("<tr><th scope=\"row\">{}</th><td>{}</td><td>{}</td></tr>\n", markup_text(package.name),
                    markup_text(package.version), licence_cell(package.licence));
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
                       markup_text(error.message()));
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
      markup_text(text_at(flag, "variable")), markup_text(text_at(flag, "value")),
      markup_text(text_at(flag, "compiler")), markup_text(text_at(flag, "from")),
      markup_text(text_at(flag, "component")));
}

}  // namespace

std::vector<BillPackage> bill_packages(const std::string& spdx) {
  return packages_of(JsonDocument::parse(spdx, "the bill of materials", kBillLimits).root());
}

std::vector<std::string> licences_in(const std::string& expression) {
  std::string flat = expression;
  for (char& c : flat)
    if (c == '(' || c == ')') c = ' ';
  std::vector<std::string> licences;
  std::istringstream words(flat);
  bool continues = false;  // WITH and the exception behind it belong to the licence before
  for (std::string word; words >> word;) {
    if (word == "AND" || word == "OR") continue;
    const bool with = word == "WITH";
    if ((with || continues) && !licences.empty())
      licences.back() += " " + word;
    else
      licences.push_back(word);
    continues = with;
  }
  std::ranges::sort(licences);
  licences.erase(std::unique(licences.begin(), licences.end()), licences.end());
  return licences;
}

std::string bill_html(const std::string& spdx) {
  try {
    const std::vector<BillPackage> packages = bill_packages(spdx);
    if (packages.empty()) return "<p>Nothing that a package manager knows is in it.</p>\n";
    return licences_html(packages) + packages_html(packages);
  } catch (const Error& error) {
    return fmt::format("<p class=\"doubt\">The bill of materials could not be read: {}</p>\n",
                       markup_text(error.message()));
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
                          markup_text(text_at(step, "title")), markup_text(text_at(step, "kind")),
                          markup_text(text_at(step, "key").substr(0, 12)));
    if (rows.empty()) return "";
    return fmt::format("<details><summary>The steps that made it</summary>\n{}</details>\n",
                       wide_table("Steps", {"Step", "Kind", "Key"}, rows));
  });
}

std::string matrix_of(const std::string& provenance) {
  return unless_error([&] {
    const JsonDocument statement = JsonDocument::parse(provenance, "provenance", kBillLimits);
    const auto definition = definition_in(statement);
    const auto parameters = definition ? definition->find("externalParameters") : std::nullopt;
    return parameters ? text_at(*parameters, "matrix") : "";
  });
}

}  // namespace kiln
