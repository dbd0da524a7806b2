// Which images of an index are meant: patterns as `kiln index list` and the site file have them.
#pragma once

#include <string>
#include <vector>

#include "registry/index/index.h"

namespace kiln {

struct ImageKey;

// A pattern is a glob over names (`repository:tag`, the tag alone, a mapping's code) or `key=glob`; of one
// key, and of names, any of them; of different keys all. Keys: application, version, method, compiler (graph
// compilers joined by +, or none), runtime (likewise), target (CPU or accelerator), state (good, stale,
// failing, retired; untested), matrix.
class ImagePatterns {
 public:
  // Throws Error(usage) for a key that there is not.
  explicit ImagePatterns(const std::vector<std::string>& patterns);

  // The only application that can match, in lower case; "" for several.
  std::string application() const;
  bool match(const IndexEntry& entry) const;

 private:
  using Globs = std::pair<const ImageKey*, std::vector<std::string>>;
  Globs& of_key(const std::string& name);

  std::vector<std::string> names_;
  std::vector<Globs> keys_;
};

}  // namespace kiln
