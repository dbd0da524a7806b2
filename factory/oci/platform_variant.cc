#include "factory/oci/platform_variant.h"

#include <charconv>
#include <limits>

namespace kiln {

unsigned variant_rank(std::string_view variant) {
  constexpr unsigned kNoVariant = std::numeric_limits<unsigned>::max();
  if (variant.empty()) return 0;
  if (!variant.starts_with('v')) return kNoVariant;
  unsigned level = 0;  // ARM has v8.2 as well
  const char* end = variant.data() + variant.size();
  const auto [stop, problem] = std::from_chars(variant.data() + 1, end, level);
  if (problem != std::errc() || level > 1000) return kNoVariant;
  unsigned minor = 0;
  if (stop != end && *stop == '.') std::from_chars(stop + 1, end, minor);
  return 1000 * level + (minor < 1000 ? minor : 999);
}

}  // namespace kiln
