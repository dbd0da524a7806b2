// The releases of a package on a Python package index, by the simple API: JSON (PEP 691, 700), or HTML
// (PEP 503, 592) where an index knows no other.
#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "factory/distribution/http.h"
#include "factory/distribution/pip_index.h"

namespace kiln {

struct PackageRelease {
  std::string version;
  std::string date;  // of its first file, RFC 3339; "" when the index does not say
  bool operator==(const PackageRelease&) const = default;
};

struct PackageReleases {
  std::vector<PackageRelease> releases;  // in order; with pre-releases, without what was withdrawn (yanked)
  std::size_t odd = 0;                   // files whose names say no version that kiln can compare
};

// A file of a package, as an index or a page of links names it.
struct PackageFile {
  std::string name;    // "torch-2.6.0-cp313-cp313-manylinux1_x86_64.whl"
  std::string url;     // absolute
  std::string sha256;  // hex; "" where the index does not say
};

// All files of an answer, withdrawn ones too: a lockfile that has pinned one stays valid. `page`: its URL,
// which others are relative to. Throws as releases_in does.
std::vector<PackageFile> files_in(std::string_view body, const std::string& content_type,
                                  const std::string& package, const std::string& page);

// Throws as ask_releases does.
std::vector<PackageFile> ask_files(const PipIndex& index, const std::string& package, Http& http,
                                   std::chrono::milliseconds pause = std::chrono::seconds(2));

// `link` of the page `page`, made absolute (RFC 3986, 5.2, without dots inside the link).
std::string absolute_url(const std::string& page, const std::string& link);

// The body of an answer, by its Content-Type. Throws Error(network) for one that is no such page.
PackageReleases releases_in(std::string_view body, const std::string& content_type,
                            const std::string& package);

// Throws Error(network) when the index cannot be asked or answers nonsense, Error(no_match) when it does not
// have the package, Error(interrupted). Asked once more, after a pause, where a failure may pass.
PackageReleases ask_releases(const PipIndex& index, const std::string& package, Http& http,
                             std::chrono::milliseconds pause = std::chrono::seconds(2));

}  // namespace kiln
