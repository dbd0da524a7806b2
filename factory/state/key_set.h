// Many keys in a few bytes each: their first 128 bits, which no two keys share.
#pragma once

#include <cstdint>
#include <filesystem>
#include <utility>
#include <vector>

#include "factory/base/digest.h"

namespace kiln {

class KeySet {
 public:
  KeySet() = default;
  // Of the files of a folder that are named <64 hex digits>.json; others are no keys. Nothing of a folder
  // that is not there, or cannot be read.
  explicit KeySet(const std::filesystem::path& folder);
  bool contains(const Sha256& key) const;

 private:
  using Bits = std::pair<std::uint64_t, std::uint64_t>;
  static Bits bits_of(const Sha256& key);
  std::vector<Bits> keys_;  // sorted
};

}  // namespace kiln
