// Documents of ours whose members are named once, for the writer and for the reader:
//
//   template <typename Fields>
//   void describe(Fields& fields, Trend& trend) {
//     fields.must("name", trend.name);    // always there
//     fields.may("night", trend.night);   // absent where it is empty, 0 or false
//   }
//
// written(trend) is its JSON, and read_into(node, trend) reads it. Members are texts, numbers, described
// types, lists and maps of these, and enumerations with name_of(value) and read_name(name, value), which is
// false for a word that is none. An ExitCode is a number. describe() stands before its users in namespace
// kiln.
#pragma once

#include <concepts>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <type_traits>
#include <vector>

#include "factory/base/effects.h"
#include "factory/base/json.h"

namespace kiln {

class FieldWriter;

template <typename Value>
concept Described = requires(FieldWriter& fields, Value& value) {
  describe(fields, value);
};

template <typename Value>
Json written(const Value& value);
// Throws Error(input) with the place of what is missing or of another kind.
template <typename Value>
void read_into(const JsonNode& node, Value& value);

class FieldWriter {
 public:
  template <typename Value>
  void must(const char* key, const Value& value) {
    json[key] = written(value);
  }
  template <typename Value>
  void may(const char* key, const Value& value) {
    if constexpr (requires { value.empty(); }) {
      if (!value.empty()) must(key, value);
    } else if constexpr (Described<Value>) {
      if (Json part = written(value); !part.empty()) json[key] = std::move(part);
    } else {
      if (value != Value{}) must(key, value);
    }
  }
  // A member that is there on this condition; a reader takes it where it is.
  template <typename Value>
  void when(bool is_there, const char* key, const Value& value) {
    if (is_there) must(key, value);
  }
  // Unix seconds, as a date; absent for 0.
  void date(const char* key, std::int64_t seconds) {
    if (seconds != 0) json[key] = rfc3339(seconds);
  }

  Json json = Json::object();
};

class FieldReader {
 public:
  explicit FieldReader(const JsonNode& node) : node_(node) {}
  template <typename Value>
  void must(const char* key, Value& value) {
    read_into(node_.at(key), value);
  }
  template <typename Value>
  void may(const char* key, Value& value) {
    if (const auto found = node_.find(key)) read_into(*found, value);
  }
  template <typename Value>
  void when(bool, const char* key, Value& value) {
    may(key, value);
  }
  void date(const char* key, std::int64_t& seconds) {
    const auto found = node_.find(key);
    if (!found) return;
    const auto read = unix_seconds_of(found->string());
    if (!read) found->fail("expected a date such as 2026-11-23T02:00:00Z, found '" + found->string() + "'");
    seconds = *read;
  }

 private:
  const JsonNode& node_;
};

template <typename Value>
Json written(const Value& value) {
  if constexpr (Described<Value>) {
    FieldWriter fields;
    describe(fields, const_cast<Value&>(value));  // a writer changes nothing
    return std::move(fields.json);
  } else if constexpr (std::is_same_v<Value, ExitCode>) {
    return static_cast<int>(value);
  } else if constexpr (std::is_enum_v<Value>) {
    return name_of(value);
  } else if constexpr (requires { typename Value::mapped_type; }) {
    Json object = Json::object();
    for (const auto& [key, one] : value) object[key] = written(one);
    return object;
  } else if constexpr (requires { typename Value::value_type; } && !std::is_same_v<Value, std::string>) {
    Json array = Json::array();
    for (const auto& one : value) array.push_back(written(one));
    return array;
  } else {
    return value;
  }
}

template <typename Value>
void read_into(const JsonNode& node, Value& value) {
  if constexpr (Described<Value>) {
    FieldReader fields(node);
    describe(fields, value);
  } else if constexpr (std::is_same_v<Value, ExitCode>) {
    value = static_cast<ExitCode>(node.integer(0, 255));
  } else if constexpr (std::is_enum_v<Value>) {
    if (!read_name(node.string(), value)) node.fail("unknown value '" + node.string() + "'");
  } else if constexpr (std::is_same_v<Value, bool>) {
    value = node.boolean();
  } else if constexpr (std::is_same_v<Value, std::string>) {
    value = node.string();
  } else if constexpr (std::is_same_v<Value, std::vector<std::string>>) {
    value = node.strings();
  } else if constexpr (std::is_floating_point_v<Value>) {
    value = node.number();
  } else if constexpr (std::is_integral_v<Value>) {
    constexpr bool is_small = sizeof(Value) < sizeof(std::int64_t);
    value = static_cast<Value>(node.integer(
        0, is_small ? std::numeric_limits<std::int32_t>::max() : std::numeric_limits<std::int64_t>::max()));
  } else if constexpr (requires { typename Value::mapped_type; }) {
    for (const auto& [key, one] : node.members()) read_into(one, value[key]);
  } else {
    for (const JsonNode& one : node.items()) read_into(one, value.emplace_back());
  }
}

}  // namespace kiln
