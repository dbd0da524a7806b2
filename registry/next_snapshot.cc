#include "registry/next_snapshot.h"

#include <fmt/format.h>

namespace kiln {

SnapshotContent current_content(IndexState& state) {
  std::int64_t number = state.current();
  if (number <= 0) return {};
  auto content = state.snapshot(number);
  if (!content) throw DamagedDatabase(fmt::format("the index is damaged: no snapshot {}", number));
  return *std::move(content);
}

std::map<std::string, std::string> retired_bits(IndexState& state, const SnapshotContent& content) {
  std::map<std::string, std::string> reasons;
  for (const auto& [name, tagged] : content.tags) {
    auto record = tagged.retired.empty() ? std::nullopt : state.record(tagged.image);
    if (!record) continue;
    const ImageRecord image = image_record_from_json(parse_own(*record, "index.db").root());
    reasons.emplace(image.external() ? tagged.image : image.key, tagged.retired);
  }
  return reasons;
}

std::int64_t make_current(IndexState& state, SnapshotContent content, const std::string& created,
                          const std::string& note) {
  content.number = state.newest_snapshot() + 1;
  content.created = created;
  content.note = note;
  state.writable_store().write_sidecar(BlobStore::Sidecar::snapshot, std::to_string(content.number),
                                       content.text());
  state.write_current_sidecar(content.number);
  state.insert_snapshot(content);
  state.set_current(content.number);
  return content.number;
}

}  // namespace kiln
