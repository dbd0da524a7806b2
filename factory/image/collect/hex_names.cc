#include "image/collect/hex_names.h"

namespace kiln {
namespace {

constexpr std::size_t kDigits = 64;

int value_of(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

// REQUIRES: 64 hex digits.
Sha256 bytes_of(std::string_view digits) {
  Sha256 sum;
  for (std::size_t i = 0; i < sum.size(); ++i)
    sum[i] = static_cast<unsigned char>(16 * value_of(digits[2 * i]) + value_of(digits[2 * i + 1]));
  return sum;
}

}  // namespace

void HexNames::add(std::string_view text) {
  std::size_t begin = 0;
  for (std::size_t at = 0; at <= text.size(); ++at) {
    if (at < text.size() && value_of(text[at]) >= 0) continue;
    if (at - begin == kDigits) names_.insert(bytes_of(text.substr(begin, kDigits)));
    begin = at + 1;
  }
}

bool HexNames::contains(std::string_view hex) const {
  if (hex.size() != kDigits) return false;
  for (char c : hex)
    if (value_of(c) < 0) return false;
  return names_.contains(bytes_of(hex));
}

}  // namespace kiln
