// The proof that rows are what was written, and that none of them is missing.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

namespace kiln {

// SHA-256 (64 hex) of a table's name and the columns of a row, each with its length.
std::string row_checksum(std::string_view table, std::initializer_list<std::string_view> columns);

// Checksums added up modulo 2^256, in whatever order: a row more or less costs one addition. It proves a set
// of rows against damage; whoever may choose the rows can make two sets of one sum.
class RowSum {
 public:
  static RowSum parse(std::string_view text);  // 64 hex digits; throws DamagedDatabase
  void add(std::string_view checksum);         // REQUIRES: 64 hex digits
  void subtract(std::string_view checksum);    // REQUIRES: 64 hex digits
  std::string text() const;                    // 64 hex digits
  bool operator==(const RowSum&) const = default;

 private:
  using Limbs = std::array<std::uint32_t, 8>;  // the least first
  static Limbs limbs_of(std::string_view text);
  Limbs limbs_{};
};

}  // namespace kiln
