// JSON written straight into a string, byte for byte as Json::dump() writes it: for texts that are hashed or
// printed in great numbers, where building a Json first costs more than everything else.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "factory/base/json.h"
#include "factory/base/packed_map.h"

namespace kiln {

// A string in quotes (RFC 8259, section 7; only what must be escaped is). REQUIRES: valid UTF-8, which all
// text that came through JsonDocument is.
void append_json(std::string& out, std::string_view text);

// Text of a foreign value: dump(), but a byte outside of any character becomes U+FFFD, and control characters
// of terminals and invisible ones (text.h) are escaped. `indent` -1: on one line.
std::string printable_json(const Json& value, int indent = 2);
// The text of dump(), made so.
std::string printable_dump(std::string_view dumped);

void append_json(std::string& out, const std::map<std::string, std::string>& members);
void append_json(std::string& out, const PackedMap& members);
void append_json(std::string& out, const std::vector<std::string>& items);
// The object of both, std::map or PackedMap; where they have a name in common, the value of `upper`.
template <typename Lower = PackedMap, typename Upper = PackedMap>
void append_merged_json(std::string& out, const Lower& lower, const Upper& upper) {
  out += '{';
  const char* between = "";
  auto put = [&](const auto& member) {
    out += between;
    append_json(out, std::string_view(member.first));
    out += ':';
    append_json(out, std::string_view(member.second));
    between = ",";
  };
  auto low = lower.begin();
  const auto low_end = lower.end();
  for (const auto& member : upper) {
    for (; low != low_end && low->first < member.first; ++low) put(*low);
    if (low != low_end && low->first == member.first) ++low;
    put(member);
  }
  for (; low != low_end; ++low) put(*low);
  out += '}';
}

// Members of an object are written in the order of the calls; Json sorts them, so the caller does.
class JsonObjectText {
 public:
  explicit JsonObjectText(std::string& out) : out_(&out) { out += '{'; }

  // "name": and, when it is not the first, the comma before it. REQUIRES: the name needs no escapes.
  std::string& key(std::string_view name) {
    if (!first_) *out_ += ',';
    first_ = false;
    *out_ += '"';
    *out_ += name;
    *out_ += "\":";
    return *out_;
  }
  template <typename Value>
  void member(std::string_view name, const Value& value) {
    append_json(key(name), value);
  }
  void end() { *out_ += '}'; }

 private:
  std::string* out_;
  bool first_ = true;
};

}  // namespace kiln
