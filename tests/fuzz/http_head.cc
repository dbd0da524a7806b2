// The head of a request, as libmicrohttpd leaves it of any bytes: refused, or headers of which none can be
// two.
#include <algorithm>

#include "factory/base/text.h"
#include "readers.h"
#include "registry/http/message.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using namespace kiln;
  if (size == 0) return 0;
  const std::string_view block = fuzz::text_of(bytes + 1, size - 1);
  const HeaderBlock read = read_header_block(block, bytes[0]);
  if (read.status != 0) {
    if (read.status != 400 && read.status != 411) __builtin_trap();
    return 0;
  }
  int lengths = 0;
  for (const auto& [name, value] : read.headers) {
    lengths += name == "content-length";
    if (name == "transfer-encoding" || name.empty() || lower_case(name) != name) __builtin_trap();
    if (name.find_first_of(" \t:") != std::string::npos) __builtin_trap();
    if (std::any_of(value.begin(), value.end(), [](char c) { return is_control(c) && c != '\t'; }))
      __builtin_trap();
  }
  if (lengths > 1 || (lengths == 0 && read.content_length != 0)) __builtin_trap();
  return 0;
}
