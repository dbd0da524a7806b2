// Files of a site with its infrastructures, enforcement scripts and scaling models.
#pragma once

#include <string>
#include <vector>

#include "factory/base/effects.h"
#include "registry/index/site_documents.h"

namespace kiln {

// By the kind of their documents. Each file has one document, or an array of them.
struct SiteFiles {
  std::vector<std::string> infrastructures;
  std::vector<std::string> scripts;
  std::vector<std::string> scaling_models;
};

// Throws Error(input).
std::vector<SiteDocument> read_site_files(const SiteFiles& named, const FileSystem& files);

}  // namespace kiln
