
#include <algorithm>

#include "factory/base/error.h"
#include "factory/base/json.h"
#include "factory/base/text.h"
#include "factory/sbom/control_file.h"
#include "factory/sbom/databases.h"

namespace kiln::sbom {
namespace {

// "License :: OSI Approved :: MIT License" → MIT. Classifiers that name a family only ("BSD License") are not
// licences of the list.
License classified(const ControlParagraph& headers) {
  std::vector<License> licenses;
  for (const std::string& classifier : headers.all("Classifier")) {
    if (!classifier.starts_with("License :: ")) continue;
    std::string name = classifier.substr(classifier.rfind(":: ") + 3);
    if (name != "OSI Approved") licenses.push_back(read_license(name));
  }
  return all_of(std::move(licenses));
}

// The most exact statement wins; a licence's text comes before a family's name.
License license_of(const ControlParagraph& headers) {
  License expression = read_license(headers.at("License-Expression"));
  if (!expression.empty()) return expression;
  License written = read_license(headers.at("License"));
  if (written.on_the_list()) return written;
  License classes = classified(headers);
  if (classes.on_the_list() || written.empty()) return classes;
  return written;
}

std::string homepage_of(const ControlParagraph& headers) {
  std::string page = headers.line("Home-page");
  if (contains(page, "://")) return page;
  for (const std::string& link : headers.all("Project-URL")) {
    std::size_t comma = link.find(", ");
    if (comma != link.npos && contains(link, "://")) return first_line(link.substr(comma + 2));
  }
  return "";
}

// PEP 610: an archive with its hash, or a repository with its commit; a local folder says nothing to others.
void set_origin(Package& package, std::string_view direct_url) {
  JsonNode root = JsonDocument::parse(direct_url, "direct_url.json").root();
  std::string url = public_url(root.at("url").line_of_text());
  if (auto repository = root.find("vcs_info")) {
    package.download = repository->at("vcs").name() + "+" + url + "@" + repository->at("commit_id").name();
    package.checksum = "git:" + repository->at("commit_id").name();
  } else if (auto archive = root.find("archive_info"); archive && !url.starts_with("file:")) {
    package.download = url;
    if (auto hashes = archive->find("hashes"))
      if (auto sha256 = hashes->find("sha256")) package.checksum = "sha256:" + sha256->name();
  }
}

}  // namespace

Package read_python_metadata(std::string_view text, std::string_view direct_url) {
  // What follows the headers is the description.
  std::size_t body = text.find("\n\n");
  std::size_t other = text.find("\n\r\n");
  auto headers = ControlReader(text.substr(0, std::min(body, other))).next();
  Package package;
  package.ecosystem = Ecosystem::pypi;
  if (headers) {
    package.name = headers->line("Name");
    package.version = headers->line("Version");
    package.license = license_of(*headers);
    package.homepage = homepage_of(*headers);
  }
  if (package.name.empty() || package.version.empty())
    throw Error(ExitCode::input, "the metadata has no Name or no Version");
  if (!direct_url.empty()) set_origin(package, direct_url);
  return package;
}

bool is_python_metadata(std::string_view path) {
  return path.ends_with(".dist-info/METADATA") || path.ends_with(".egg-info/PKG-INFO") ||
         path.ends_with(".egg-info") || path.ends_with("EGG-INFO/PKG-INFO");
}

Package read_conda_package(std::string_view json) {
  JsonLimits limits;
  limits.bytes = 32u << 20;  // lists every file
  limits.members = 2'000'000;
  JsonNode root = JsonDocument::parse(json, "conda-meta", limits).root();
  auto text = [&](const char* key) {
    auto found = root.find(key);
    return found && found->is_string() ? found->string() : std::string();
  };
  Package package;
  package.ecosystem = Ecosystem::conda;
  package.name = root.at("name").line_of_text();
  package.version = root.at("version").line_of_text();
  package.build = text("build");
  package.architecture = text("subdir");
  package.download = public_url(text("url"));
  package.license = read_license(text("license"));
  // "https://conda.anaconda.org/conda-forge/linux-64" or "conda-forge".
  package.channel = public_url(text("channel"));
  if (!package.architecture.empty() && package.channel.ends_with("/" + package.architecture))
    package.channel.resize(package.channel.size() - package.architecture.size() - 1);
  if (auto slash = package.channel.rfind('/'); slash != std::string::npos)
    package.channel.erase(0, slash + 1);
  if (!text("sha256").empty())
    package.checksum = "sha256:" + text("sha256");
  else if (!text("md5").empty())
    package.checksum = "md5:" + text("md5");
  if (auto files = root.find("files"); files && files->is_array())
    for (const JsonNode& file : files->items())
      if (file.is_string() && is_python_metadata(file.string())) package.python.push_back(file.string());
  return package;
}

}  // namespace kiln::sbom
