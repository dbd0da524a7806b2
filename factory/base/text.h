// Text: UTF-8, letters, case, and pieces of it, and what lists and maps of it hold. Letters and digits are
// ASCII's whatever the locale: all that is asked here is about names, options and formats, never about prose.
#pragma once

#include <algorithm>
#include <charconv>
#include <concepts>
#include <cstddef>
#include <optional>
#include <ranges>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kiln {

constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }
constexpr bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
constexpr bool is_letter_or_digit(char c) { return is_letter(c) || is_digit(c); }
// ASCII's control characters: what a terminal may obey, and no line of text holds.
constexpr bool is_control(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }
constexpr char lower_case(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }
constexpr char upper_case(char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; }

std::string lower_case(std::string_view text);
std::string upper_case(std::string_view text);

// Nothing but lower-case hex digits, as digests and commits are written; true for "".
bool is_hex(std::string_view text);

// Percent-encoding (RFC 3986): letters, digits and the characters of `plain` stand for themselves.
std::string percent_encoded(std::string_view text, std::string_view plain);

// The part of a path after its last slash, or the whole path without a slash.
std::string_view last_part(std::string_view path);

// White space as C defines it.
inline constexpr std::string_view kWhiteSpace = " \t\r\n\v\f";

// Without white space on both sides.
std::string_view trimmed(std::string_view text);

// The pieces between separators, empty ones too: one more than there are separators.
std::vector<std::string_view> split(std::string_view text, char separator);
std::vector<std::string_view> split(std::string_view text, std::string_view separators);  // at any of them

// The words one after the other, with `between` in the middle of each two.
template <typename Words>
std::string joined(const Words& words, std::string_view between) {
  std::string text;
  std::string_view before;
  for (std::string_view word : words) {
    text.append(before).append(word);
    before = between;
  }
  return text;
}

// The number that all of the text is, as std::from_chars reads it; `how` is a base. nullopt for other text.
template <typename Number>
std::optional<Number> as_number(std::string_view text, auto... how) {
  Number number{};
  const char* end = text.data() + text.size();
  const auto [rest, problem] = std::from_chars(text.data(), end, number, how...);
  return problem == std::errc() && rest == end ? std::optional(number) : std::nullopt;
}

// Whether the text contains the part, or the list the value.
constexpr bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}
constexpr bool contains(std::string_view text, char c) { return text.find(c) != std::string_view::npos; }
template <std::ranges::range List, typename Value>
requires(!std::convertible_to<const List&, std::string_view>) bool contains(const List& list,
                                                                            const Value& value) {
  return std::ranges::find(list, value) != std::ranges::end(list);
}

// The first item that is so; null without one.
template <typename List, typename Predicate>
auto* find_where(List& list, Predicate is_so) {
  const auto found = std::ranges::find_if(list, is_so);
  return found == std::ranges::end(list) ? nullptr : &*found;
}

// The value of a key; null where the map has none.
template <typename Map, typename Key>
const typename Map::mapped_type* find_value(const Map& map, const Key& key) {
  const auto found = map.find(key);
  return found == map.end() ? nullptr : &found->second;
}
// The value of a key, or `otherwise`.
template <typename Map, typename Key>
typename Map::mapped_type value_or(const Map& map, const Key& key, typename Map::mapped_type otherwise = {}) {
  const auto* found = find_value(map, key);
  return found == nullptr ? std::move(otherwise) : *found;
}

// Whether the text contains any of the words, which are a list of strings.
template <typename Words>
bool contains_any(std::string_view text, const Words& words) {
  return std::ranges::any_of(words, [&](std::string_view word) { return contains(text, word); });
}

// The offset of the first byte that belongs to no character of UTF-8 (RFC 3629); npos when there is none.
std::size_t first_not_utf8(std::string_view text);

// For a terminal: UTF-8 without escape sequences (ECMA-48) and controls of ASCII and Latin-1, but newlines
// and tabs. A byte of no character becomes U+FFFD, a character without a shape its number.
std::string without_controls(std::string_view text);

// The last `count` lines of a log, without_controls(); a carriage return ends a line, too.
std::string last_lines(std::string text, std::size_t count);

// "1 step", "5 steps"; `many` where that is not the word and an s.
std::string counted(std::size_t number, std::string_view word, std::string_view many = {});

// Globs over names: `*` any run of characters, `?` any one. No classes, no escapes; time is O(pattern ×
// text).
bool glob_matches(std::string_view pattern, std::string_view text);

// The character at `at`, where it has no shape and may make other text look like something else: of zero
// width, or one that turns the direction of writing. without_controls() shows it as "[U+202E]". nullopt for
// every other.
std::optional<char32_t> shapeless_at(std::string_view text, std::size_t at);

// without_controls() on one line: "\\n" and "\\t" in the place of newlines and tabs. For a cell of a table.
std::string on_one_line(std::string_view text);

}  // namespace kiln
