// What both forms of a bill of materials share.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "factory/sbom/bill.h"

namespace kiln::sbom {

// A package with the name by which the document speaks of it.
struct NamedPackage {
  const Package* package = nullptr;
  std::string url;  // purl
  std::string
      id;  // letters, digits, "." and "-": from the purl, and the place where one purl is installed twice
};

// What kiln put in first, then the inventory; all ids are different. The bill outlives the list.
std::vector<NamedPackage> named_packages(const Bill& bill);

// SHA-256 over all that the bill says, but for time and tool, as a UUID (RFC 9562, version 8).
std::string uuid_of(const Bill& bill, const std::vector<NamedPackage>& packages);

}  // namespace kiln::sbom
