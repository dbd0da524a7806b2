// Strict JSON with positions, for every file and document that kiln did not write.
//
// nlohmann::json keeps the last of two equal keys, rounds 2^64 and overflows the stack on deep input, so a
// SAX pass runs before it. It refuses duplicates, excessive depth and size, and integers out of range before
// a DOM exists. It keeps the line and column of every value for error messages.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "factory/base/error.h"

namespace kiln {

using Json = nlohmann::json;  // keys sorted: dump() of equal values is equal text

struct JsonLimits {
  std::size_t bytes = 4u << 20;
  std::size_t depth = 64;
  std::size_t string_bytes = 1u << 20;
  std::size_t members = 100'000;  // of all objects and arrays together
};

class JsonNode;

// An immutable parsed document; cheap to copy. `//` and `/* */` comments are allowed.
class JsonDocument {
 public:
  // Throws Error(input) with file, line and column. `file` is used in messages only.
  static JsonDocument parse(std::string_view text, std::string file, const JsonLimits& limits = {});

  JsonNode root() const;
  const std::string& file() const;
  const Json& value() const;

 private:
  friend class JsonNode;
  struct Parsed;
  std::shared_ptr<const Parsed> parsed_;  // shared by the nodes handed out, never mutated
};

// A value inside a document, with the checks that readers need. Every failure is an Error(input) that names
// the value's line, column and pointer and says what was expected and found.
class JsonNode {
 public:
  SourceLocation where() const;
  const std::string& pointer() const { return pointer_; }
  const Json& value() const { return *value_; }

  bool is_object() const;
  bool is_array() const;
  bool is_string() const;
  bool is_number() const;
  bool is_boolean() const;
  bool is_null() const;

  std::string string() const;  // a string
  std::string name() const;    // a string of [A-Za-z0-9][A-Za-z0-9_.+-]*, at most 128 bytes: safe in paths
  std::string line_of_text() const;  // a string without control characters (newlines included)
  std::int64_t integer(std::int64_t least, std::int64_t most) const;
  double number() const;
  bool boolean() const;
  std::vector<JsonNode> items() const;                            // of an array
  std::vector<std::pair<std::string, JsonNode>> members() const;  // of an object, in the file's order
  std::vector<std::string> strings() const;                       // an array of strings, or one string

  std::optional<JsonNode> find(std::string_view key) const;  // of an object
  JsonNode at(std::string_view key) const;                   // Error when absent

  // The node must be an object with no other keys than these ("$schema" is always allowed); an unknown key is
  // an error with the nearest known one as hint.
  void allow_only(const std::vector<std::string>& keys) const;
  // Location of the key itself, for messages about a member's name.
  SourceLocation where_key(std::string_view key) const;

  [[noreturn]] void fail(std::string message, std::string hint = {}) const;
  // The result of `read` for the value. Its errors get the place of this value.
  template <typename Read>
  auto placed(Read read) const {
    try {
      return read();
    } catch (const Error& error) {
      fail(error.message(), error.hint());
    }
  }

 private:
  friend class JsonDocument;
  JsonNode(JsonDocument document, const Json* value, std::string pointer)
      : document_(std::move(document)), value_(value), pointer_(std::move(pointer)) {}
  JsonNode child(std::string_view token, const Json& value) const;

  JsonDocument document_;
  const Json* value_;
  std::string pointer_;
};

// "a string", "an object", … for messages.
std::string describe_type(const Json& value);

// Numbers of a JSON text as they were written: the version 2.10 is 2.1 once it has been a number.

// By JSON pointer.
using WrittenNumbers = std::map<std::string, std::string>;

// Those that end in a zero which a number does not keep; mostly there are none. REQUIRES:
// JsonDocument::parse() takes the text.
WrittenNumbers written_numbers(std::string_view text);

}  // namespace kiln
