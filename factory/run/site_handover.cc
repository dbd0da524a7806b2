#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <sstream>

#include "factory/base/text.h"
#include "factory/recipe/parameters.h"
#include "factory/run/step.h"

namespace kiln {
namespace {

constexpr const char* kCertificates = "/run/kiln/ca-certificates.crt";
constexpr const char* kPipConfiguration = "/run/kiln/pip.conf";
constexpr const char* kGitConfiguration = "/run/kiln/gitconfig";

// Each tool has its own name for the file of trusted certificates.
constexpr std::array kCertificateVariables = {"PIP_CERT", "SSL_CERT_FILE", "REQUESTS_CA_BUNDLE",
                                              "CURL_CA_BUNDLE", "GIT_SSL_CAINFO"};
// They say where pip puts things on the host, or what kiln itself decides.
constexpr std::array kNeverHandedOn = {
    "PIP_TARGET",     "PIP_PREFIX", "PIP_ROOT",   "PIP_USER",   "PIP_SRC",
    "PIP_CACHE_DIR",  "PIP_LOG",    "PIP_PYTHON", "PIP_REPORT", "PIP_REQUIRE_VIRTUALENV",
    "PIP_CONFIG_FILE"};

bool matches_any(const std::string& name, const std::vector<std::string>& globs) {
  return std::ranges::any_of(globs, [&](const std::string& glob) { return glob_matches(glob, name); });
}

// The path of a word that names a file of the host, "" for every other word.
std::string host_path(const std::string& word) {
  if (word.starts_with("file:///")) return word.substr(std::string_view("file://").size());
  return word.starts_with('/') ? word : "";
}

// Words that are host paths become mounts, or go when there is no such path; the others stay.
std::string translate(const std::string& name, const std::string& value, const FileSystem& files,
                      SiteHandover& handover) {
  std::istringstream words(value);
  std::string kept;
  int mounted = 0;
  for (std::string word; words >> word;) {
    if (std::string path = host_path(word); !path.empty()) {
      if (!files.exists(path)) continue;
      word = fmt::format("/run/kiln/site/{}-{}", name, mounted++);
      handover.mounts.push_back({path, word});
    }
    kept += (kept.empty() ? "" : " ") + word;
  }
  return kept;
}

bool has_host_path(const std::string& value) {
  std::istringstream words(value);
  for (std::string word; words >> word;)
    if (!host_path(word).empty()) return true;
  return false;
}

// What the site file names under `key`: it was there when that was read.
const std::string& named_file(const Site& site, const std::string& file, const char* key,
                              const FileSystem& files) {
  if (files.exists(file)) return file;
  throw Error(ExitCode::input, {site.file, 0, 0, key}, fmt::format("{} does not exist", file));
}

std::string pip_configuration(const Site& site, const FileSystem& files,
                              const std::map<std::string, std::string>& ours) {
  if (!site.pip_configuration.empty())
    return named_file(site, site.pip_configuration, "/pip_configuration", files);
  std::vector<std::string> places = {value_or(ours, "PIP_CONFIG_FILE"), "/etc/pip.conf"};
  if (std::string home = value_or(ours, "HOME"); !home.empty())
    places.insert(places.end(), {home + "/.config/pip/pip.conf", home + "/.pip/pip.conf"});
  for (const std::string& place : places)
    if (place.starts_with('/') && place != "/dev/null" && files.exists(place)) return place;
  return "";
}

// A person's own (~/.gitconfig) has names and habits in it, and is not handed on by itself.
std::string git_configuration(const Site& site, const FileSystem& files) {
  if (!site.git_configuration.empty())
    return named_file(site, site.git_configuration, "/git_configuration", files);
  const std::string machine = "/etc/gitconfig";
  return files.exists(machine) ? machine : "";
}

}  // namespace

SiteHandover site_handover(const Site& site, const FileSystem& files,
                           const std::map<std::string, std::string>& ours) {
  SiteHandover handover;
  for (const auto& [name, value] : ours) {
    // A parameter that a script does not list must not come in by the back door: no key would cover it.
    bool is_ours =
        is_known_parameter(name) || std::ranges::find(kNeverHandedOn, name) != kNeverHandedOn.end();
    if (is_ours || !matches_any(name, site.pass_environment)) continue;
    bool is_certificate = std::ranges::find(kCertificateVariables, name) != kCertificateVariables.end();
    if (is_certificate) continue;
    if (!has_host_path(value))
      handover.environment[name] = value;
    else if (std::string kept = translate(name, value, files, handover); !kept.empty())
      handover.environment[name] = kept;
  }
  if (!site.ca_certificates.empty() && files.exists(site.ca_certificates)) {
    handover.mounts.push_back({site.ca_certificates, kCertificates});
    for (const char* name : kCertificateVariables) handover.environment[name] = kCertificates;
  }
  if (std::string file = pip_configuration(site, files, ours); !file.empty()) {
    handover.mounts.push_back({file, kPipConfiguration});
    handover.environment["PIP_CONFIG_FILE"] = kPipConfiguration;
  }
  if (std::string file = git_configuration(site, files); !file.empty()) {
    handover.mounts.push_back({file, kGitConfiguration});
    handover.environment["GIT_CONFIG_SYSTEM"] = kGitConfiguration;  // git 2.32 and later
  }
  return handover;
}

}  // namespace kiln
