// What a SquashFS image holds, in few numbers: its writer tells them, and a reader must find them again.
#pragma once

#include <cstdint>
#include <string_view>

namespace kiln::sif {

// The content of a file as its blocks come: each block's CRC-64 and size, in order.
class ContentSum {
 public:
  explicit ContentSum(std::uint32_t block_size) : block_size_(block_size) {}
  void append(std::string_view bytes);
  void add_block(std::uint64_t crc, std::uint64_t size);  // a whole one, or the last
  // Ends the content; what is appended afterwards belongs to the next one.
  std::uint64_t finish();
  std::uint64_t size() const { return size_; }

 private:
  std::uint32_t block_size_;
  std::uint64_t filled_ = 0;  // of the block begun
  std::uint64_t crc_ = 0;
  std::uint64_t sum_ = 0;
  std::uint64_t size_ = 0;
};

std::uint64_t content_crc(std::string_view bytes);

struct SquashfsTotals {
  std::uint64_t inodes = 0;
  std::uint64_t files = 0;     // regular ones, each inode once
  std::uint64_t bytes = 0;     // of their contents
  std::uint64_t contents = 0;  // of inode numbers and contents, in any order

  void add_file(std::uint32_t number, std::uint64_t size, std::uint64_t content);
  bool operator==(const SquashfsTotals&) const = default;
};

}  // namespace kiln::sif
