#include "factory/sbom/bill.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "factory/base/digest.h"
#include "factory/base/effects.h"
#include "factory/base/json.h"
#include "factory/base/text.h"

namespace kiln::sbom {
namespace {

// A package with the name by which the document speaks of it.
struct NamedPackage {
  const Package* package = nullptr;
  std::string url;  // purl
  // Letters, digits, "." and "-": from the purl, and the place where one purl is installed twice.
  std::string id;
};

std::string plain(const std::string& text) {
  std::string out;
  for (char c : text.substr(0, 80)) {
    bool letter = is_letter_or_digit(c) || c == '.' || c == '-';
    out += letter ? c : '-';
  }
  return out;
}

NamedPackage named(const Package& package, const Distribution& distribution) {
  NamedPackage named{&package, package_url(package, distribution), ""};
  std::string hash = Digest::of(named.url + '\n' + package.database).hex().substr(0, 16);
  named.id = fmt::format("{}-{}-{}", name_of(package.ecosystem), plain(package.name), hash);
  return named;
}

// A scheme, and nothing that a URL must encode: databases hold any text.
bool is_url(const std::string& text) {
  return contains(text, "://") && text.find_first_of(" \t\"<>\\^`{|}") == text.npos;
}

// What kiln put in first, then the inventory; all ids are different. The bill outlives the list.
std::vector<NamedPackage> named_packages(const Bill& bill) {
  std::vector<NamedPackage> all;
  std::map<std::string, int> seen;
  for (const std::vector<Package>* packages : {&bill.components, &bill.inventory.packages}) {
    for (const Package& package : *packages) {
      NamedPackage one = named(package, bill.inventory.distribution);
      if (int again = seen[one.id]++; again > 0) one.id += fmt::format("-{}", again);
      all.push_back(std::move(one));
    }
  }
  return all;
}

// SHA-256 over all that the bill says, but for time and tool, as a UUID (RFC 9562, version 8).
std::string uuid_of(const Bill& bill, const std::vector<NamedPackage>& packages) {
  Json said{bill.name, bill.version, bill.identity, bill.inventory.gaps};
  for (const NamedPackage& one : packages) {
    const Package& package = *one.package;
    said.push_back({one.id, one.url, package.license.expression, package.license.extracted, package.homepage,
                    package.supplier, package.download, package.checksum, package.installer, package.method,
                    package.kind, package.owner});
  }
  std::string hex = Digest::of(said.dump(-1, ' ', false, Json::error_handler_t::replace)).hex();
  hex[12] = '8';  // version: custom
  hex[16] = "89ab"[(hex[16] >= 'a' ? hex[16] - 'a' + 10 : hex[16] - '0') & 3];
  return fmt::format("{}-{}-{}-{}-{}", hex.substr(0, 8), hex.substr(8, 4), hex.substr(12, 4),
                     hex.substr(16, 4), hex.substr(20, 12));
}

// SPDX 2.3 (https://spdx.github.io/spdx-spec/v2.3/), as JSON.

constexpr const char* kNoAssertion = "NOASSERTION";
constexpr const char* kRoot = "SPDXRef-Image";

std::string or_nothing(const std::string& text) { return text.empty() ? kNoAssertion : text; }

std::string comment_of(const Package& package) {
  if (!package.database.empty()) {
    std::string how = package.installer.empty() ? "" : ", installed by " + package.installer;
    std::string state = package.state.empty() ? "" : ", " + package.state;
    return fmt::format("found in /{}{}{}", package.database, how, state);
  }
  return fmt::format("{}, put in by kiln, method {}", package.kind, package.method);
}

Json checksums_of(const Package& package) {
  std::size_t colon = package.checksum.find(':');
  std::string kind = package.checksum.substr(0, colon);
  if (kind != "sha256" && kind != "md5") return Json::array();
  return Json::array({{{"algorithm", kind == "md5" ? "MD5" : "SHA256"},
                       {"checksumValue", package.checksum.substr(colon + 1)}}});
}

Json package_json(const NamedPackage& named) {
  const Package& package = *named.package;
  Json json{{"SPDXID", "SPDXRef-" + named.id},
            {"name", package.name},
            {"versionInfo", package.version},
            {"supplier", package.supplier.empty() ? kNoAssertion : "Organization: " + package.supplier},
            {"downloadLocation", is_url(package.download) ? package.download : kNoAssertion},
            {"filesAnalyzed", false},
            {"licenseConcluded", kNoAssertion},
            {"licenseDeclared", or_nothing(package.license.expression)},
            {"copyrightText", kNoAssertion},
            {"comment", comment_of(package)},
            {"externalRefs", Json::array({{{"referenceCategory", "PACKAGE-MANAGER"},
                                           {"referenceType", "purl"},
                                           {"referenceLocator", named.url}}})}};
  if (is_url(package.homepage)) json["homepage"] = package.homepage;
  if (Json sums = checksums_of(package); !sums.empty()) json["checksums"] = sums;
  return json;
}

Json root_json(const Bill& bill) {
  Json json{{"SPDXID", kRoot},
            {"name", bill.name},
            {"supplier", kNoAssertion},
            {"downloadLocation", kNoAssertion},
            {"filesAnalyzed", false},
            {"licenseConcluded", kNoAssertion},
            {"licenseDeclared", kNoAssertion},
            {"copyrightText", kNoAssertion},
            {"primaryPackagePurpose", "CONTAINER"}};
  if (!bill.version.empty()) json["versionInfo"] = bill.version;
  if (!bill.description.empty()) json["description"] = bill.description;
  return json;
}

Json relationship(const std::string& from, const char* type, const std::string& to) {
  return {{"spdxElementId", from}, {"relationshipType", type}, {"relatedSpdxElement", to}};
}

Json relationships_of(const std::vector<NamedPackage>& packages) {
  Json all = Json::array({relationship("SPDXRef-DOCUMENT", "DESCRIBES", kRoot)});
  std::map<std::string, std::string> ids;  // by purl
  for (const NamedPackage& one : packages) ids.emplace(one.url, "SPDXRef-" + one.id);
  for (const NamedPackage& one : packages) {
    auto owner = ids.find(one.package->owner);
    all.push_back(relationship(owner == ids.end() ? kRoot : owner->second, "CONTAINS", "SPDXRef-" + one.id));
  }
  return all;
}

Json extracted_of(const std::vector<NamedPackage>& packages) {
  std::map<std::string, std::string> texts;
  for (const NamedPackage& one : packages)
    texts.insert(one.package->license.extracted.begin(), one.package->license.extracted.end());
  Json all = Json::array();
  for (const auto& [reference, text] : texts)
    all.push_back({{"licenseId", reference}, {"name", reference.substr(11)}, {"extractedText", text}});
  return all;
}

}  // namespace

std::string to_spdx(const Bill& bill) {
  std::vector<NamedPackage> packages = named_packages(bill);
  Json list = Json::array({root_json(bill)});
  for (const NamedPackage& one : packages) list.push_back(package_json(one));
  std::string name = bill.version.empty() ? bill.name : bill.name + ":" + bill.version;
  Json document{{"spdxVersion", "SPDX-2.3"},
                {"dataLicense", "CC0-1.0"},
                {"SPDXID", "SPDXRef-DOCUMENT"},
                {"name", name},
                {"documentNamespace",
                 fmt::format("https://spdx.org/spdxdocs/kiln-{}-{}", bill.identity, uuid_of(bill, packages))},
                {"creationInfo",
                 {{"created", rfc3339(bill.created)},
                  {"creators", {"Tool: kiln-" + bill.tool}},
                  {"licenseListVersion", std::string(license_list_version())}}},
                {"packages", list},
                {"relationships", relationships_of(packages)}};
  if (Json extracted = extracted_of(packages); !extracted.empty())
    document["hasExtractedLicensingInfos"] = extracted;
  if (!bill.inventory.gaps.empty())
    document["comment"] = fmt::format("not read: {}", fmt::join(bill.inventory.gaps, "; "));
  return document.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

// CycloneDX 1.6 (https://cyclonedx.org/docs/1.6/json/).

namespace {

// Either one expression or a list: a licence that is not on SPDX's list brings its text, and an expression
// has no place for that.
Json licenses_of(const License& license) {
  if (license.extracted.empty()) return Json::array({{{"expression", license.expression}}});
  if (license.extracted.size() == 1 && license.extracted.begin()->first == license.expression) {
    const std::string& text = license.extracted.begin()->second;
    std::string name = !contains(text, '\n') && text.size() <= 200 ? text : license.expression.substr(11);
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
