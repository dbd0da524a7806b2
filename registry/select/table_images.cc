#include "registry/select/table_images.h"

#include <unordered_map>
#include <utility>

namespace kiln {
namespace {

// Of its profile, read once.
class NumberedProfiles {
 public:
  explicit NumberedProfiles(IndexState& state) : state_(state) {}
  std::uint32_t number(std::int64_t profile) {
    auto [at, is_new] = numbers_.try_emplace(profile, static_cast<std::uint32_t>(parts_.size()));
    if (is_new) parts_.push_back(profile_record(state_, profile));
    return at->second;
  }
  std::vector<ImageRecord> parts() && { return std::move(parts_); }

 private:
  IndexState& state_;
  std::unordered_map<std::int64_t, std::uint32_t> numbers_;
  std::vector<ImageRecord> parts_;
};

}  // namespace

std::shared_ptr<const IndexEntry> measured_part(const IndexEntry& entry) {
  if (entry.measurements.empty()) return nullptr;
  auto kept = std::make_shared<IndexEntry>();
  kept->image.accelerators = entry.image.accelerators;
  kept->measurements = entry.measurements;
  return kept;
}

std::optional<RawTableImages> table_images(IndexState& state, const std::optional<std::string>& application) {
  const Asked asked = asked_for(state, {});
  if (!asked.live || asked.number < 0) return std::nullopt;
  RawTableImages raw;
  NumberedProfiles choices(state), hosts(state);
  for (const ApplicationRow& row : state.applications(asked.current)) {
    if (application && row.application != *application) continue;
    for (const ChoiceRow& choice : state.choices_of(row))
      for (TagRow& tag : state.tags_of(choice)) {
        if (tag.lost) continue;
        const bool is_mapping = choice.external;
        raw.table.images.push_back({tag.name, is_mapping ? "" : tag.name.first + ":" + tag.name.second, "",
                                    is_mapping ? Digest() : Digest::from_hex(tag.tagged.image),
                                    choices.number(choice.choice), hosts.number(tag.place), tag.tagged.stale,
                                    tag.tagged.failing, !tag.tagged.retired.empty()});
        if (is_mapping || tag.measured)
          raw.records.push_back({raw.table.images.size() - 1, is_mapping, raw_entry(state, std::move(tag))});
      }
  }
  raw.table.choices = std::move(choices).parts();
  raw.table.hosts = std::move(hosts).parts();
  return raw;
}

TableImages parsed(RawTableImages raw) {
  for (const RawTableImages::Record& record : raw.records) {
    TableImages::Image& image = raw.table.images[record.image];
    const IndexEntry entry = parsed(record.entry);
    if (record.is_mapping) {  // only its record has its name
      image.name = entry.image.name();
      image.code = entry.image.code;
    } else {
      image.measured = measured_part(entry);
    }
  }
  return std::move(raw.table);
}

}  // namespace kiln
