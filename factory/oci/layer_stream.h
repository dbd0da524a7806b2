// The plain bytes of one layer, decompressed ahead by one thread and hashed by another; digest, DiffID and
// the limits on what a layer may decompress to are enforced on the way.
//
//     blob ──read, sha256──▶ inflate ──chunk──▶ next() ──▶ tar reader
//                                        └────▶ sha256 ──▶ DiffID
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "factory/oci/blob.h"
#include "factory/oci/documents.h"

namespace kiln {

struct LayerLimits {
  std::uint64_t plain_bytes = 200ull << 30;  // of one layer
  // Plain : compressed, once so many plain bytes came out. gzip reaches 1,032; zstd and maps of sparse files,
  // which have no such bound, decompress a few bytes to no more than takes some seconds to read.
  std::uint64_t ratio = 1100;
  std::uint64_t ratio_from = 16ull << 30;
  // Bytes of memory for the names and entries of an image: so many, and so many more for each compressed
  // byte. Entries are cheap to make: 5 KB of tar, 30 bytes of gzip, name two thousand nested folders.
  std::uint64_t tree_bytes = 128ull << 20;
  std::uint64_t tree_ratio = 64;
};

class LayerStream {
 public:
  // Starts the threads. `diff_id`, and the descriptor's digest, are empty where nothing is known of the
  // bytes.
  LayerStream(const BlobSection& blob, const Descriptor& descriptor, const Digest& diff_id,
              const LayerLimits& limits);
  ~LayerStream();  // stops the threads, whatever was read

  // The next bytes, valid until the next call; empty at the end, after both digests were found right.
  // Throws Error(input) naming the layer: damaged or truncated stream, wrong digest or size, over a limit.
  std::string_view next();
  // Reads to the end, so that the digests are checked.
  void drain();
  // Bytes of the blob from which the result of next() so far was decompressed. The count is the same in every
  // run, however far ahead the threads are, so a limit on it refuses a layer always or never.
  std::uint64_t compressed_bytes_read() const;

 private:
  class Pipe;
  std::unique_ptr<Pipe> pipe_;
};

}  // namespace kiln
