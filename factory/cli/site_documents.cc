#include "factory/cli/site_documents.h"

#include <fmt/format.h>

#include <filesystem>

#include "factory/base/error.h"
#include "factory/base/reading.h"
#include "factory/cli/invocation.h"
#include "factory/cli/options.h"
#include "factory/cli/state_lock.h"
#include "registry/deploy/deploy_site.h"

namespace kiln {

std::vector<SiteDocument> read_site_files(const SiteFiles& named, const FileSystem& files) {
  std::vector<SiteDocument> documents;
  auto read = [&](SiteKind kind, const std::vector<std::string>& names) {
    for (const std::string& name : names)
      for (SiteDocument& one : read_site_documents(kind, read_document(files, name),
                                                   std::filesystem::path(name).stem().string())) {
        for (const SiteDocument& other : documents)
          if (other.kind == kind && other.name == one.name && other.document != one.document)
            throw Error(ExitCode::input, {name, 0, 0, ""},
                        fmt::format("two different documents are called '{}'", one.name),
                        "give one of them another name");
        documents.push_back(std::move(one));
      }
  };
  read(SiteKind::infrastructure, named.infrastructures);
  read(SiteKind::script, named.scripts);
  read(SiteKind::scaling_model, named.scaling_models);
  return documents;
}

std::vector<SiteDocument> kept_documents(SiteKind kind, std::int64_t snapshot, const Invocation& invocation) {
  auto documents = invocation.index(Index::Mode::read).site_documents(snapshot_of(snapshot));
  std::erase_if(documents, [&](const SiteDocument& one) { return one.kind != kind; });
  return documents;
}

std::int64_t change_documents(std::vector<SiteDocument> documents, const std::string& what,
                              Invocation& invocation) {
  const WriterLock lock = lock_state(invocation, what);
  return invocation.index(Index::Mode::write)
      .import_site_documents(std::move(documents), rfc3339(invocation.clock.unix_seconds()));
}

}  // namespace kiln
