// SPDX 2.3 (https://spdx.github.io/spdx-spec/v2.3/), as JSON.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "factory/base/effects.h"
#include "factory/base/json.h"
#include "factory/sbom/bill_parts.h"
#include "factory/sbom/words.h"

namespace kiln::sbom {
namespace {

constexpr const char* kNoAssertion = "NOASSERTION";
constexpr const char* kRoot = "SPDXRef-Image";

std::string or_nothing(const std::string& text) { return text.empty() ? kNoAssertion : text; }

// Only what is a URI at all: databases hold any text.
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

}  // namespace kiln::sbom
