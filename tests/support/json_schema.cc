#include "support/json_schema.h"

#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>
#include <stdexcept>

namespace kiln::testing {
namespace {

using Violations = std::vector<std::string>;

class Validator {
 public:
  explicit Validator(const Json& root) : root_(root) {}

  Violations check(const Json& schema, const Json& value, const std::string& at) const {
    Violations found;
    if (schema.is_boolean()) {
      if (!schema.get<bool>()) found.push_back(at + ": not allowed");
      return found;
    }
    for (const auto& [keyword, argument] : schema.items()) {
      static const std::set<std::string> kNotes = {"$schema", "$defs", "title", "description"};
      if (kNotes.contains(keyword)) continue;
      if (!check_value(keyword, argument, value, at, found) &&
          !check_array(keyword, argument, value, at, found) &&
          !check_object(keyword, argument, schema, value, at, found) &&
          !check_logic(keyword, argument, value, at, found))
        throw std::invalid_argument("unknown keyword " + keyword);
    }
    return found;
  }

 private:
  static void demand(bool holds, Violations& found, const std::string& at, const std::string& keyword) {
    if (!holds) found.push_back(at + ": " + keyword);
  }

  static bool has_type(const Json& value, const std::string& type) {
    if (type == "object") return value.is_object();
    if (type == "array") return value.is_array();
    if (type == "string") return value.is_string();
    if (type == "boolean") return value.is_boolean();
    if (type == "integer") return value.is_number_integer();
    if (type == "number") return value.is_number();
    if (type == "null") return value.is_null();
    throw std::invalid_argument("unknown type " + type);
  }

  static bool matches(const Json& pattern, const std::string& text) {
    return std::regex_search(text, std::regex(pattern.get<std::string>(), std::regex::ECMAScript));
  }

  // Each of these is true when it knows the keyword.
  static bool check_value(const std::string& keyword, const Json& argument, const Json& value,
                          const std::string& at, Violations& found) {
    bool holds = true;
    if (keyword == "type")
      holds = has_type(value, argument.get<std::string>());
    else if (keyword == "enum")
      holds = std::find(argument.begin(), argument.end(), value) != argument.end();
    else if (keyword == "pattern")
      holds = !value.is_string() || matches(argument, value.get<std::string>());
    else if (keyword == "minLength")
      holds = !value.is_string() || value.get<std::string>().size() >= argument.get<std::size_t>();
    else if (keyword == "maxLength")
      holds = !value.is_string() || value.get<std::string>().size() <= argument.get<std::size_t>();
    else if (keyword == "minimum")
      holds = !value.is_number() || value >= argument;
    else if (keyword == "maximum")
      holds = !value.is_number() || value <= argument;
    else
      return false;
    demand(holds, found, at, keyword);
    return true;
  }

  bool check_array(const std::string& keyword, const Json& argument, const Json& value, const std::string& at,
                   Violations& found) const {
    if (keyword != "items" && keyword != "minItems" && keyword != "uniqueItems") return false;
    if (!value.is_array()) return true;
    if (keyword == "minItems") demand(value.size() >= argument.get<std::size_t>(), found, at, keyword);
    if (keyword == "uniqueItems") {
      std::set<std::string> seen;
      for (const Json& item : value) demand(seen.insert(item.dump()).second, found, at, keyword);
    }
    if (keyword == "items")
      for (std::size_t i = 0; i < value.size(); ++i)
        add(found, check(argument, value[i], at + "/" + std::to_string(i)));
    return true;
  }

  bool check_object(const std::string& keyword, const Json& argument, const Json& schema, const Json& value,
                    const std::string& at, Violations& found) const {
    static const std::set<std::string> kKnown = {"properties",    "patternProperties", "additionalProperties",
                                                 "propertyNames", "required",          "dependentRequired",
                                                 "minProperties", "maxProperties"};
    if (!kKnown.contains(keyword)) return false;
    if (!value.is_object()) return true;
    if (keyword == "maxProperties") demand(value.size() <= argument.get<std::size_t>(), found, at, keyword);
    if (keyword == "minProperties") demand(value.size() >= argument.get<std::size_t>(), found, at, keyword);
    if (keyword == "required")
      for (const Json& key : argument)
        demand(value.contains(key.get<std::string>()), found, at, "required " + key.dump());
    if (keyword == "dependentRequired")
      for (const auto& [key, others] : argument.items())
        for (const Json& other : others)
          demand(!value.contains(key) || value.contains(other.get<std::string>()), found, at, keyword);
    for (const auto& [key, member] : value.items()) {
      const std::string place = at + "/" + key;
      if (keyword == "properties" && argument.contains(key)) add(found, check(argument[key], member, place));
      if (keyword == "propertyNames") add(found, check(argument, Json(key), place));
      if (keyword == "additionalProperties" && !is_named(schema, key))
        add(found, check(argument, member, place));
      if (keyword == "patternProperties")
        for (const auto& [pattern, inner] : argument.items())
          if (matches(pattern, key)) add(found, check(inner, member, place));
    }
    return true;
  }

  static bool is_named(const Json& schema, const std::string& key) {
    if (schema.contains("properties") && schema["properties"].contains(key)) return true;
    if (schema.contains("patternProperties"))
      for (const auto& [pattern, inner] : schema["patternProperties"].items())
        if (matches(pattern, key)) return true;
    return false;
  }

  bool check_logic(const std::string& keyword, const Json& argument, const Json& value, const std::string& at,
                   Violations& found) const {
    if (keyword == "$ref") {
      add(found, check(root_.at(Json::json_pointer(argument.get<std::string>().substr(1))), value, at));
    } else if (keyword == "not") {
      demand(!check(argument, value, at).empty(), found, at, keyword);
    } else if (keyword == "anyOf" || keyword == "oneOf") {
      std::size_t valid = 0;
      for (const Json& choice : argument) valid += check(choice, value, at).empty() ? 1 : 0;
      demand(keyword == "anyOf" ? valid > 0 : valid == 1, found, at, keyword);
    } else {
      return false;
    }
    return true;
  }

  static void add(Violations& found, const Violations& more) {
    found.insert(found.end(), more.begin(), more.end());
  }

  const Json& root_;
};

}  // namespace

std::vector<std::string> schema_violations(const Json& schema, const Json& value) {
  return Validator(schema).check(schema, value, "");
}

}  // namespace kiln::testing
