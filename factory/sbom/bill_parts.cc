#include "factory/sbom/bill_parts.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "factory/base/digest.h"
#include "factory/base/json.h"
#include "factory/base/text.h"

namespace kiln::sbom {
namespace {

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

}  // namespace

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

}  // namespace kiln::sbom
