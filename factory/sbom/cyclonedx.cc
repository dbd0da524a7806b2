// CycloneDX 1.6 (https://cyclonedx.org/docs/1.6/json/).
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "factory/base/effects.h"
#include "factory/base/json.h"
#include "factory/sbom/bill_parts.h"
#include "factory/sbom/words.h"

namespace kiln::sbom {
namespace {

// Either one expression or a list: a licence that is not on SPDX's list brings its text, and an expression
// has no place for that.
Json licenses_of(const License& license) {
  if (license.extracted.empty()) return Json::array({{{"expression", license.expression}}});
  if (license.extracted.size() == 1 && license.extracted.begin()->first == license.expression) {
    const std::string& text = license.extracted.begin()->second;
    std::string name =
        text.find('\n') == text.npos && text.size() <= 200 ? text : license.expression.substr(11);
    return Json::array({{{"license", {{"name", name}, {"text", {{"content", text}}}}}}});
  }
  return Json::array({{{"expression", license.expression}}});
}

Json properties_of(const Package& package) {
  Json all = Json::array();
  auto put = [&](const char* name, const std::string& value) {
    if (!value.empty()) all.push_back({{"name", fmt::format("kiln:{}", name)}, {"value", value}});
  };
  put("database", package.database.empty() ? "" : "/" + package.database);
  put("installer", package.installer);
  put("kind", package.kind);
  put("method", package.method);
  put("state", package.state);
  // Texts of licences inside an expression.
  if (package.license.extracted.size() > 1 ||
      (!package.license.extracted.empty() &&
       package.license.extracted.begin()->first != package.license.expression))
    for (const auto& [reference, text] : package.license.extracted)
      all.push_back({{"name", "kiln:license:" + reference}, {"value", text}});
  return all;
}

Json references_of(const Package& package) {
  Json all = Json::array();
  if (is_url(package.homepage)) all.push_back({{"type", "website"}, {"url", package.homepage}});
  if (!is_url(package.download)) return all;
  Json download{{"type", package.download.starts_with("git+") ? "vcs" : "distribution"},
                {"url", package.download}};
  if (package.checksum.starts_with("sha256:"))
    download["hashes"] = Json::array({{{"alg", "SHA-256"}, {"content", package.checksum.substr(7)}}});
  all.push_back(std::move(download));
  return all;
}

Json component_json(const NamedPackage& named) {
  const Package& package = *named.package;
  Json json{{"type", package.kind == "framework" ? "framework" : "library"},
            {"bom-ref", named.id},
            {"name", package.name},
            {"version", package.version},
            {"purl", named.url}};
  if (!package.supplier.empty()) json["supplier"] = {{"name", package.supplier}};
  if (!package.license.empty()) json["licenses"] = licenses_of(package.license);
  if (Json properties = properties_of(package); !properties.empty()) json["properties"] = properties;
  if (Json references = references_of(package); !references.empty()) json["externalReferences"] = references;
  return json;
}

// Python packages that another package brought are parts of that one.
Json components_of(const std::vector<NamedPackage>& packages) {
  std::map<std::string, std::vector<const NamedPackage*>> parts;  // by the owner's purl
  std::map<std::string, bool> known;
  for (const NamedPackage& one : packages) known[one.url] = true;
  for (const NamedPackage& one : packages)
    if (known.contains(one.package->owner)) parts[one.package->owner].push_back(&one);
  Json all = Json::array();
  for (const NamedPackage& one : packages) {
    if (known.contains(one.package->owner)) continue;
    Json json = component_json(one);
    auto inside = parts.find(one.url);
    if (inside != parts.end()) {
      for (const NamedPackage* part : inside->second) json["components"].push_back(component_json(*part));
      parts.erase(inside);
    }
    all.push_back(std::move(json));
  }
  return all;
}

Json metadata_of(const Bill& bill) {
  Json image{{"type", "container"}, {"bom-ref", "image"}, {"name", bill.name}};
  if (!bill.version.empty()) image["version"] = bill.version;
  if (!bill.description.empty()) image["description"] = bill.description;
  image["properties"] = Json::array({{{"name", "kiln:identity"}, {"value", bill.identity}}});
  Json tool{{"type", "application"}, {"name", "kiln"}, {"version", bill.tool}};
  Json metadata{
      {"timestamp", rfc3339(bill.created)}, {"tools", {{"components", {tool}}}}, {"component", image}};
  Json gaps = Json::array();
  for (const std::string& gap : bill.inventory.gaps)
    gaps.push_back({{"name", "kiln:not-read"}, {"value", gap}});
  if (!gaps.empty()) metadata["properties"] = gaps;
  return metadata;
}

}  // namespace

std::string to_cyclonedx(const Bill& bill) {
  std::vector<NamedPackage> packages = named_packages(bill);
  Json parts = Json::array();
  for (const NamedPackage& one : packages) parts.push_back(one.id);
  Json document{{"$schema", "http://cyclonedx.org/schema/bom-1.6.schema.json"},
                {"bomFormat", "CycloneDX"},
                {"specVersion", "1.6"},
                {"serialNumber", "urn:uuid:" + uuid_of(bill, packages)},
                {"version", 1},
                {"metadata", metadata_of(bill)},
                {"components", components_of(packages)},
                {"dependencies", Json::array({{{"ref", "image"}, {"dependsOn", parts}}})}};
  if (!bill.inventory.gaps.empty())
    document["compositions"] = Json::array({{{"aggregate", "incomplete"}, {"assemblies", {"image"}}}});
  return document.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace kiln::sbom
