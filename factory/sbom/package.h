// The entries of a bill of materials: packages as the package databases of an image list them.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kiln::sbom {

// Licences as SPDX licence expressions (SPDX 2.3, annex D), from what package databases say of them: SPDX
// expressions, the short names of Debian's machine-readable copyright files, Fedora's, and the names that
// Python packages use. Pure.

// Statement about a package's licence. Names that the SPDX list does not have become LicenseRef-….
struct License {
  std::string expression;                        // "" = not stated
  std::map<std::string, std::string> extracted;  // LicenseRef-… → what was written
  bool empty() const { return expression.empty(); }
  bool on_the_list() const { return extracted.empty() && !empty(); }  // every part of it
  bool operator==(const License&) const = default;
};

// Reads one statement: an expression of names with and/or/with, parentheses and commas in any letter case, or
// a whole licence text. Never throws: what is not understood is kept as the text of one LicenseRef.
License read_license(std::string_view written);

// One licence that says all of these hold, each once, sorted.
License all_of(std::vector<License> licenses);

// The version of the SPDX licence list that names are looked up in: "3.27".
std::string_view license_list_version();

enum class Ecosystem { deb, apk, rpm, pypi, conda, generic };  // purl's types, spelled the same
std::string_view name_of(Ecosystem ecosystem);
std::optional<Ecosystem> ecosystem_from(std::string_view name);

struct Package {
  Ecosystem ecosystem = Ecosystem::generic;
  std::string name;
  std::string version;       // as the database writes it; rpm: version-release
  std::string epoch;         // rpm only
  std::string architecture;  // in the ecosystem's words
  std::string source_name;   // of the source package, where it has another name or version
  std::string source_version;
  std::string build;      // conda: its build string
  std::string channel;    // conda: where it came from
  std::string supplier;   // its distributor, "" = not stated
  std::string homepage;   // a URL
  std::string download;   // a URL of the very file, or git+…
  std::string checksum;   // "sha256:…", "md5:…" or "git:…" of what `download` names
  std::string installer;  // Python: pip, conda, debian, …
  std::string method;     // generic: how kiln put it in
  std::string kind;       // generic: framework, library, compiler, …
  std::string state;      // dpkg: unpacked, half-configured or half-installed; "" = installed
  std::string database;   // path inside the image; "" = kiln put it in
  License license;
  std::string owner;  // Python: purl of the package that brought it
  // Metadata files of Python packages that this package brought, no leading "/": these packages are listed as
  // parts of it.
  std::vector<std::string> python;
};

// Where the image's operating system comes from: /etc/os-release.
struct Distribution {
  std::string id;       // debian
  std::string version;  // VERSION_ID, "" = rolling
  std::string name;     // "Debian GNU/Linux"
};

// The package URL (purl-spec): pkg:deb/debian/libc6@2.41-12?arch=amd64&distro=debian-13.
std::string package_url(const Package& package, const Distribution& distribution);

// A URL without what only its user may know: a password before the host, a token of conda's ("/t/TOKEN/").
std::string public_url(std::string url);

}  // namespace kiln::sbom
