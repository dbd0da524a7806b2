#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>

#include "sbom/package.h"
#include "sbom/words.h"

namespace kiln::sbom {
namespace {

std::string encoded(std::string_view text, std::string_view also_plain = "") {
  std::string out;
  for (char c : text) {
    bool plain = std::isalnum(static_cast<unsigned char>(c)) ||
                 std::string_view("-._~").find(c) != std::string_view::npos ||
                 also_plain.find(c) != also_plain.npos;
    out += plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return out;
}

// purl-spec, pypi: one spelling for names that PyPI takes for the same.
std::string pypi_name(std::string_view name) {
  std::string plain = lower(name);
  std::replace(plain.begin(), plain.end(), '_', '-');
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

std::string_view name_of(Ecosystem ecosystem) {
  switch (ecosystem) {
    case Ecosystem::deb:
      return "deb";
    case Ecosystem::apk:
      return "apk";
    case Ecosystem::rpm:
      return "rpm";
    case Ecosystem::pypi:
      return "pypi";
    case Ecosystem::conda:
      return "conda";
    case Ecosystem::generic:
      break;
  }
  return "generic";
}

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
      url += fmt::format("{}/{}", encoded(distribution.id.empty() ? "unknown" : lower(distribution.id)),
                         encoded(lower(package.name)));
      break;
    case Ecosystem::rpm:
      url += fmt::format("{}/{}", encoded(distribution.id.empty() ? "unknown" : lower(distribution.id)),
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
