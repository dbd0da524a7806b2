#include "registry/index/kept_speed.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <tuple>

#include "registry/index/index.h"
#include "registry/index/index_mended.h"
#include "registry/index/next_snapshot.h"

namespace kiln {

KeptSpeed kept_speed_from_json(const JsonNode& node) {
  if (node.find("settings")) return tuned_record_from_json(node);
  return measurement_from_json(node);
}

const Digest& image_of(const KeptSpeed& speed) {
  const auto* measured = std::get_if<Measurement>(&speed);
  return measured != nullptr ? measured->image : std::get<TunedRecord>(speed).manifest;
}

const std::string& key_of(const KeptSpeed& speed) {
  return std::visit([](const auto& one) -> const std::string& { return one.key; }, speed);
}

namespace {

// Of the row that a measurement replaces: the same speed of the same session, before its last round or before
// runs were discarded. Old ones have no session; a withdrawal of one has its time. 0: there is none.
std::int64_t number_of_same(IndexState& state, const Measurement& measurement) {
  if (measurement.session.empty() && !measurement.withdrawn) return 0;
  auto mark = [](const Measurement& one) {
    return std::tuple(one.workload, one.unit, one.host.model, one.host.cores, one.session,
                      one.session.empty() ? one.taken : "");
  };
  Statement rows = state.database.prepare("SELECT number, record FROM measurements WHERE image = ?1");
  rows.with(measurement.image.hex());
  while (rows.step()) {
    const KeptSpeed kept = kept_speed_from_json(parse_own(rows.text(1), "index.db").root());
    const auto* one = std::get_if<Measurement>(&kept);
    if (one != nullptr && mark(*one) == mark(measurement)) return rows.integer(0);
  }
  return 0;
}

// Equal bits may have several manifests: a setting of another one stays in its row, and is older.
std::optional<std::int64_t> number_of_same(IndexState& state, const TunedRecord& tuned) {
  bool is_known = tuned.recommended;
  for (const MeasurementRow& row : state.measurements_of(tuned.key)) {
    const KeptSpeed kept = kept_speed_from_json(parse_own(row.record, "index.db").root());
    const auto* one = std::get_if<TunedRecord>(&kept);
    if (one == nullptr || one->sum() != tuned.sum()) continue;
    is_known = true;
    if (row.image == tuned.manifest.hex()) return row.number;
  }
  return is_known ? std::optional<std::int64_t>(0) : std::nullopt;
}

}  // namespace

void Index::keep_speed(const Digest& image_digest, const std::string& text, const FindRow& replaced) {
  std::string written;  // its sidecar: made again, the index has taken it in
  mended([&] {
    if (!written.empty()) return;
    const BlobStore& store = state_->writable_store();
    const std::string& image = image_digest.hex();
    IndexChange step(*state_);
    const std::optional<std::int64_t> row = replaced(*state_);
    if (!row) return;
    std::int64_t number = *row;
    if (number == 0) {
      Statement last = state_->database.prepare("SELECT max(number) FROM measurements WHERE image = ?1");
      number = (last.with(image).step() ? last.integer(0) : 0) + 1;
      // One that a killed process left is another.
      while (store.read_sidecar(BlobStore::Sidecar::measurement, fmt::format("{}-{}", image, number)))
        ++number;
    }
    written = fmt::format("{}-{}", image, number);
    store.write_sidecar(BlobStore::Sidecar::measurement, written, text);
    step.writer().put_measurement(image, number, text);
    step.commit();
  });
}

void Index::record(const Measurement& measurement) {
  keep_speed(measurement.image, to_json(measurement).dump(),
             [&](IndexState& state) { return number_of_same(state, measurement); });
}

void Index::record(const TunedRecord& tuned) {
  keep_speed(tuned.manifest, to_json(tuned).dump(),
             [&](IndexState& state) { return number_of_same(state, tuned); });
}

}  // namespace kiln
