#include "factory/base/json.h"

#include <fmt/format.h>

#include <algorithm>
#include <mutex>
#include <nlohmann/json.hpp>
#include <unordered_map>

#include "factory/base/json_scan.h"
#include "factory/base/text.h"

namespace kiln {

struct JsonDocument::Parsed {
  std::string file;
  std::string text;
  JsonLimits limits;
  ScannedJson scanned;

  const JsonPlaces& places() const {
    std::call_once(places_made_, [&] { places_ = json_places(text, file, limits); });
    return places_;
  }

 private:
  mutable std::once_flag places_made_;
  mutable JsonPlaces places_;
};

namespace {

std::string escape_token(std::string_view token) {
  std::string out;
  for (char c : token) {
    if (c == '~')
      out += "~0";
    else if (c == '/')
      out += "~1";
    else
      out += c;
  }
  return out;
}

bool is_name_character(char c, bool first) {
  bool alphanumeric = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  return alphanumeric || (!first && (c == '_' || c == '.' || c == '+' || c == '-'));
}

}  // namespace

JsonDocument JsonDocument::parse(std::string_view text, std::string file, const JsonLimits& limits) {
  auto parsed = std::make_shared<Parsed>();
  parsed->file = std::move(file);
  parsed->text = text;
  parsed->limits = limits;
  parsed->scanned = scan_json(text, parsed->file, limits);
  JsonDocument document;
  document.parsed_ = std::move(parsed);
  return document;
}

JsonNode JsonDocument::root() const { return JsonNode(*this, &parsed_->scanned.value, ""); }
const std::string& JsonDocument::file() const { return parsed_->file; }
const Json& JsonDocument::value() const { return parsed_->scanned.value; }

SourceLocation JsonNode::where() const {
  const JsonPlaces& places = document_.parsed_->places();
  auto found = places.find(pointer_);
  SourceLocation where{document_.file(), 0, 0, pointer_};
  if (found != places.end()) {
    where.line = found->second.line;
    where.column = found->second.column;
  }
  return where;
}

SourceLocation JsonNode::where_key(std::string_view key) const {
  std::string pointer = pointer_ + "/" + escape_token(key);
  SourceLocation location = where();
  location.pointer = pointer;
  const JsonPlaces& places = document_.parsed_->places();
  auto found = places.find(pointer);
  if (found != places.end() && found->second.key_line > 0) {
    location.line = found->second.key_line;
    location.column = found->second.key_column;
  }
  return location;
}

bool JsonNode::is_object() const { return value_->is_object(); }
bool JsonNode::is_array() const { return value_->is_array(); }
bool JsonNode::is_string() const { return value_->is_string(); }
bool JsonNode::is_number() const { return value_->is_number(); }
bool JsonNode::is_boolean() const { return value_->is_boolean(); }
bool JsonNode::is_null() const { return value_->is_null(); }

void JsonNode::fail(std::string message, std::string hint) const {
  throw Error(ExitCode::input, where(), std::move(message), std::move(hint));
}

std::string describe_type(const Json& value) {
  if (value.is_object()) return "an object";
  if (value.is_array()) return "an array";
  if (value.is_string()) return "a string";
  if (value.is_boolean()) return "a boolean";
  if (value.is_number()) return "a number";
  return "null";
}

std::string JsonNode::string() const {
  if (!is_string()) {
    std::string hint = is_number() ? "put it in quotes (a version such as 3.10 would lose its zero)" : "";
    fail("expected a string, found " + describe_type(*value_), hint);
  }
  return value_->get<std::string>();
}

std::string JsonNode::name() const {
  std::string text = string();
  bool good = !text.empty() && text.size() <= 128 && !contains(text, "..");
  for (std::size_t i = 0; good && i < text.size(); ++i) good = is_name_character(text[i], i == 0);
  if (!good)
    fail(
        fmt::format("expected a name of letters, digits, '_', '.', '+' and '-', found {}", Json(text).dump()),
        "a name starts with a letter or digit, holds no '..' and is at most 128 bytes long");
  return text;
}

std::string JsonNode::line_of_text() const {
  std::string text = string();
  for (char c : text)
    if (is_control(c))
      fail("expected one line of text, found a control character", "newlines and tabs are not allowed here");
  return text;
}

std::int64_t JsonNode::integer(std::int64_t least, std::int64_t most) const {
  if (!value_->is_number_integer()) fail("expected a whole number, found " + describe_type(*value_));
  bool fits = !value_->is_number_unsigned() || value_->get<std::uint64_t>() <= INT64_MAX;
  std::int64_t number = fits ? value_->get<std::int64_t>() : 0;
  if (!fits || number < least || number > most)
    fail(fmt::format("expected a whole number from {} to {}, found {}", least, most, value_->dump()));
  return number;
}

double JsonNode::number() const {
  if (!is_number()) fail("expected a number, found " + describe_type(*value_));
  return value_->get<double>();
}

bool JsonNode::boolean() const {
  if (!is_boolean()) fail("expected true or false, found " + describe_type(*value_));
  return value_->get<bool>();
}

JsonNode JsonNode::child(std::string_view token, const Json& value) const {
  return JsonNode(document_, &value, pointer_ + "/" + escape_token(token));
}

std::vector<JsonNode> JsonNode::items() const {
  if (!is_array()) fail("expected an array, found " + describe_type(*value_));
  std::vector<JsonNode> nodes;
  nodes.reserve(value_->size());
  for (std::size_t i = 0; i < value_->size(); ++i) nodes.push_back(child(std::to_string(i), (*value_)[i]));
  return nodes;
}

std::vector<std::pair<std::string, JsonNode>> JsonNode::members() const {
  if (!is_object()) fail("expected an object, found " + describe_type(*value_));
  std::vector<std::pair<std::string, JsonNode>> nodes;
  nodes.reserve(value_->size());
  const auto& object = value_->get_ref<const Json::object_t&>();
  for (const auto& [key, value] : object) nodes.emplace_back(key, child(key, value));
  const JsonOrders& orders = document_.parsed_->scanned.orders;
  auto order = orders.find(&object);
  if (order == orders.end()) return nodes;
  std::unordered_map<const Json*, std::size_t> rank;
  for (const Json* value : order->second) rank.emplace(value, rank.size());
  std::ranges::sort(nodes, [&](const auto& a, const auto& b) {
    return rank.at(a.second.value_) < rank.at(b.second.value_);
  });
  return nodes;
}

std::vector<std::string> JsonNode::strings() const {
  if (is_string()) return {string()};
  if (!is_array()) fail("expected a string or an array of strings, found " + describe_type(*value_));
  std::vector<std::string> texts;
  texts.reserve(value_->size());
  for (std::size_t i = 0; i < value_->size(); ++i) {
    const Json& item = (*value_)[i];  // a node for each costs more than the text
    texts.push_back(item.is_string() ? item.get<std::string>() : child(std::to_string(i), item).string());
  }
  return texts;
}

std::optional<JsonNode> JsonNode::find(std::string_view key) const {
  if (!is_object()) fail("expected an object, found " + describe_type(*value_));
  auto found = value_->find(std::string(key));
  if (found == value_->end()) return std::nullopt;
  return child(key, *found);
}

JsonNode JsonNode::at(std::string_view key) const {
  auto node = find(key);
  if (!node) fail(fmt::format("the key '{}' is missing", key));
  return *node;
}

void JsonNode::allow_only(const std::vector<std::string>& keys) const {
  auto known = [&](const std::string& key) { return key == "$schema" || contains(keys, key); };
  const auto* object = value_->get_ptr<const Json::object_t*>();
  if (object != nullptr && std::ranges::all_of(*object, [&](const auto& item) { return known(item.first); }))
    return;
  for (const auto& [key, node] : members()) {  // the first in the file
    if (known(key)) continue;
    std::string hint = did_you_mean(key, keys);
    if (hint.empty()) hint = fmt::format("known keys: {}", fmt::join(keys, ", "));
    throw Error(ExitCode::input, where_key(key), fmt::format("unknown key '{}'", key), hint);
  }
}

}  // namespace kiln
