#include "factory/base/reading.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>

#include "factory/base/text.h"

namespace kiln {
namespace {

// One folder or file of a path that goes into Dockerfiles, definition files and scripts as it stands.
bool is_path_part(std::string_view part) {
  if (part.empty() || part == "." || part == ".." || part[0] == '-') return false;
  return std::ranges::all_of(part, [](char c) { return is_letter_or_digit(c) || contains("_.+-@", c); });
}

bool are_path_parts(std::string_view path) {
  const std::vector<std::string_view> parts = split(path, '/');
  return std::ranges::all_of(parts, is_path_part);
}

}  // namespace

const std::vector<std::string>& method_names() {
  static const std::vector<std::string> kNames = {"hub", "pip", "distro", "vendor", "source"};
  return kNames;
}

bool is_name(std::string_view text) {
  if (text.empty() || text.size() > 128 || contains(text, "..")) return false;
  if (!is_letter_or_digit(text[0])) return false;
  return std::ranges::all_of(text, [](char c) { return is_letter_or_digit(c) || contains("_.+-", c); });
}

bool is_variable_name(std::string_view text) {
  if (text.empty() || is_digit(text[0])) return false;
  return std::ranges::all_of(text, [](char c) { return is_letter_or_digit(c) || c == '_'; });
}

bool is_fact_name(std::string_view text) {
  return is_variable_name(text) && std::ranges::none_of(text, [](char c) { return c >= 'A' && c <= 'Z'; });
}

// distribution-spec, "Pulling manifests": [a-z0-9]+((\.|_|__|-+)[a-z0-9]+)*, and / between such parts.
bool is_repository_name(std::string_view text) {
  constexpr std::string_view kLettersAndDigits = "abcdefghijklmnopqrstuvwxyz0123456789";
  auto is_separator = [](std::string_view between) {
    return between == "/" || between == "." || between == "_" || between == "__" ||
           between.find_first_not_of('-') == between.npos;
  };
  while (!text.empty()) {
    const std::size_t end = std::min(text.find_first_not_of(kLettersAndDigits), text.size());
    if (end == 0) return false;
    text.remove_prefix(end);
    if (text.empty()) return true;
    const std::size_t next = std::min(text.find_first_of(kLettersAndDigits), text.size());
    if (!is_separator(text.substr(0, next))) return false;
    text.remove_prefix(next);
  }
  return false;
}

bool is_tag(std::string_view text) {
  return !text.empty() && text.size() <= 128 && text.front() != '.' && text.front() != '-' &&
         std::ranges::all_of(
             text, [](char c) { return is_letter_or_digit(c) || c == '_' || c == '.' || c == '-'; });
}

MissingFile describe_missing(const FileSystem& files, const fs::path& path) {
  if (files.is_directory(path)) return {fmt::format("'{}' is a folder", path.string()), ""};
  const fs::path folder = path.parent_path().empty() ? fs::path(".") : path.parent_path();
  return {fmt::format("there is no file '{}'", path.string()),
          did_you_mean(path.filename().string(), files.list(folder))};
}

JsonDocument read_document(const FileSystem& files, const fs::path& file, const JsonLimits& limits) {
  std::optional<std::string> text;
  if (!files.is_directory(file)) text = files.read(file, limits.bytes);
  if (!text) {
    MissingFile missing = describe_missing(files, file);
    throw Error(ExitCode::input, std::move(missing.message), std::move(missing.hint));
  }
  return JsonDocument::parse(*text, file.string(), limits);
}

std::string read_text(const JsonNode& node) {
  std::string text = node.line_of_text();
  if (text.empty()) node.fail("expected a line of text, found an empty string");
  return text;
}

VersionRange read_range(const JsonNode& node) {
  const std::string text = read_text(node);
  return node.placed([&] { return VersionRange::parse(text); });
}

std::string read_relative_path(const JsonNode& node) {
  std::string text = node.string();
  if (text.starts_with('/'))
    node.fail(fmt::format("expected a path inside the folder, found the absolute path '{}'", text));
  if (!are_path_parts(text))
    node.fail(fmt::format("expected a file inside the folder, found {}", node.value().dump()),
              "no '..', no leading '-', and letters, digits and _ . + - @ only");
  return text;
}

std::string read_absolute_path(const JsonNode& node) {
  std::string text = node.string();
  if (!text.starts_with('/') || !are_path_parts(std::string_view(text).substr(1)))
    node.fail(
        fmt::format("expected an absolute path, found {}", node.value().dump()),
        "for example /opt/kiln/name: no '..', no '/' at the end, and letters, digits and _ . + - @ only");
  return text;
}

std::string read_word_of(const JsonNode& node, const std::vector<std::string>& words, std::string_view what) {
  std::string word = node.string();
  if (!contains(words, word))
    node.fail(fmt::format("expected {}, found '{}'", what, word), did_you_mean(word, words, "one of "));
  return word;
}

std::vector<JsonNode> read_distinct(const JsonNode& node, std::string_view what) {
  std::vector<JsonNode> items = node.items();
  std::map<std::string, std::string> seen;
  for (const JsonNode& item : items) {
    auto [first, fresh] = seen.emplace(item.value().dump(), item.pointer());
    if (!fresh)
      item.fail(fmt::format("{} {} is there twice", what, first->first), "first at " + first->second);
  }
  return items;
}

std::vector<JsonNode> read_at_least_one(const JsonNode& node, std::string_view what) {
  std::vector<JsonNode> items = read_distinct(node, what);
  if (items.empty()) node.fail(fmt::format("expected at least one {}, found an empty array", what));
  return items;
}

std::map<std::string_view, std::string_view> embedded_keys();

const KeyTable& key_table() {
  static const KeyTable kTable = nlohmann::json::parse(embedded_keys().at("keys.json")).get<KeyTable>();
  return kTable;
}

const std::vector<std::string>& keys_of(std::string_view object) { return key_table().find(object)->second; }

namespace {

struct Unit {
  std::string_view name;
  std::uint64_t factor;
};
constexpr Unit kTimes[] = {{"s", 1}, {"m", 60}, {"h", 3600}, {"d", 86400}};
constexpr Unit kSizes[] = {{"B", 1},
                           {"KiB", std::uint64_t{1} << 10},
                           {"MiB", std::uint64_t{1} << 20},
                           {"GiB", std::uint64_t{1} << 30}};

template <std::size_t N>
std::optional<std::uint64_t> quantity_of(std::string_view text, const Unit (&units)[N]) {
  const std::size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
  std::uint64_t number = 0;
  bool fits = digits > 0;
  for (char c : text.substr(0, digits))
    fits = fits && !__builtin_mul_overflow(number, 10u, &number) &&
           !__builtin_add_overflow(number, static_cast<std::uint64_t>(c - '0'), &number);
  for (const Unit& unit : units)
    if (fits && text.substr(digits) == unit.name && !__builtin_mul_overflow(number, unit.factor, &number) &&
        number <= static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))
      return number;
  return std::nullopt;
}

template <std::size_t N>
std::uint64_t read_quantity(const JsonNode& node, const Unit (&units)[N], std::string_view what,
                            std::string_view hint) {
  const std::string text = node.is_number() ? "" : node.string();
  if (auto quantity = quantity_of(text, units)) return *quantity;
  node.fail(node.is_number() ? fmt::format("expected {} with its unit, found a number", what)
                             : fmt::format("expected {}, found '{}'", what, text),
            std::string(hint));
}

}  // namespace

std::optional<std::chrono::seconds> duration_of(std::string_view text) {
  const auto seconds = quantity_of(text, kTimes);
  return seconds ? std::optional(std::chrono::seconds(*seconds)) : std::nullopt;
}

std::chrono::seconds read_duration(const JsonNode& node, std::string_view what, std::string_view hint) {
  return std::chrono::seconds(read_quantity(node, kTimes, what, hint));
}

std::chrono::seconds read_limit_of_time(const JsonNode& node) {
  return read_duration(node, "a duration",
                       "a whole number and s, m, h or d, such as \"45m\"; \"0s\" is no limit");
}

std::uint64_t read_limit_of_size(const JsonNode& node) {
  return read_quantity(node, kSizes, "a size",
                       "a whole number and B, KiB, MiB or GiB, such as \"256MiB\"; \"0B\" is no limit");
}

}  // namespace kiln
