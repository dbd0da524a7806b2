#include "factory/collect/hex_names.h"

#include <fstream>

#include "factory/base/error.h"

namespace kiln {
namespace {

constexpr std::size_t kDigits = 64;
constexpr std::size_t kPiece = std::size_t{1} << 20;

int value_of(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

// REQUIRES: 64 hex digits.
Sha256 sum_of_hex(std::string_view digits) {
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
    if (at - begin == kDigits) names_.insert(sum_of_hex(text.substr(begin, kDigits)));
    begin = at + 1;
  }
}

void HexNames::add_file(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  std::string piece;
  std::string kept;  // the run of digits that the last piece ended with
  for (bool more = in.good(); more;) {
    piece.resize(kPiece);
    in.read(piece.data(), static_cast<std::streamsize>(piece.size()));
    piece.resize(static_cast<std::size_t>(in.gcount()));
    more = in.good();
    piece.insert(0, kept);
    std::size_t end = piece.size();
    while (more && end > 0 && value_of(piece[end - 1]) >= 0) --end;
    add(std::string_view(piece).substr(0, end));
    kept = piece.substr(end, kDigits + 1);  // of a longer one, enough to tell that it is no name
  }
  if (!in.eof()) throw Error(ExitCode::store, "cannot read " + file.string());
}

bool HexNames::contains(std::string_view hex) const {
  if (hex.size() != kDigits) return false;
  for (char c : hex)
    if (value_of(c) < 0) return false;
  return names_.contains(sum_of_hex(hex));
}

}  // namespace kiln
