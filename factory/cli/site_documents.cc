#include "factory/cli/site_documents.h"

#include "factory/base/text.h"
#include "factory/cli/invocation.h"
#include "factory/cli/state_lock.h"

namespace kiln {

std::vector<SiteDocument> kept_documents(SiteKind kind, std::int64_t snapshot, const Invocation& invocation) {
  auto documents = invocation.index(Index::Mode::read)
                       .site_documents(snapshot > 0 ? std::optional(snapshot) : std::nullopt);
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
