#include "factory/run/parent_image.h"

#include <algorithm>

namespace kiln {
namespace {

constexpr std::string_view kApplication = "application";

// Both hold a component: what decides the bits is equal already, as keys are.
bool has_component(const ImageRecord& record, const ComponentUse& use) {
  return std::any_of(
      record.components.begin(), record.components.end(), [&](const ComponentRecord& component) {
        return component.kind == name_of(use.kind) && component.name == use.name &&
               component.version.text() == use.version.text() && component.method == use.method;
      });
}

bool is_below(const ImageRecord& record, const ImageSpec& derived) {
  if (record.cpu != derived.target.cpu || record.accelerators != derived.target.accelerators) return false;
  std::size_t below = 0;
  for (const ComponentUse& use : derived.components) {
    if (use.kind == Kind::application) continue;
    if (!has_component(record, use)) return false;
    ++below;
  }
  return below == record.components.size() &&
         std::none_of(record.components.begin(), record.components.end(),
                      [](const ComponentRecord& one) { return one.kind == kApplication; });
}

}  // namespace

std::optional<ImageRecord> packaged_parent(const ImageSpec& derived, const std::string& parent_key,
                                           const RecordReader& reader) {
  std::vector<ImageRecord> records = reader.images_of(parent_key);
  if (records.empty()) return std::nullopt;
  const auto found = std::find_if(records.begin(), records.end(),
                                  [&](const ImageRecord& record) { return is_below(record, derived); });
  return std::move(found == records.end() ? records.front() : *found);
}

ImageSpec with_parent_labels(const ImageSpec& derived, const RecordReader& reader) {
  ImageSpec labelled = derived;
  const auto key = derived.labels.find(kParentKeyLabel);
  if (key == derived.labels.end()) return labelled;
  if (const auto parent = packaged_parent(derived, key->second, reader)) {
    labelled.labels["org.opencontainers.image.base.name"] = parent->name();
    labelled.labels["org.opencontainers.image.base.digest"] = parent->manifest.text();
  }
  return labelled;
}

}  // namespace kiln
