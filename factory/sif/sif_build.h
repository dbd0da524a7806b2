// Converts an OCI image to a SIF in one pass and one process: without root, without unpacking, and without a
// file other than the result.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "factory/oci/image_source.h"
#include "factory/oci/layer_merge.h"
#include "factory/sif/squashfs_writer.h"

namespace kiln::sif {

struct SifOptions {
  SquashfsOptions squashfs;
  std::string tool = "kiln";
  std::int64_t now = 0;  // UTC seconds; SOURCE_DATE_EPOCH where that is set
  // The same bits from the same image: no time later than `now` anywhere, an UUID made of the image's digest,
  // and the image's file name without its folder.
  bool reproducible = false;
  // With `reproducible`: times stay as the layers have them, for layers whose own times are settled.
  bool keep_times = false;
  bool check = false;  // read the whole file again before it gets its name
  EntryLimits entry_limits;
  LayerLimits layer_limits;
  // Limit on the written bytes: a constant, and a multiple of the bytes of the image's layers. Zeros and
  // repeated blocks take no space, and layers compress other contents about as well.
  std::uint64_t written_from = 64ull << 20;
  std::uint64_t written_ratio = 200;
  std::function<void(std::uint64_t done, std::uint64_t all)>
      progress;  // compressed bytes; from the calling thread
};

struct SifResult {
  MergeReport merge;
  std::uint64_t size = 0;        // of the file
  std::uint64_t compressed = 0;  // of the layers
  SquashfsTotals squashfs;
};

// Writes `output` completely or not. Throws Error(input) for a fault of the image, Error(store) for a fault
// of the file.
SifResult build_sif(const SourceImage& image, const fs::path& output, const SifOptions& options);

// Reads a SIF file strictly, and its primary partition's SquashFS whole. Throws Error(input).
SquashfsTotals check_sif(const ReadOnlyFile& file, unsigned jobs);

}  // namespace kiln::sif
