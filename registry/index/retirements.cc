#include "registry/index/retirements.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>

#include "factory/base/json.h"

namespace kiln {
namespace {

constexpr const char* kRetired = "retired";
constexpr std::int64_t kStill = std::numeric_limits<std::int64_t>::max();  // of a tag of the current snapshot

// What is said of bits by the newest snapshot that has them.
class LastWords {
 public:
  explicit LastWords(IndexState& state) : state_(state) {}

  void add(const Tagged& tagged, std::int64_t last) {
    const auto row = state_.image(tagged.image);
    if (!row || row->bits.empty()) return;
    auto [found, is_new] = said_.try_emplace(row->bits, last, tagged.retired);
    const bool is_later = last > found->second.first;
    if (is_later || (last == found->second.first && !tagged.retired.empty()))
      found->second = {last, tagged.retired};
  }

  Retirements retired() const {
    Retirements retired;
    for (const auto& [bits, said] : said_)
      if (!said.second.empty()) retired[bits] = said.second;
    return retired;
  }

 private:
  IndexState& state_;
  std::map<std::string, std::pair<std::int64_t, std::string>> said_;  // the last snapshot, and the reason
};

bool has_retired(IndexState& state) {
  for (const char* table : {"tags", "past"})
    if (state.database.lend(fmt::format("SELECT 1 FROM {} WHERE retired <> '' LIMIT 1", table))->step())
      return true;
  return false;
}

Retirements retired_by_history(IndexState& state) {
  if (!has_retired(state)) return {};
  LastWords words(state);
  for (const auto& [name, tagged] : state.live_tags()) words.add(tagged, kStill);
  std::vector<PastRow> past;
  {
    LentStatement rows = state.database.lend(fmt::format("SELECT {} FROM past", PastRow::kColumns));
    while (rows->step()) past.push_back(PastRow::from(*rows));
  }
  for (const PastRow& row : past) words.add(row.tagged, row.last);
  return words.retired();
}

std::optional<Retirements> written_retirements(const BlobStore& store) {
  const auto text = store.read_sidecar(BlobStore::Sidecar::snapshot, kRetired);
  if (!text) return std::nullopt;
  Retirements found;
  const JsonDocument document = parse_own(*text, "retired.json");
  for (const auto& [bits, reason] : document.root().at(kRetired).members()) found[bits] = reason.string();
  return found;
}

}  // namespace

Retirements all_retirements(IndexState& state) {
  auto written = written_retirements(state.store);
  return written ? *std::move(written) : retired_by_history(state);
}

RetiredReasons::RetiredReasons(IndexState& state)
    : state_(state), written_(written_retirements(state.store)) {}

std::string RetiredReasons::of(const std::string& bits) const {
  if (written_) {
    const auto found = written_->find(bits);
    return found == written_->end() ? "" : found->second;
  }
  std::vector<TagRow> tags = state_.tags_of_bits(bits);
  std::erase_if(tags, [](const TagRow& tag) { return tag.tagged.retired.empty(); });
  const auto first = std::min_element(tags.begin(), tags.end(),
                                      [](const TagRow& a, const TagRow& b) { return a.name < b.name; });
  return first == tags.end() ? "" : first->tagged.retired;
}

void write_retirements(IndexState& state, const Retirements& retirements) {
  Json list = Json::object();
  for (const auto& [bits, reason] : retirements) list[bits] = reason;
  const std::string text = Json{{kRetired, std::move(list)}}.dump();
  const BlobStore& store = state.writable_store();
  if (store.read_sidecar(BlobStore::Sidecar::snapshot, kRetired) != text)
    store.write_sidecar(BlobStore::Sidecar::snapshot, kRetired, text);
}

}  // namespace kiln
