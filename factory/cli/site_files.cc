#include "factory/cli/site_files.h"

#include <filesystem>

#include "factory/base/reading.h"
#include "registry/deploy/deploy_site.h"

namespace kiln {

std::vector<SiteDocument> read_site_files(const SiteFiles& named, const FileSystem& files) {
  std::vector<SiteDocument> documents;
  auto read = [&](SiteKind kind, const std::vector<std::string>& names) {
    for (const std::string& name : names)
      for (SiteDocument& one :
           read_site_documents(kind, read_document(files, name), std::filesystem::path(name).stem().string()))
        documents.push_back(std::move(one));
  };
  read(SiteKind::infrastructure, named.infrastructures);
  read(SiteKind::script, named.scripts);
  read(SiteKind::scaling_model, named.scaling_models);
  return documents;
}

}  // namespace kiln
