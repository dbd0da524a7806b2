// Readers of package databases: bytes in, packages out. All of them take untrusted bytes: they throw
// Error(input) for damage and for more than 100 000 packages, and read only their arguments.
#pragma once

#include <string_view>
#include <vector>

#include "factory/sbom/package.h"

namespace kiln::sbom {

inline constexpr std::size_t kMostPackages = 100'000;  // in one database

// dpkg: var/lib/dpkg/status, or one file of var/lib/dpkg/status.d. Packages that have files in the image,
// those that are not configured with their state; their licences are elsewhere.
std::vector<Package> read_dpkg_status(std::string_view text);
// usr/share/doc/*/copyright: the licences of all files together, where the file is machine-readable (DEP-5);
// nothing where it is prose.
License read_debian_copyright(std::string_view text);

// apk: lib/apk/db/installed.
std::vector<Package> read_apk_installed(std::string_view text);

// rpm: the SQLite database rpmdb.sqlite. Berkeley DB (before RPM 4.16) and ndb are not read.
std::vector<Package> read_rpm_database(std::string_view bytes);
// One package's header as that database keeps it.
Package read_rpm_header(std::string_view blob);

// Python: METADATA of a dist-info folder, PKG-INFO of an egg-info or EGG-INFO one. `direct_url`: the bytes of
// direct_url.json (PEP 610), "" = absent.
Package read_python_metadata(std::string_view text, std::string_view direct_url = "");

// conda: one file of conda-meta.
Package read_conda_package(std::string_view json);

// etc/os-release.
Distribution read_os_release(std::string_view text);

// Whether a path is a metadata file of a Python package.
bool is_python_metadata(std::string_view path);

}  // namespace kiln::sbom
