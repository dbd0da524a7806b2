// Shared by the readers of recipes, matrices, targets and site files: small grammars, each checked at the
// node that it is read from. Every read_… throws Error(input) that names the place.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "factory/base/effects.h"
#include "factory/base/json.h"
#include "factory/base/version.h"

namespace kiln {

const std::vector<std::string>& method_names();  // hub, pip, distro, vendor, source

bool is_name(std::string_view text);             // JsonNode::name's grammar, for keys and names of files
bool is_variable_name(std::string_view text);    // [A-Za-z_][A-Za-z0-9_]*
bool is_repository_name(std::string_view text);  // of a registry: "ai/pytorch", lower case, no ".."
bool is_tag(std::string_view text);              // of an image in one: [A-Za-z0-9_][A-Za-z0-9_.-]{0,127}
bool is_fact_name(std::string_view text);        // [a-z_][a-z0-9_]*: scripts see it in capitals

// Why there is no file at `path`: "… is a folder", or "there is no file …" with the nearest name of its
// folder as hint.
struct MissingFile {
  std::string message;
  std::string hint;
};
MissingFile describe_missing(const FileSystem& files, const fs::path& path);

// The document at `file`; Error(input) with the nearest name of that folder when there is no such file, and
// for one over `limits` before it is read.
JsonDocument read_document(const FileSystem& files, const fs::path& file, const JsonLimits& limits = {});

std::string read_text(const JsonNode& node);  // one line, not empty
VersionRange read_range(const JsonNode& node);
std::string read_relative_path(const JsonNode& node);  // of names as above, "/"-separated, no ".."
std::string read_absolute_path(const JsonNode& node);  // no ".", ".." or empty parts, not "/" itself
std::string read_word_of(const JsonNode& node, const std::vector<std::string>& words, std::string_view what);

// An array no two items of which are equal; `what` names an item in messages.
std::vector<JsonNode> read_distinct(const JsonNode& node, std::string_view what);
std::vector<JsonNode> read_at_least_one(const JsonNode& node, std::string_view what);  // distinct as well

// Which keys each object of kiln's input files may hold, in one table (keys.json): the readers refuse every
// other key, and a test holds the JSON Schemas to it. Objects are named "<schema>" or
// "<schema>/<definition>", as in schema/*.schema.json.

using KeyTable = std::map<std::string, std::vector<std::string>, std::less<>>;
const KeyTable& key_table();

// REQUIRES: `object` is in the table.
const std::vector<std::string>& keys_of(std::string_view object);

// Times and sizes as people write them: a whole number with its unit, "45m", "256MiB".

// "30d": a whole number and s, m, h or d; nullopt for anything else.
std::optional<std::chrono::seconds> duration_of(std::string_view text);

// Of the text at `node`. `what` is expected there ("an age"). Throws Error(input) with `hint`.
std::chrono::seconds read_duration(const JsonNode& node, std::string_view what, std::string_view hint);

// Zero is no limit. Throw Error(input).
std::chrono::seconds read_limit_of_time(const JsonNode& node);
std::uint64_t read_limit_of_size(const JsonNode& node);  // bytes: B, KiB, MiB, GiB

}  // namespace kiln
