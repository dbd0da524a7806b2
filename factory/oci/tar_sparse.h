// The maps of sparse files in tar archives: which bytes are there, and which are holes.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "factory/oci/tar_reader.h"

namespace kiln {

// All throw Error(input) for a damaged map and for one of more than `most` regions, before it is in memory.
// GNU's own format: regions in the header, and in blocks behind it that `next_block` gives.
std::vector<TarRegion> gnu_sparse_map(std::string block, const std::function<void(std::string&)>& next_block,
                                      std::size_t most);
// GNU sparse 0.0 and 0.1: numbers in PAX records.
std::vector<TarRegion> pax_sparse_map(const PaxRecords& records, std::size_t most);
// GNU sparse 1.0: lines of numbers in the first blocks of the content.
std::vector<TarRegion> content_sparse_map(const std::function<void(std::string&)>& next_block,
                                          std::size_t most);

// Regions in order, inside of `size`, and `stored` bytes together. Throws Error(input).
void check_sparse_map(const std::vector<TarRegion>& regions, std::uint64_t size, std::uint64_t stored);

}  // namespace kiln
