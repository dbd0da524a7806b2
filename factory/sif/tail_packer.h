// Packs the ends of files, shorter than a block, into shared blocks: SquashFS's fragments. Equal ends are
// stored once. Done here and not by libsquashfs, whose threads are woken for each end.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace kiln::sif {

class TailPacker {
 public:
  struct Place {
    std::uint32_t block = 0;  // from 0, in the order of flushing
    std::uint32_t offset = 0;
  };
  // Takes a block that is full, or the last one; its bytes are valid during the call.
  using Flush = std::function<void(std::string_view block)>;

  TailPacker(std::uint32_t block_size, Flush flush);
  ~TailPacker();

  // REQUIRES: not empty, and shorter than a block. The places depend on the order of the calls alone.
  Place add(std::string_view tail);
  void finish();

 private:
  class Mac;
  using Key = std::pair<std::uint64_t, std::uint64_t>;
  struct Seen;

  std::uint32_t block_size_;
  Flush flush_;
  std::string block_;
  std::uint32_t flushed_ = 0;
  std::unique_ptr<Mac> mac_;
  std::unique_ptr<Seen> seen_;
};

}  // namespace kiln::sif
