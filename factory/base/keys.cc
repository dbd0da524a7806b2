#include "factory/base/keys.h"

#include <nlohmann/json.hpp>

namespace kiln {

std::map<std::string_view, std::string_view> embedded_keys();

const KeyTable& key_table() {
  static const KeyTable kTable = nlohmann::json::parse(embedded_keys().at("keys.json")).get<KeyTable>();
  return kTable;
}

const std::vector<std::string>& keys_of(std::string_view object) { return key_table().find(object)->second; }

}  // namespace kiln
