#include "factory/recipe/cache_kinds.h"

namespace kiln {

const std::vector<CacheKind>& cache_kinds() {
  static const std::vector<CacheKind> kKinds = {
      {"ccache", "ccache", "", "install ccache and put /usr/lib/ccache first in PATH"},
      {"pip", "pip", "--no-cache-dir", "call pip without --no-cache-dir"}};
  return kKinds;
}

const CacheKind* find_cache_kind(std::string_view name) {
  for (const CacheKind& kind : cache_kinds())
    if (kind.name == name) return &kind;
  return nullptr;
}

const std::vector<std::string>& cache_names() {
  static const std::vector<std::string> kNames = [] {
    std::vector<std::string> names;
    for (const CacheKind& kind : cache_kinds()) names.emplace_back(kind.name);
    return names;
  }();
  return kNames;
}

}  // namespace kiln
