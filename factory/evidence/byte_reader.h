// Little-endian numbers out of untrusted bytes: every read is checked.
#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>
#include <type_traits>

namespace kiln::evidence {

// `size` bytes from `offset`; shorter, or empty, where the bytes end before.
inline std::string_view slice(std::string_view bytes, std::uint64_t offset, std::uint64_t size) {
  if (offset >= bytes.size()) return {};
  return bytes.substr(static_cast<std::size_t>(offset),
                      static_cast<std::size_t>(size < bytes.size() ? size : bytes.size()));
}

inline bool holds(std::string_view bytes, std::uint64_t offset, std::uint64_t size) {
  return offset <= bytes.size() && size <= bytes.size() - offset;
}

// 0 where the bytes end before: callers that must tell the difference ask holds() first.
template <typename Number>
Number number_at(std::string_view bytes, std::uint64_t offset) {
  static_assert(std::is_integral_v<Number>);
  Number value = 0;
  if (holds(bytes, offset, sizeof value)) std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;  // little-endian hosts only, as everything else here
}

// The text up to the next NUL, "" for an offset outside or a text that never ends.
inline std::string_view text_at(std::string_view table, std::uint64_t offset) {
  if (offset >= table.size()) return {};
  std::string_view rest = table.substr(static_cast<std::size_t>(offset));
  std::size_t end = rest.find('\0');
  return end == rest.npos ? std::string_view() : rest.substr(0, end);
}

}  // namespace kiln::evidence
