#include "registry/index/mapping_import.h"

#include <fmt/format.h>

#include <algorithm>
#include <future>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "factory/base/effects.h"
#include "factory/base/text.h"
#include "registry/index/retirements.h"

namespace kiln {
namespace {

using Record = std::pair<Digest, std::string>;

constexpr std::size_t kWriters = 32;
constexpr std::size_t kRecordsAtOnce = 1024;

void stop_if_told() {
  if (interrupted()) throw Error(ExitCode::interrupted, "interrupted");
}

// Each waits for the disk three times, and those that wait together are done together.
void write_together(const std::vector<Record>& records, const BlobStore& store) {
  stop_if_told();
  std::vector<std::future<void>> writers;
  for (std::size_t first = 0; first < std::min(kWriters, records.size()); ++first)
    writers.push_back(std::async(std::launch::async, [&records, &store, first] {
      for (std::size_t i = first; i < records.size(); i += kWriters)
        store.write_record(records[i].first, records[i].second);
    }));
  for (std::future<void>& writer : writers) writer.get();
}

}  // namespace

MappingImport::MappingImport(IndexWriter& writer) : writer_(writer), state_(writer.state()) {}

void MappingImport::take(const ImageRecord& mapping) {
  stop_if_told();
  if (!mapping.external() || mapping.reference.empty() || mapping.code.empty())
    throw Error(
        ExitCode::store,
        fmt::format("cannot import '{}': it needs a reference and a code, and no manifest", mapping.name()));
  const std::string record = to_json(mapping).dump();
  Taken taken{mapping.identity(), mapping.bits(), false};
  const bool known = state_.record(taken.identity.hex()) == record;
  if (!known) writer_.put_image(mapping, record);
  taken.is_new = !known || replaced_.erase(taken.identity.hex()) > 0;
  auto [at, first] = taken_.try_emplace(mapping.code, taken);
  if (first) return;
  const Taken before = std::exchange(at->second, taken);
  if (before.identity == taken.identity)
    at->second.is_new = before.is_new;
  else if (before.is_new)
    replaced_.insert(before.identity.hex());
}

std::int64_t MappingImport::finish(const std::string& created) {
  const std::vector<TagChange> changed = changes();
  drop_replaced();
  const bool is_new =
      std::any_of(taken_.begin(), taken_.end(), [](const auto& one) { return one.second.is_new; });
  const std::int64_t current = writer_.current().snapshot;
  if (!is_new && changed.empty() && current >= 0) return current;
  write_sidecars();
  return make_snapshot(writer_, changed, created, counted(taken_.size(), "imported mapping"));
}

std::vector<TagChange> MappingImport::changes() {
  TagEdits edits(state_);
  const RetiredReasons retired(state_);
  for (const auto& [code, taken] : taken_) {
    std::optional<Tagged>& tagged = edits.at({"", code});
    if (!tagged) tagged.emplace();
    tagged->image = taken.identity.hex();
    tagged->stale = false;
    tagged->retired = retired.of(taken.bits);
  }
  return edits.changes();
}

void MappingImport::write_sidecars() {
  const BlobStore& store = state_.writable_store();
  std::vector<Record> records;
  for (const auto& [code, taken] : taken_) {
    if (taken.is_new) records.emplace_back(taken.identity, *state_.record(taken.identity.hex()));
    if (records.size() < kRecordsAtOnce) continue;
    write_together(records, store);
    records.clear();
  }
  write_together(records, store);
}

void MappingImport::drop_replaced() {
  for (const std::string& identity : replaced_) writer_.erase_image(identity);
}

}  // namespace kiln
