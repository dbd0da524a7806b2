#include <fmt/format.h>

#include <algorithm>

#include "factory/base/text.h"
#include "registry/index/index.h"
#include "registry/index/index_mended.h"
#include "registry/index/index_reading.h"
#include "registry/index/next_snapshot.h"

namespace kiln {
namespace {

// Whether it changes nothing: it is there already, or it removes what is not there.
bool is_known(const std::vector<SiteDocument>& known, const SiteDocument& document) {
  const auto same = std::find_if(known.begin(), known.end(), [&](const SiteDocument& one) {
    return one.kind == document.kind && one.name == document.name;
  });
  return (same == known.end() ? "" : same->document) == document.document;
}

std::string note_of(const std::vector<SiteDocument>& documents) {
  const bool removes = std::all_of(documents.begin(), documents.end(),
                                   [](const SiteDocument& one) { return one.document.empty(); });
  return counted(documents.size(), "document") + " of the site" + (removes ? " removed" : "");
}

}  // namespace

std::vector<SiteDocument> Index::site_documents(std::optional<std::int64_t> snapshot) const {
  return mended([&] {
    const std::int64_t number = snapshot ? *snapshot : std::max<std::int64_t>(0, state_->current());
    if (snapshot && !state_->snapshot_row(*snapshot)) no_snapshot(*snapshot, state_->current_row().newest);
    return site_documents_of(all_site_documents(state_->store), number);
  });
}

std::int64_t Index::import_site_documents(std::vector<SiteDocument> documents, const std::string& created) {
  return mended([&] {
    const BlobStore& store = state_->writable_store();
    const std::string folders = folder_marks(store);
    IndexChange step(*state_);
    const CurrentRow& current = step.writer().current();
    std::vector<SiteDocument> all = all_site_documents(store);
    const std::vector<SiteDocument> known = site_documents_of(all, current.snapshot);
    std::erase_if(documents, [&](const SiteDocument& one) { return is_known(known, one); });
    if (documents.empty()) return current.snapshot;
    step.writer().knows_folders(folders);
    for (SiteDocument& one : documents) {
      one.since = current.newest + 1;
      all.push_back(one);
    }
    // First: killed before the snapshot is made, nothing shows it until there is a snapshot of this number.
    write_site_documents(store, all);
    const std::int64_t number = make_snapshot(step.writer(), {}, created, note_of(documents));
    step.commit();
    return number;
  });
}

}  // namespace kiln
