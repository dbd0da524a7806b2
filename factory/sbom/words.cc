#include "sbom/words.h"

#include <algorithm>
#include <cctype>

namespace kiln::sbom {

std::string lower(std::string_view text) {
  std::string low(text);
  std::transform(low.begin(), low.end(), low.begin(), [](unsigned char c) { return std::tolower(c); });
  return low;
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r\n";
  std::size_t from = text.find_first_not_of(kBlanks);
  if (from == text.npos) return {};
  return text.substr(from, text.find_last_not_of(kBlanks) - from + 1);
}

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

bool is_url(const std::string& text) {
  return text.find("://") != text.npos && text.find_first_of(" \t\"<>\\^`{|}") == text.npos;
}

}  // namespace kiln::sbom
