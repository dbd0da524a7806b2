#include "registry/index/index_reading.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <tuple>

#include "factory/base/text.h"
#include "registry/index/index_mended.h"
#include "registry/index/kept_speed.h"

namespace kiln {

namespace {

[[noreturn]] void fail_lost(std::int64_t number) {
  throw Error(ExitCode::store, fmt::format("snapshot {}, the current one, is lost", number),
              "`kiln publish` makes a new one of the built images");
}

SnapshotContent content_of(IndexState& state, const Asked& asked) {
  auto content = state.snapshot(asked.number);
  if (!content) no_snapshot(asked.number, asked.current.newest);
  return *std::move(content);
}

// Of a snapshot that is not the current one: nothing but the image's own row, or its sidecar, proves it.
std::optional<ImageRow> image_by_id(IndexState& state, const std::string& id) {
  auto row = state.image(id);
  return row ? row : state.image_by_sidecar(id);
}

std::vector<std::string> measurements_of(IndexState& state, const ImageRow& image) {
  std::vector<std::string> records;
  if (image.external || image.measured.empty()) return records;
  std::vector<MeasurementRow> rows = state.measurements_of(image.bits);
  const bool proven = measured_text(rows) == image.measured;
  for (MeasurementRow& row : rows) records.push_back(std::move(row.record));
  if (!proven)
    throw DamagedDatabase(
        fmt::format("the index is damaged: a measurement of image {} is not what was written", image.id));
  return records;
}

RawEntry with_measurements(IndexState& state, TagName name, Tagged tagged, ImageRow image) {
  std::vector<std::string> measurements = measurements_of(state, image);
  return {std::move(name), std::move(tagged), std::move(image), std::move(measurements)};
}

bool takes(const EntryFilter& filter, const std::string& application, bool is_measured) {
  return (!filter.application || application == *filter.application) &&
         (is_measured || !filter.only_measured);
}

ApplicationRow& row_for(std::vector<ApplicationRow>& rows, const std::string& application) {
  auto found = std::lower_bound(
      rows.begin(), rows.end(), application,
      [](const ApplicationRow& row, const std::string& name) { return row.application < name; });
  if (found == rows.end() || found->application != application)
    found = rows.insert(found, {application, 0, {}, {}});
  return *found;
}

}  // namespace

Asked asked_for(IndexState& state, std::optional<std::int64_t> snapshot) {
  Asked asked{state.current_row(), 0, false};
  const bool behind = state.is_behind(asked.current);
  asked.number = snapshot ? *snapshot
                 : behind ? current_by_sidecar(state.store).number
                          : asked.current.snapshot;
  asked.live = asked.number == asked.current.snapshot;
  return asked;
}

RawEntry raw_entry(IndexState& state, TagRow tag) {
  ImageRow image = state.image_of(tag);
  return with_measurements(state, std::move(tag.name), std::move(tag.tagged), std::move(image));
}

ImageRecord profile_record(IndexState& state, std::int64_t number) {
  const auto profile = state.profile(number);
  if (!profile) throw DamagedDatabase("the index is damaged: a profile is missing");
  return image_record_from_json(parse_own(profile->text, "index.db").root());
}

void no_snapshot(std::int64_t number, std::int64_t newest) {
  throw Error(ExitCode::no_match, fmt::format("there is no snapshot {}", number),
              newest == 0 ? "nothing was published yet"
                          : fmt::format("the newest is {}; `kiln index snapshots` shows them", newest));
}

// Images that are not lost and that the filter takes, proven.
static std::vector<RawEntry> raw_entries(IndexState& state, const EntryFilter& filter,
                                         std::optional<std::int64_t> snapshot) {
  const Asked asked = asked_for(state, snapshot);
  if (asked.live && asked.number < 0) fail_lost(-asked.number);
  std::vector<RawEntry> entries;
  if (!asked.live) {
    for (auto& [name, tagged] : content_of(state, asked).tags) {
      auto image = image_by_id(state, tagged.image);
      if (image && !image->lost && takes(filter, image->application, !image->measured.empty()))
        entries.push_back(with_measurements(state, name, std::move(tagged), *std::move(image)));
    }
    return entries;
  }
  for (const ApplicationRow& row : state.applications(asked.current)) {
    if (filter.application && row.application != *filter.application) continue;
    for (TagRow& tag : state.tags_of(row))
      if (!tag.lost && takes(filter, row.application, tag.measured))
        entries.push_back(raw_entry(state, std::move(tag)));
  }
  std::ranges::sort(entries, {}, &RawEntry::name);
  return entries;
}

// One for each application of the snapshot, proven.
static std::vector<ApplicationRow> application_rows(IndexState& state, std::optional<std::int64_t> snapshot) {
  const Asked asked = asked_for(state, snapshot);
  if (asked.live) return state.applications(asked.current);
  std::vector<ApplicationRow> rows;
  for (const auto& [name, tagged] : content_of(state, asked).tags) {
    auto image = image_by_id(state, tagged.image);
    if (!image || image->lost) continue;
    ApplicationRow& row = row_for(rows, image->application);
    ++row.images;
    for (const std::string& compiler : words_from(image->compilers)) ++row.compilers[compiler];
  }
  return rows;
}

namespace {

// Of each workload and kind of host the last tuning counts, and only if it recommends a setting.
void keep_last(std::vector<TunedRecord>& tuned) {
  std::map<std::string, const TunedRecord*> last;
  for (const TunedRecord& one : tuned) last[one.sum()] = &one;
  std::vector<TunedRecord> kept;
  for (const TunedRecord& one : tuned)
    if (one.recommended && last.at(one.sum()) == &one) kept.push_back(one);
  tuned = std::move(kept);
}

}  // namespace

IndexEntry parsed(const RawEntry& raw) {
  IndexEntry entry{image_record_from_json(parse_own(raw.image.record, "index.db").root()),
                   raw.tagged.stale,
                   {},
                   raw.tagged.failing,
                   raw.tagged.retired,
                   raw.tagged.matrices};
  if (entry.image.external()) return entry;
  // The record knows the last tag that the image got; this snapshot may know it by another.
  std::tie(entry.image.repository, entry.image.tag) = raw.name;
  for (const std::string& record : raw.measurements) {
    KeptSpeed speed = kept_speed_from_json(parse_own(record, "index.db").root());
    if (auto* measured = std::get_if<Measurement>(&speed); measured == nullptr)
      entry.tuned.push_back(std::get<TunedRecord>(std::move(speed)));
    else if (!measured->withdrawn)
      entry.measurements.push_back(std::move(*measured));
  }
  const auto earlier = [](const auto& a, const auto& b) { return a.taken < b.taken; };
  std::ranges::stable_sort(entry.measurements, earlier);
  std::ranges::stable_sort(entry.tuned, earlier);
  keep_last(entry.tuned);
  return entry;
}

namespace {

// Parsing is most of the time, and nobody who writes has to wait for it.
std::vector<IndexEntry> entries_in(IndexState& state, const EntryFilter& filter,
                                   std::optional<std::int64_t> snapshot) {
  std::vector<RawEntry> raw;
  {
    Transaction transaction(state.database, Database::Access::read);  // one state for all statements
    raw = raw_entries(state, filter, snapshot);
  }
  std::vector<IndexEntry> entries;
  entries.reserve(raw.size());
  for (const RawEntry& one : raw) entries.push_back(parsed(one));
  return entries;
}

}  // namespace

Index::Index(std::unique_ptr<IndexState> state) : state_(std::move(state)) {}
Index::Index(Index&&) noexcept = default;
Index& Index::operator=(Index&&) noexcept = default;
Index::~Index() = default;

std::vector<IndexEntry> Index::entries(std::optional<std::int64_t> snapshot) const {
  return mended([&] { return entries_in(*state_, {}, snapshot); });
}

std::vector<IndexEntry> Index::entries_of(const std::string& application,
                                          std::optional<std::int64_t> snapshot) const {
  return mended([&] { return entries_in(*state_, {lower_case(application), false}, snapshot); });
}

void Index::prove() const {
  mended([&] { state_->check_content(); });
}

std::vector<IndexEntry> Index::measured_entries() const {
  return mended([&] { return entries_in(*state_, {std::nullopt, true}, std::nullopt); });
}

void Index::read(const std::function<void(IndexState& state)>& use) const {
  mended([&] {
    Transaction transaction(state_->database, Database::Access::read);
    use(*state_);
  });
}

std::optional<IndexEntry> Index::found_by(
    const std::function<std::optional<RawEntry>(IndexState& state)>& find) const {
  std::optional<IndexEntry> found;
  read([&](IndexState& state) {
    const auto raw = find(state);
    found = raw ? std::optional(parsed(*raw)) : std::nullopt;
  });
  return found;
}

std::map<std::string, std::size_t> Index::applications(std::optional<std::int64_t> snapshot) const {
  return mended([&] {
    Transaction transaction(state_->database, Database::Access::read);
    std::map<std::string, std::size_t> images;
    for (const ApplicationRow& row : application_rows(*state_, snapshot))
      images.emplace(row.application, static_cast<std::size_t>(row.images));
    return images;
  });
}

std::vector<std::string> Index::compilers(std::optional<std::int64_t> snapshot) const {
  return mended([&] {
    Transaction transaction(state_->database, Database::Access::read);
    std::set<std::string> names;
    for (const ApplicationRow& row : application_rows(*state_, snapshot))
      for (const auto& [name, images] : row.compilers) names.insert(name);
    return std::vector<std::string>(names.begin(), names.end());
  });
}

std::vector<Snapshot> Index::snapshots() const {
  return mended([&] {
    Transaction transaction(state_->database, Database::Access::read);
    const std::int64_t now = state_->current();
    const bool is_held = current_by_sidecar(state_->store).held;
    std::vector<Snapshot> result;
    for (const SnapshotRow& row : state_->snapshot_rows())
      result.push_back({row.number, row.created, row.note, static_cast<std::size_t>(row.images),
                        row.number == now, row.number == now && is_held});
    const bool behind =
        now > 0 && std::ranges::none_of(result, [](const Snapshot& one) { return one.current; });
    if (!behind) return result;
    auto content = state_->snapshot(now);
    if (content)
      result.insert(result.begin(),
                    {now, content->created, content->note, content->tags.size(), true, is_held});
    return result;
  });
}

std::int64_t Index::current() const {
  return mended([&] { return std::max<std::int64_t>(0, state_->current()); });
}

// What a name stood for over the snapshots.

namespace {

TagSpan span_of(const Tagged& tagged, std::int64_t first, std::int64_t last) {
  return {first, last, tagged.image, tagged.stale, tagged.failing, tagged.retired};
}

std::vector<TagSpan> spans_of(IndexState& state, const TagName& name) {
  std::vector<TagSpan> spans;
  for (const PastRow& row : all_rows<PastRow>(
           state.database, "past WHERE repository = ?1 AND tag = ?2 ORDER BY first", name.first, name.second))
    spans.push_back(span_of(row.tagged, row.first, row.last));
  // A first snapshot that is not there yet: it came back with a rollback, and what it was there is in `past`.
  const std::int64_t newest = state.current_row().newest;
  if (const auto tag = state.tag(name); tag && tag->first <= newest)
    spans.push_back(span_of(tag->tagged, tag->first, newest));
  std::ranges::stable_sort(spans, {}, &TagSpan::first);
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
