// Texts one after the other in a string, each behind its length: for the many that are kept long and read in
// order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace kiln {

using PackedLength = std::uint32_t;  // in the machine's own order: never leaves the process
// What a text takes beside itself, in bytes.
inline constexpr std::size_t kPackedLength = sizeof(PackedLength);

// REQUIRES: less than 4 GiB.
inline void pack_number(std::string& out, std::size_t number) {
  auto value = static_cast<PackedLength>(number);
  char bytes[kPackedLength];
  std::memcpy(bytes, &value, kPackedLength);
  out.append(bytes, kPackedLength);
}

inline void pack_text(std::string& out, std::string_view text) {
  pack_number(out, text.size());
  out.append(text);
}

// Takes from the front of `rest`. REQUIRES: what is there was packed as that.
inline std::size_t take_number(std::string_view& rest) {
  PackedLength value = 0;
  std::memcpy(&value, rest.data(), kPackedLength);
  rest.remove_prefix(kPackedLength);
  return value;
}

inline std::string_view take_text(std::string_view& rest) {
  std::size_t size = take_number(rest);
  std::string_view text = rest.substr(0, size);
  rest.remove_prefix(size);
  return text;
}

}  // namespace kiln
