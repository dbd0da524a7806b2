// The target of a request from anybody: refused, or segments and a query that say what they say.
#include <algorithm>

#include "factory/base/text.h"
#include "readers.h"
#include "registry/http/message.h"

namespace {

using namespace kiln;

bool is_plain(const std::string& text) {
  return first_not_utf8(text) == std::string::npos && std::none_of(text.begin(), text.end(), is_control);
}

std::string written(const HttpTarget& target) {
  std::string text;
  for (const std::string& segment : target.segments) text += "/" + percent_encoded(segment, "-._~");
  if (text.empty()) text = "/";
  const char* between = "?";
  for (const auto& [name, value] : target.query) {
    text += between + percent_encoded(name, "") + "=" + percent_encoded(value, "");
    between = "&";
  }
  return text;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  return fuzz::refuses_or_reads([&] {
    const HttpTarget target = parse_target(fuzz::text_of(bytes, size));
    for (const std::string& segment : target.segments)
      if (!is_plain(segment) || segment.empty() || segment == "." || segment == "..") __builtin_trap();
    for (const auto& [name, value] : target.query)
      if (!is_plain(name) || !is_plain(value) || name.empty()) __builtin_trap();
    const HttpTarget again = parse_target(written(target));
    if (again.segments != target.segments || again.query != target.query) __builtin_trap();
  });
}
