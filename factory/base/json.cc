#include "factory/base/json.h"

#include <fmt/format.h>

#include <algorithm>
#include <mutex>
#include <nlohmann/json.hpp>
#include <unordered_map>

#include "factory/base/json_scan.h"
#include "factory/base/reading.h"
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
  std::string pointer = pointer_to(pointer_, key);
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
  if (!is_name(text))
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
  return JsonNode(document_, &value, pointer_to(pointer_, token));
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
  std::ranges::sort(nodes, {}, [&](const auto& node) { return rank.at(node.second.value_); });
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
    throw Error(ExitCode::input, where_key(key), fmt::format("unknown key '{}'", key),
                did_you_mean(key, keys, "known keys: "));
  }
}

namespace {

// Whether a number begins there, in one of its digits, that a parser would shorten: 2.10, 3.00.
bool loses_zero(std::string_view number) {
  const std::size_t point = number.find('.');
  if (point == number.npos || number.size() < point + 3 || number.back() != '0') return false;
  return std::ranges::all_of(number, [](char c) { return is_digit(c) || c == '.'; });
}

// Most texts have none, in numbers or in strings: a second reading of them is spared.
bool may_have_one(std::string_view text) {
  for (std::size_t point = text.find('.'); point != text.npos; point = text.find('.', point + 1)) {
    std::size_t end = point + 1;
    while (end < text.size() && is_digit(text[end])) ++end;
    if (end > point + 2 && text[end - 1] == '0') return true;
  }
  return false;
}

// nlohmann's events, of which only where a number stands is of interest.
class NumberReader : public nlohmann::json_sax<Json> {
 public:
  explicit NumberReader(WrittenNumbers& found) : found_(found) {}

  bool null() override { return value(); }
  bool boolean(bool) override { return value(); }
  bool number_integer(std::int64_t) override { return value(); }
  bool number_unsigned(std::uint64_t) override { return value(); }
  bool number_float(double, const std::string& written) override {
    if (loses_zero(written)) found_[place()] = written;
    return value();
  }
  bool string(std::string&) override { return value(); }
  bool binary(Json::binary_t&) override { return value(); }
  bool start_object(std::size_t) override { return open(false); }
  bool end_object() override { return close(); }
  bool start_array(std::size_t) override { return open(true); }
  bool end_array() override { return close(); }
  bool key(std::string& name) override {
    levels_.back().key = pointer_to({}, name);
    return true;
  }
  bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception&) override {
    return false;
  }

 private:
  struct Level {
    bool is_array;
    std::size_t index = 0;
    std::string key{};
  };

  std::string place() const {
    std::string pointer;
    for (const Level& level : levels_)
      pointer += level.is_array ? "/" + std::to_string(level.index) : level.key;
    return pointer;
  }
  bool value() {
    if (!levels_.empty()) ++levels_.back().index;
    return true;
  }
  bool open(bool is_array) {
    levels_.push_back({is_array});
    return true;
  }
  bool close() {
    levels_.pop_back();
    return value();
  }

  WrittenNumbers& found_;
  std::vector<Level> levels_;
};

}  // namespace

WrittenNumbers written_numbers(std::string_view text) {
  WrittenNumbers found;
  if (!may_have_one(text)) return found;
  NumberReader reader(found);
  Json::sax_parse(text.begin(), text.end(), &reader, nlohmann::detail::input_format_t::json, true, true);
  return found;
}

}  // namespace kiln
