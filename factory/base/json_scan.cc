#include "factory/base/json_scan.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <exception>

#include "factory/base/text.h"

namespace kiln {
namespace {

struct Cursor {
  int line = 1;
  int column = 1;
};

// Walks the text token by token in step with the parser, so that each SAX event gets its place. The parser
// has already accepted what it reports, so this reader trusts the syntax of everything before the current
// event.
class TokenWalk {
 public:
  explicit TokenWalk(std::string_view text) : text_(text) {}

  // Moves to the next token that is a value, key or bracket, returns its place, and steps over it.
  Cursor next() {
    skip_filler();
    Cursor start = cursor_;
    step_over_token();
    return start;
  }

  // The end of the last token: where a comma is missing, it is missing here.
  Cursor here() const { return cursor_; }
  // True when a comma stands before the last token.
  bool after_comma() const { return after_comma_; }

 private:
  bool at_end() const { return position_ >= text_.size(); }
  char peek() const { return text_[position_]; }

  void advance() {
    if (text_[position_] == '\n') {
      ++cursor_.line;
      cursor_.column = 1;
    } else {
      ++cursor_.column;
    }
    ++position_;
  }

  void skip_filler() {
    after_comma_ = false;
    while (!at_end()) {
      char c = peek();
      after_comma_ = after_comma_ || c == ',';
      if (c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == ',' || c == ':')
        advance();
      else if (c == '/')
        skip_comment();
      else
        return;
    }
  }

  void skip_comment() {
    bool block = position_ + 1 < text_.size() && text_[position_ + 1] == '*';
    advance();
    if (!at_end()) advance();
    while (!at_end()) {
      if (!block && peek() == '\n') return;
      if (block && peek() == '*' && position_ + 1 < text_.size() && text_[position_ + 1] == '/') {
        advance();
        advance();
        return;
      }
      advance();
    }
  }

  void step_over_token() {
    if (at_end()) return;
    char first = peek();
    advance();
    if (first == '"') {
      while (!at_end() && peek() != '"') {
        if (peek() == '\\') advance();
        if (!at_end()) advance();
      }
      if (!at_end()) advance();
    } else if (first != '{' && first != '}' && first != '[' && first != ']') {
      while (!at_end() && std::string_view(" \t\r\n,:/{}[]\"").find(peek()) == std::string_view::npos)
        advance();
    }
  }

  std::string_view text_;
  std::size_t position_ = 0;
  Cursor cursor_;
  bool after_comma_ = false;
};

// The text is refused: the pass with places says why.
struct Refused : std::exception {};

// With `places` every value's place is noted, and what is wrong is an Error; without, it is Refused.
class Scanner {
 public:
  Scanner(std::string_view text, const std::string& file, const JsonLimits& limits, JsonPlaces* places)
      : file_(file), limits_(limits), places_(places), walk_(text) {}

  ScannedJson finish() { return {std::move(root_), std::move(orders_)}; }

  // nlohmann's SAX interface. Returning is always true: failures are thrown.
  bool null() { return put(nullptr); }
  bool boolean(bool value) { return put(value); }
  bool number_integer(std::int64_t value) { return put(value); }
  bool number_unsigned(std::uint64_t value) { return put(value); }
  // nlohmann's lexer writes the decimal point of the process's locale into the digits, which is not ours to
  // choose in a program that embeds us.
  bool number_float(double value, std::string digits) {
    Cursor at = next();
    for (char& c : digits)
      if (!contains("0123456789+-eE", c)) c = '.';
    double exact = 0;
    if (std::from_chars(digits.data(), digits.data() + digits.size(), exact).ec == std::errc{}) value = exact;
    bool integral = digits.find_first_of(".eE") == std::string::npos;
    if (integral) fail(at, fmt::format("the whole number {} does not fit into 64 bits", digits));
    if (!std::isfinite(value)) fail(at, fmt::format("the number {} is too large", digits));
    place(at, Json(value));
    return true;
  }
  bool string(std::string& value) {
    Cursor at = next();
    if (value.size() > limits_.string_bytes)
      fail(at, fmt::format("a string of {} bytes, the limit is {}", value.size(), limits_.string_bytes));
    place(at, Json(std::move(value)));
    return true;
  }
  bool binary(Json::binary_t&) { return false; }  // never in text
  bool start_object(std::size_t) { return open(Json::object()); }
  bool start_array(std::size_t) { return open(Json::array()); }
  bool end_object() { return close(); }
  bool end_array() { return close(); }
  bool key(std::string& name) {
    key_at_ = next();
    key_ = std::move(name);
    Level& level = stack_.back();
    if (level.value->contains(key_))
      fail(key_at_, fmt::format("the key '{}' stands here a second time", key_),
           "equal keys would silently overwrite each other: keep one");
    level.sorted = level.sorted && (level.members.empty() || level.last_key < key_);
    return true;
  }
  bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception& problem) {
    if (places_ == nullptr) throw Refused();
    std::string what = problem.what();
    // "[json.exception.parse_error.101] parse error at line 1, column 2: syntax error while … - unexpected
    // …": the tail says what.
    std::size_t tail = what.rfind("; expected ");
    std::string hint = tail == std::string::npos ? "" : what.substr(tail + 2);
    std::string found = what;
    std::size_t dash = what.rfind(" - ");
    if (dash != std::string::npos)
      found = what.substr(dash + 3,
                          tail == std::string::npos || tail < dash ? std::string::npos : tail - dash - 3);
    const Cursor end = walk_.here();
    const Cursor at = walk_.next();  // everything before the offending token was accepted
    if (const std::string number = overflown(what); !number.empty())
      fail(at, fmt::format("the number {} is too large", printable(number)), "the largest is about 1.8e308");
    if (found.starts_with("unexpected end of input")) fail(at, "not valid JSON: " + found, after_value(hint));
    // After a value the parser only ever misses the bracket; after a comma it misses what the comma promises.
    if (hint == "expected '}'" || hint == "expected ']'")
      fail(end, fmt::format("not valid JSON: {} after this value", after_value(hint)),
           fmt::format("found {} at {}:{}", unexpected(found), at.line, at.column));
    if (walk_.after_comma() && (found == "unexpected '}'" || found == "unexpected ']'"))
      fail(at, "not valid JSON: a comma before " + unexpected(found), "leave it out after the last value");
    fail(at, "not valid JSON: " + printable(found), hint);
  }

 private:
  struct Level {
    Json* value;
    std::string pointer;               // with places only
    std::vector<const Json*> members;  // of an object
    std::string last_key;
    bool sorted = true;
  };

  Cursor next() { return places_ == nullptr ? Cursor() : walk_.next(); }

  // After a value a comma would do as well, which the parser does not say.
  static std::string after_value(const std::string& hint) {
    return hint == "expected '}'" || hint == "expected ']'" ? "expected ',' or " + hint.substr(9) : hint;
  }

  // "unexpected string literal" → "a string literal"; "unexpected '['" → "'['".
  static std::string unexpected(const std::string& found) {
    constexpr std::string_view kWord = "unexpected ";
    std::string what = printable(found.starts_with(kWord) ? found.substr(kWord.size()) : found);
    return what.starts_with('\'') || what.starts_with("end") ? what : "a " + what;
  }

  // "[json.exception.out_of_range.406] number overflow parsing '1e999'" → "1e999".
  static std::string overflown(const std::string& what) {
    constexpr std::string_view kWords = "number overflow parsing '";
    const std::size_t at = what.find(kWords);
    if (at == std::string::npos) return "";
    const std::size_t begin = at + kWords.size();
    return what.substr(begin, what.rfind('\'') - begin);
  }

  static std::string printable(const std::string& message) {
    std::string out;
    for (char c : message)
      if (static_cast<unsigned char>(c) >= 0x20) out += c;
    return out.size() > 200 ? out.substr(0, 200) + "…" : out;
  }

  template <class Value>
  bool put(Value value) {
    Cursor at = next();
    place(at, Json(value));
    return true;
  }

  bool open(Json value) {
    Cursor at = next();
    if (stack_.size() >= limits_.depth)
      fail(at, fmt::format("nested more than {} levels deep", limits_.depth));
    std::string pointer;
    Json* placed = place(at, std::move(value), &pointer);
    Level level;
    level.value = placed;
    level.pointer = std::move(pointer);
    stack_.push_back(std::move(level));
    return true;
  }

  bool close() {
    next();
    Level& level = stack_.back();
    if (!level.sorted) orders_.emplace(level.value->get_ptr<Json::object_t*>(), std::move(level.members));
    stack_.pop_back();
    return true;
  }

  Json* place(Cursor at, Json value, std::string* pointer = nullptr) {
    if (++members_ > limits_.members) fail(at, fmt::format("more than {} values", limits_.members));
    if (places_ != nullptr) note(at, pointer);
    if (stack_.empty()) return &(root_ = std::move(value));
    Level& level = stack_.back();
    if (level.value->is_array()) {
      level.value->push_back(std::move(value));
      return &level.value->back();
    }
    Json& slot = (*level.value)[key_];
    slot = std::move(value);
    level.members.push_back(&slot);
    level.last_key = std::move(key_);
    return &slot;
  }

  // Before the value is put.
  void note(Cursor at, std::string* pointer_out) {
    JsonPlace where{at.line, at.column, 0, 0};
    std::string pointer;
    if (!stack_.empty() && stack_.back().value->is_array()) {
      pointer = stack_.back().pointer + "/" + std::to_string(stack_.back().value->size());
    } else if (!stack_.empty()) {
      pointer = pointer_to(stack_.back().pointer, key_);
      where.key_line = key_at_.line;
      where.key_column = key_at_.column;
    }
    if (pointer_out != nullptr) *pointer_out = pointer;
    places_->insert_or_assign(std::move(pointer), where);
  }

  [[noreturn]] void fail(Cursor at, std::string message, std::string hint = {}) const {
    if (places_ == nullptr) throw Refused();
    throw Error(ExitCode::input, {file_, at.line, at.column, stack_.empty() ? "" : stack_.back().pointer},
                std::move(message), std::move(hint));
  }

  const std::string& file_;
  const JsonLimits& limits_;
  JsonPlaces* places_;  // may be null
  TokenWalk walk_;
  Json root_;
  JsonOrders orders_;
  std::vector<Level> stack_;
  std::string key_;
  Cursor key_at_;
  std::size_t members_ = 0;
};

// nlohmann::json takes it for the end of the text, and never sees what stands behind it.
void refuse_nul(std::string_view text, const std::string& file) {
  const std::size_t nul = text.find('\0');
  if (nul == std::string_view::npos) return;
  const std::string_view before = text.substr(0, nul);
  const auto line = static_cast<int>(std::ranges::count(before, '\n')) + 1;
  const auto column = static_cast<int>(nul - (before.rfind('\n') + 1)) + 1;
  throw Error(ExitCode::input, {file, line, column, ""}, "not valid JSON: a NUL byte");
}

ScannedJson scan(std::string_view text, const std::string& file, const JsonLimits& limits,
                 JsonPlaces* places) {
  Scanner scanner(text, file, limits, places);
  Json::sax_parse(text.begin(), text.end(), &scanner, nlohmann::detail::input_format_t::json, true, true);
  return scanner.finish();
}

}  // namespace

std::string pointer_to(const std::string& parent, std::string_view key) {
  std::string pointer;
  pointer.reserve(parent.size() + 1 + key.size());
  pointer = parent;
  pointer += '/';
  for (char c : key) {
    if (c == '~')
      pointer += "~0";
    else if (c == '/')
      pointer += "~1";
    else
      pointer += c;
  }
  return pointer;
}

ScannedJson scan_json(std::string_view text, const std::string& file, const JsonLimits& limits) {
  if (text.size() > limits.bytes)
    throw Error(ExitCode::input, {file, 0, 0, ""},
                fmt::format("{} bytes of JSON, the limit is {}", text.size(), limits.bytes));
  if (text.starts_with("\xef\xbb\xbf"))
    throw Error(ExitCode::input, {file, 1, 1, ""}, "the file starts with a byte order mark",
                "save it as plain UTF-8");
  refuse_nul(text, file);
  try {
    return scan(text, file, limits, nullptr);
  } catch (const Refused&) {
    JsonPlaces places;
    return scan(text, file, limits, &places);
  }
}

JsonPlaces json_places(std::string_view text, const std::string& file, const JsonLimits& limits) {
  JsonPlaces places;
  scan(text, file, limits, &places);
  return places;
}

}  // namespace kiln
