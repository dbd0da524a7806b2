// What a name stood for over the snapshots.
#include <fmt/format.h>

#include <algorithm>

#include "registry/index/index_mended.h"
#include "registry/index/index_reading.h"

namespace kiln {
namespace {

TagSpan span_of(const Tagged& tagged, std::int64_t first, std::int64_t last) {
  return {first, last, tagged.image, tagged.stale, tagged.failing, tagged.retired};
}

std::vector<TagSpan> spans_of(IndexState& state, const TagName& name) {
  std::vector<TagSpan> spans;
  LentStatement past = state.database.lend(fmt::format(
      "SELECT {} FROM past WHERE repository = ?1 AND tag = ?2 ORDER BY first", PastRow::kColumns));
  past->with(name.first, name.second);
  while (past->step()) {
    const PastRow row = PastRow::from(*past);
    spans.push_back(span_of(row.tagged, row.first, row.last));
  }
  // A first snapshot that is not there yet: it came back with a rollback, and what it was there is in `past`.
  const std::int64_t newest = state.current_row().newest;
  if (const auto tag = state.tag(name); tag && tag->first <= newest)
    spans.push_back(span_of(tag->tagged, tag->first, newest));
  std::stable_sort(spans.begin(), spans.end(),
                   [](const TagSpan& a, const TagSpan& b) { return a.first < b.first; });
  return spans;
}

}  // namespace

std::vector<TagSpan> Index::history(const std::string& repository, const std::string& tag) const {
  return mended([&] {
    Transaction transaction(state_->database, Database::Access::read);
    return spans_of(*state_, {repository, tag});
  });
}

}  // namespace kiln
