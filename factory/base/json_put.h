// Writing JSON objects of which empty members are left out: a document shows what is known and nothing else.
// And arrays of what is written for each of several things.
#pragma once

#include <nlohmann/json.hpp>

namespace kiln {

template <typename Value>
void put(nlohmann::json& json, const char* key, const Value& value) {
  if (!value.empty()) json[key] = value;
}

template <typename Items, typename Make>
nlohmann::json json_list(const Items& items, Make make) {
  nlohmann::json list = nlohmann::json::array();
  for (const auto& item : items) list.push_back(make(item));
  return list;
}
template <typename Items>
nlohmann::json json_list(const Items& items) {
  return json_list(items, [](const auto& item) { return to_json(item); });
}

}  // namespace kiln
