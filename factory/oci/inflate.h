// Decompression of layers as a stream. gzip goes through ISA-L, which inflates two to three times as fast as
// zlib.
#pragma once

#include <memory>
#include <optional>
#include <string_view>

#include "factory/site/site.h"

namespace kiln {

// Bytes of a blob that layer_compression() looks at, where it has so many.
inline constexpr std::size_t kFirstBytes = 512;

// By the blob's first bytes, whatever its media type says; by the type (OCI's and Docker's) where the bytes
// are neither compressed nor a tar header, so that a damaged layer is called so. A blob without bytes is a
// layer without entries. Throws Error(input) for a type that is no layer.
LayerCompression layer_compression(std::string_view media_type, std::string_view first_bytes);

// Turns compressed bytes into plain ones. Throws Error(input) on damaged input.
class Inflater {
 public:
  // Whether zstd's own checksums are compared. A caller that compares a digest of the plain bytes needs no
  // other check.
  enum class Checksums { compared, left_out };

  static std::unique_ptr<Inflater> create(LayerCompression compression,
                                          Checksums checksums = Checksums::compared);
  virtual ~Inflater() = default;

  // Takes from the front of `input` and returns how many bytes were written to `output`; zero means that more
  // input is needed.
  virtual std::size_t inflate(std::string_view& input, char* output, std::size_t size) = 0;
  // The end of the input is reached. Throws Error(input) when the stream is not complete.
  virtual void finish() = 0;
};

}  // namespace kiln
