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

static TableImages::Image table_image(IndexState& state, TagRow tag, bool is_mapping) {
  TableImages::Image image{
      tag.name, {}, {}, {}, 0, 0, tag.tagged.stale, tag.tagged.failing, !tag.tagged.retired.empty()};
  if (is_mapping) {  // only its record has its name
    const IndexEntry entry = parsed(raw_entry(state, std::move(tag)));
    image.name = entry.image.name();
    image.code = entry.image.code;
    return image;
  }
  image.name = tag.name.first + ":" + tag.name.second;
  image.manifest = Digest::from_hex(tag.tagged.image);
  if (tag.measured) image.measured = measured_part(parsed(raw_entry(state, std::move(tag))));
  return image;
}

std::optional<TableImages> table_images(IndexState& state, const std::optional<std::string>& application) {
  const Asked asked = asked_for(state, {});
  if (!asked.live || asked.number < 0) return std::nullopt;
  TableImages table;
  NumberedProfiles choices(state), hosts(state);
  for (const ApplicationRow& row : state.applications(asked.current)) {
    if (application && row.application != *application) continue;
    for (const ChoiceRow& choice : state.choices_of(row))
      for (TagRow& tag : state.tags_of(choice)) {
        if (tag.lost) continue;
        const std::int64_t place = tag.place;
        TableImages::Image& image =
            table.images.emplace_back(table_image(state, std::move(tag), choice.external));
        image.choice = choices.number(choice.choice);
        image.host = hosts.number(place);
      }
  }
  table.choices = std::move(choices).parts();
  table.hosts = std::move(hosts).parts();
  return table;
}

}  // namespace kiln
