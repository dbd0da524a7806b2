// kiln's own documents, whose members are named once, for the writer and for the reader:
//
//   template <typename Fields>
//   void describe(Fields& fields, Trend& trend) {
//     fields.refuse_others(trend);                           // a reader refuses members that are not named
//     fields.must("name", trend.name, &JsonNode::name);      // always there; read by the function
//     fields.may("night", trend.night);                      // absent where it is empty, 0 or false
//     fields.when(trend.before > 0, "before", trend.before); // written on a condition, read where it is
//   }
//
// fields_of(trend) writes the JSON, and read_into(node, trend) reads it. Members are texts, numbers (an
// ExitCode is one), described types, optional members, lists and maps of these, and enumerations with
// name_of(value) and read_name(name, value), which returns false for an unknown word. Any other type needs a
// function that reads it, and to_json(value) or value.text() writes it. Declare describe() in namespace kiln,
// before the types that use it. A to_json(value) in a header takes precedence in each file, so that written()
// is the same function everywhere.
#pragma once

#include <concepts>
#include <functional>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
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
template <Described Value>
Json fields_of(const Value& value);
// Throws Error(input) with the place of what is missing or of another kind.
template <typename Value>
void read_into(const JsonNode& node, Value& value);

template <typename Value>
inline constexpr bool kIsOptional = false;
template <typename Value>
inline constexpr bool kIsOptional<std::optional<Value>> = true;

// The names of the members of a described type.
class FieldNames {
 public:
  template <typename Value>
  static const std::vector<std::string>& of() {
    static const std::vector<std::string> names = [] {
      FieldNames fields;
      Value value;
      describe(fields, value);
      return fields.names_;
    }();
    return names;
  }

  void refuse_others(const auto& /*value*/) {}
  void must(const char* key, const auto&... /*value*/) { names_.emplace_back(key); }
  void may(const char* key, const auto&... /*value*/) { names_.emplace_back(key); }
  void when(bool, const char* key, const auto&... /*value*/) { names_.emplace_back(key); }
  void date(const char* key, std::int64_t) { names_.emplace_back(key); }

 private:
  std::vector<std::string> names_;
};

class FieldWriter {
 public:
  void refuse_others(const auto& /*value*/) {}
  void must(const char* key, const auto& value, const auto&... /*read*/) { json[key] = written(value); }
  template <typename Value>
  void may(const char* key, const Value& value, const auto&... /*read*/) {
    if constexpr (requires { value.empty(); }) {
      if (!value.empty()) must(key, value);
    } else if constexpr (kIsOptional<Value>) {
      if (value) must(key, *value);
    } else if constexpr (Described<Value>) {
      if (Json part = fields_of(value); !part.empty()) json[key] = std::move(part);
    } else if constexpr (requires { value.text(); }) {
      if (!value.text().empty()) must(key, value);
    } else {
      if (value != Value{}) must(key, value);
    }
  }
  void when(bool is_there, const char* key, const auto& value, const auto&... /*read*/) {
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
  void refuse_others(const Value& /*value*/) {
    node_.allow_only(FieldNames::of<Value>());
  }
  void must(const char* key, auto& value, const auto&... read) { take(node_.at(key), value, read...); }
  void may(const char* key, auto& value, const auto&... read) {
    if (const auto found = node_.find(key)) take(*found, value, read...);
  }
  void when(bool, const char* key, auto& value, const auto&... read) { may(key, value, read...); }
  void date(const char* key, std::int64_t& seconds) {
    const auto found = node_.find(key);
    if (!found) return;
    const auto read = unix_seconds_of(found->string());
    if (!read) found->fail("expected a date such as 2026-11-23T02:00:00Z, found '" + found->string() + "'");
    seconds = *read;
  }

 private:
  static void take(const JsonNode& node, auto& value) { read_into(node, value); }
  static void take(const JsonNode& node, auto& value, const auto& read) { value = std::invoke(read, node); }

  const JsonNode& node_;
};

template <typename Value>
Json written(const Value& value) {
  if constexpr (std::is_arithmetic_v<Value> || std::is_same_v<Value, std::string> ||
                std::is_same_v<Value, Json>) {
    return value;
  } else if constexpr (requires {
                         { to_json(value) } -> std::same_as<Json>;
                       }) {
    return to_json(value);
  } else if constexpr (Described<Value>) {
    return fields_of(value);
  } else if constexpr (std::is_same_v<Value, ExitCode>) {
    return static_cast<int>(value);
  } else if constexpr (std::is_enum_v<Value>) {
    return name_of(value);
  } else if constexpr (kIsOptional<Value>) {
    return written(*value);
  } else if constexpr (std::is_same_v<Value, fs::path>) {
    return value.string();
  } else if constexpr (requires { value.text(); }) {
    return value.text();
  } else if constexpr (requires { typename Value::mapped_type; }) {
    Json object = Json::object();
    for (const auto& [key, one] : value) object[key] = written(one);
    return object;
  } else {
    Json array = Json::array();
    for (const auto& one : value) array.push_back(written(one));
    return array;
  }
}

template <Described Value>
Json fields_of(const Value& value) {
  FieldWriter fields;
  describe(fields, const_cast<Value&>(value));  // a writer changes nothing
  return std::move(fields.json);
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
  } else if constexpr (kIsOptional<Value>) {
    read_into(node, value.emplace());
  } else if constexpr (std::is_same_v<Value, bool>) {
    value = node.boolean();
  } else if constexpr (std::is_same_v<Value, std::string> || std::is_same_v<Value, fs::path>) {
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

template <typename Value>
Value read_as(const JsonNode& node) {
  Value value;
  read_into(node, value);
  return value;
}

}  // namespace kiln
