// Licences as SPDX licence expressions (SPDX 2.3, annex D), from what package databases say of them: SPDX
// expressions, the short names of Debian's machine-readable copyright files, Fedora's, and the names that
// Python packages use. Pure.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace kiln::sbom {

// What is said of a package's licence. Names that the SPDX list does not have become LicenseRef-….
struct License {
  std::string expression;                        // "" = nothing is said
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

}  // namespace kiln::sbom
