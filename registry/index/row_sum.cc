#include "registry/index/row_sum.h"

#include <charconv>

#include "factory/base/digest.h"
#include "registry/index/database.h"

namespace kiln {

std::string row_checksum(std::string_view table, std::initializer_list<std::string_view> columns) {
  thread_local TextHasher hasher;
  thread_local std::string text;  // whose memory thousands of rows share
  text.assign(table);
  for (std::string_view column : columns) {
    text += '\n';
    text += std::to_string(column.size());
    text += ' ';
    text += column;
  }
  return hex_of(hasher.of(text));
}

RowSum::Limbs RowSum::limbs_of(std::string_view text) {
  Limbs limbs{};
  if (text.size() != limbs.size() * 8) throw DamagedDatabase("the index is damaged: a checksum is cut");
  for (std::size_t i = 0; i < limbs.size(); ++i) {
    const char* end = text.data() + text.size() - i * 8;
    auto [stop, error] = std::from_chars(end - 8, end, limbs.at(i), 16);
    if (stop != end || error != std::errc()) throw DamagedDatabase("the index is damaged: no checksum");
  }
  return limbs;
}

RowSum RowSum::parse(std::string_view text) {
  RowSum sum;
  sum.limbs_ = limbs_of(text);
  return sum;
}

void RowSum::add(std::string_view checksum) {
  const Limbs more = limbs_of(checksum);
  std::uint64_t carry = 0;
  for (std::size_t i = 0; i < limbs_.size(); ++i) {
    carry += std::uint64_t{limbs_.at(i)} + more.at(i);
    limbs_.at(i) = static_cast<std::uint32_t>(carry);
    carry >>= 32;
  }
}

void RowSum::subtract(std::string_view checksum) {
  const Limbs less = limbs_of(checksum);
  std::uint64_t borrow = 0;
  for (std::size_t i = 0; i < limbs_.size(); ++i) {
    const std::uint64_t difference = std::uint64_t{limbs_.at(i)} - less.at(i) - borrow;
    limbs_.at(i) = static_cast<std::uint32_t>(difference);
    borrow = difference >> 63;
  }
}

std::string RowSum::text() const {
  Sha256 bytes{};
  for (std::size_t i = 0; i < bytes.size(); ++i)
    bytes.at(bytes.size() - 1 - i) = static_cast<unsigned char>(limbs_.at(i / 4) >> (i % 4 * 8));
  return hex_of(bytes);
}

}  // namespace kiln
