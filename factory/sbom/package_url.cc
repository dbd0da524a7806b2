#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "factory/base/enum_names.h"
#include "factory/base/text.h"
#include "factory/sbom/package.h"

namespace kiln::sbom {
namespace {

constexpr auto kEcosystems = enum_names<Ecosystem>({{Ecosystem::deb, "deb"},
                                                    {Ecosystem::apk, "apk"},
                                                    {Ecosystem::rpm, "rpm"},
                                                    {Ecosystem::pypi, "pypi"},
                                                    {Ecosystem::conda, "conda"},
                                                    {Ecosystem::generic, "generic"}});

std::string encoded(std::string_view text, std::string_view also_plain = "") {
  return percent_encoded(text, fmt::format("-._~{}", also_plain));
}

// purl-spec, pypi: one spelling for names that PyPI takes for the same.
std::string pypi_name(std::string_view name) {
  std::string plain = lower_case(name);
  std::ranges::replace(plain, '_', '-');
  return plain;
}

std::map<std::string, std::string> qualifiers_of(const Package& package, const Distribution& distribution) {
  std::map<std::string, std::string> qualifiers;
  auto put = [&](const char* name, const std::string& value) {
    if (!value.empty()) qualifiers[name] = value;
  };
  bool distributed = package.ecosystem == Ecosystem::deb || package.ecosystem == Ecosystem::apk ||
                     package.ecosystem == Ecosystem::rpm;
  if (distributed) {
    put("arch", package.architecture);
    put("epoch", package.epoch);
    if (!distribution.id.empty())
      put("distro",
          distribution.version.empty() ? distribution.id : distribution.id + "-" + distribution.version);
    if (!package.source_name.empty())
      put("upstream", package.source_version.empty() ? package.source_name
                                                     : package.source_name + "@" + package.source_version);
  }
  if (package.ecosystem == Ecosystem::conda) {
    put("build", package.build);
    put("channel", package.channel);
    put("subdir", package.architecture);
  }
  if (package.ecosystem == Ecosystem::generic || package.ecosystem == Ecosystem::pypi) {
    put(package.download.starts_with("git+") ? "vcs_url" : "download_url", package.download);
    if (package.checksum.starts_with("sha256:")) put("checksum", package.checksum);
  }
  return qualifiers;
}

}  // namespace

std::string_view name_of(Ecosystem ecosystem) { return kEcosystems.of(ecosystem); }
std::optional<Ecosystem> ecosystem_from(std::string_view name) { return kEcosystems.find(name); }

std::string public_url(std::string url) {
  std::size_t host = url.find("://");
  if (host == url.npos) return url;
  host += 3;
  std::size_t path = std::min(url.find('/', host), url.size());
  std::size_t at = url.rfind('@', path);
  if (at != url.npos && at >= host) {
    url.erase(host, at + 1 - host);
    path = std::min(url.find('/', host), url.size());
  }
  if (url.compare(path, 3, "/t/") == 0) {
    std::size_t end = url.find('/', path + 3);
    if (end != url.npos) url.erase(path, end - path);
  }
  return url;
}

std::string package_url(const Package& package, const Distribution& distribution) {
  std::string url = fmt::format("pkg:{}/", name_of(package.ecosystem));
  switch (package.ecosystem) {
    case Ecosystem::deb:
    case Ecosystem::apk:
      url += fmt::format("{}/{}", encoded(distribution.id.empty() ? "unknown" : lower_case(distribution.id)),
                         encoded(lower_case(package.name)));
      break;
    case Ecosystem::rpm:
      url += fmt::format("{}/{}", encoded(distribution.id.empty() ? "unknown" : lower_case(distribution.id)),
                         encoded(package.name));
      break;
    case Ecosystem::pypi:
      url += encoded(pypi_name(package.name));
      break;
    case Ecosystem::conda:
    case Ecosystem::generic:
      url += encoded(package.name);
      break;
  }
  if (!package.version.empty()) url += "@" + encoded(package.version);
  char between = '?';
  for (const auto& [name, value] : qualifiers_of(package, distribution)) {
    url += fmt::format("{}{}={}", between, name, encoded(value, "/:"));
    between = '&';
  }
  return url;
}

}  // namespace kiln::sbom
