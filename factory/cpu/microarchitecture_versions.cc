#include "factory/cpu/microarchitecture_versions.h"

#include <algorithm>

namespace kiln::archspec {
namespace {

constexpr std::string_view kDigits = "0123456789";

bool less_number(std::string_view a, std::string_view b) {
  return a.size() != b.size() ? a.size() < b.size() : a < b;
}

// As Python compares tuples: 12.2 < 12.2.0.
bool less_version(const VersionParts& a, const VersionParts& b) {
  return std::lexicographical_compare(a.begin(), a.end(), b.begin(), b.end(), less_number);
}

// One side of a range: its leading number, the suffix dropped. False when that is neither empty nor a
// version.
bool read_bound(std::string_view text, std::optional<VersionParts>& bound) {
  std::string_view number = text.substr(0, text.find_first_not_of("0123456789."));
  if (number.empty()) return true;
  bound = split_version(number);
  return bound.has_value();
}

}  // namespace

std::optional<VersionParts> split_version(std::string_view text) {
  VersionParts parts;
  while (true) {
    std::size_t dot = text.find('.');
    std::string_view part = text.substr(0, dot);
    if (part.empty() || part.find_first_not_of(kDigits) != std::string_view::npos) return std::nullopt;
    part.remove_prefix(std::min(part.find_first_not_of('0'), part.size()));
    parts.push_back(part);
    if (dot == std::string_view::npos) return parts;
    text.remove_prefix(dot + 1);
  }
}

std::optional<VersionBounds> split_bounds(std::string_view text) {
  std::size_t colon = text.find(':');
  if (colon == std::string_view::npos || text.find(':', colon + 1) != std::string_view::npos)
    return std::nullopt;
  VersionBounds bounds;
  if (!read_bound(text.substr(0, colon), bounds.least) || !read_bound(text.substr(colon + 1), bounds.most)) {
    return std::nullopt;
  }
  return bounds;
}

bool admits(const VersionBounds& bounds, VersionParts version, UpperBound upper_bound) {
  if (bounds.least && less_version(version, *bounds.least)) return false;
  if (!bounds.most) return true;
  if (upper_bound == UpperBound::with_patch_releases && version.size() > bounds.most->size()) {
    version.resize(bounds.most->size());
  }
  return !less_version(*bounds.most, version);
}

}  // namespace kiln::archspec
