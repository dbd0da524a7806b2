#include "factory/figures/number_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace kiln {
namespace {

std::string with_thousands(std::string digits) {
  for (std::size_t at = digits.size(); at > 3; at -= 3) digits.insert(at - 3, ",");
  return digits;
}

}  // namespace

std::string number_text(double value) {
  if (!std::isfinite(value)) return "?";
  if (value < 0) return "-" + number_text(-value);
  if (value == 0) return "0";
  if (value >= 999.95) return with_thousands(fmt::format("{:.0f}", value));
  const int whole = static_cast<int>(std::floor(std::log10(value))) + 1;  // digits before the point
  return fmt::format("{:.{}f}", value, std::clamp(4 - whole, 1, 9));
}

std::string ratio_text(double ratio) { return fmt::format("{:.{}f}", ratio, ratio < 9.995 ? 2 : 1); }

std::string memory_text(double bytes) {
  if (bytes <= 0) return "";
  return bytes < 9.95e9 ? fmt::format("{:.0f} MB", bytes / 1e6) : fmt::format("{:.1f} GB", bytes / 1e9);
}

}  // namespace kiln
