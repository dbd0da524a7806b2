#include "factory/sif/squashfs_totals.h"

#include <isa-l/crc64.h>

#include <algorithm>

namespace kiln::sif {
namespace {

std::uint64_t crc_of(std::uint64_t start, std::string_view bytes) {
  return crc64_ecma_refl(start, reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size());
}

// splitmix64's finalizer: near numbers become far ones, so that sums of them tell exchanged files apart.
std::uint64_t mixed(std::uint64_t number) {
  number = (number ^ (number >> 30)) * 0xbf58476d1ce4e5b9u;
  number = (number ^ (number >> 27)) * 0x94d049bb133111ebu;
  return number ^ (number >> 31);
}

}  // namespace

std::uint64_t content_crc(std::string_view bytes) { return crc_of(0, bytes); }

void ContentSum::append(std::string_view bytes) {
  while (!bytes.empty()) {
    std::size_t take = static_cast<std::size_t>(std::min<std::uint64_t>(bytes.size(), block_size_ - filled_));
    crc_ = crc_of(crc_, bytes.substr(0, take));
    filled_ += take;
    bytes.remove_prefix(take);
    if (filled_ < block_size_) continue;
    add_block(crc_, filled_);
    crc_ = filled_ = 0;
  }
}

void ContentSum::add_block(std::uint64_t crc, std::uint64_t size) {
  sum_ = mixed(sum_ + mixed(crc) + size);
  size_ += size;
}

std::uint64_t ContentSum::finish() {
  if (filled_ > 0) add_block(crc_, filled_);
  std::uint64_t sum = sum_;
  *this = ContentSum(block_size_);
  return sum;
}

void SquashfsTotals::add_file(std::uint32_t number, std::uint64_t size, std::uint64_t content) {
  ++files;
  bytes += size;
  contents += mixed(content + mixed(number));
}

}  // namespace kiln::sif
