// Finds images of the index by the names that people use, and images with the same bits. Pure.
#pragma once

#include <string>
#include <vector>

#include "registry/index/index.h"

namespace kiln {

// By repository:tag, the immutable one as well, by digest, or by the code of a mapping. Throws
// Error(no_match) with a near name.
const IndexEntry& find_named(const std::vector<IndexEntry>& entries, const std::string& name);

// Codes of all mappings that are the image that `asked` found; none if it has one code, or is that code.
std::vector<std::string> codes_of(const std::vector<IndexEntry>& entries, const ImageRecord& found,
                                  const std::string& asked);

// The images that have the bits of `named`: pulling any of them gives the same bits.
struct SameBits {
  std::vector<Digest> identities;
  std::string names;  // "hello:2.10, hello:2.10-fast (its code)"
};
SameBits same_bits(const std::vector<IndexEntry>& entries, const ImageRecord& named);

}  // namespace kiln
