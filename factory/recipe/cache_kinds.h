// The caches that a method may declare ("cache": ["ccache"]): folders that a script finds again when it runs
// another time, and that are in no key and in no layer. What each tool must be told so that what lies there
// cannot change bits is in run/caches.cc.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace kiln {

struct CacheKind {
  std::string_view name;     // in recipes
  std::string_view word;     // a script that uses it has this,
  std::string_view without;  // and not this, which switches it off
  std::string_view how;      // what a script has to do, for people
};

const std::vector<CacheKind>& cache_kinds();
const CacheKind* find_cache_kind(std::string_view name);  // nullptr: unknown
const std::vector<std::string>& cache_names();

}  // namespace kiln
