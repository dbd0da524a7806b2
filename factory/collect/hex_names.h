// Keys and digests that a text names, whatever its form: 64 small hex digits in a row.
#pragma once

#include <filesystem>
#include <set>
#include <string_view>

#include "factory/base/digest.h"

namespace kiln {

class HexNames {
 public:
  void add(std::string_view text);
  // What a file names, whatever its size. Throws Error(store) when it cannot be read.
  void add_file(const std::filesystem::path& file);
  // `hex`: 64 digits; anything else is not there.
  bool contains(std::string_view hex) const;
  const std::set<Sha256>& all() const { return names_; }

 private:
  std::set<Sha256> names_;
};

}  // namespace kiln
