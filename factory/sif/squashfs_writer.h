// Writes a SquashFS 4.0 image with libsquashfs (visible in squashfs_writer.cc and squashfs_tree.cc only):
// contents first, as they stream in, compressed by worker threads and stored once where they are equal; then
// the inodes and folders.
//
//     ┌────────────┬──────────────────┬────────┬─────────┬───────────┬─────┬────────┐
//     │ superblock │ data, fragments  │ inodes │ folders │ fragments │ ids │ xattrs │  + zeros to 4 KiB
//     │ 96 bytes   │ in stream order  │        │         │ table     │     │        │
//     └────────────┴──────────────────┴────────┴─────────┴───────────┴─────┴────────┘
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "factory/oci/layer_merge.h"
#include "factory/sif/output_file.h"
#include "factory/sif/squashfs_tree.h"

namespace kiln::sif {

// Counts the ways in which one tree was laid out: part of the key of a conversion.
inline constexpr int kSquashfsLayout = 2;

struct SquashfsOptions {
  std::string compression = "zstd";  // zstd, gzip, lz4 or xz
  unsigned level = 0;                // 0: the default of the compression
  std::uint32_t block_size = 256u << 10;
  unsigned jobs = 1;  // compressing threads; the bytes do not depend on it
  bool sums = true;   // of the contents, for totals()
};

class SquashfsWriter final : public ContentSink {
 public:
  // The image starts at `offset` of `file`, which outlives the writer. Throws Error(usage) for options out of
  // range.
  SquashfsWriter(OutputFile& file, std::uint64_t offset, const SquashfsOptions& options);
  ~SquashfsWriter() override;

  std::uint32_t begin_file() override;
  void append(std::string_view bytes) override;
  void end_file() override;

  // Writes the tree whose files have the contents begun here, and returns the image's size, a multiple of
  // 4096. Times over `latest_time` are set to it; it is also the image's own. Throws Error(input) when the
  // tree does not fit SquashFS.
  std::uint64_t finish(const ImageTree& tree, const std::vector<Xattrs>& xattrs, std::uint32_t image_time,
                       std::uint32_t latest_time);

  const SquashfsTotals& totals() const;  // of what finish() wrote

 private:
  class State;
  std::unique_ptr<State> state_;
};

}  // namespace kiln::sif
