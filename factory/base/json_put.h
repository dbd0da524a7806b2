// Writing JSON objects of which empty members are left out: a document shows what is known and nothing else.
#pragma once

#include <nlohmann/json.hpp>

namespace kiln {

template <typename Value>
void put(nlohmann::json& json, const char* key, const Value& value) {
  if (!value.empty()) json[key] = value;
}

}  // namespace kiln
