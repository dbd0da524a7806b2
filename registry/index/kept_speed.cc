#include "registry/index/kept_speed.h"

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

}  // namespace kiln
