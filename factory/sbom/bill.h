// The bill of materials of one image, and the two forms in which other tools read it. The same bill gives the
// same bytes. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "factory/sbom/inventory.h"

namespace kiln::sbom {

struct Bill {
  std::string name;                 // pytorch, or oci:DIR for an image that kiln did not make
  std::string version;              // its tag, or digest; may be ""
  std::string description;          // may be ""
  std::string identity;             // name of the bill: the image's key, or the digest of its manifest
  std::int64_t created = 0;         // seconds since 1970
  std::string tool;                 // version of kiln
  std::vector<Package> components;  // packages from kiln, in layering order
  Inventory inventory;
};

// SPDX 2.3, JSON.
std::string to_spdx(const Bill& bill);
// CycloneDX 1.6, JSON.
std::string to_cyclonedx(const Bill& bill);

inline constexpr std::string_view kSpdxType = "application/spdx+json";
inline constexpr std::string_view kCycloneDxType = "application/vnd.cyclonedx+json";

}  // namespace kiln::sbom
