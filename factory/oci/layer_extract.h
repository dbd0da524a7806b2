// A layer without its contents: its entries in their order, and for each file only the results of its
// readers. Reading an extract gives the same results as reading the layer, in a fraction of the time.
// LayerMerge therefore need not know which of the two it has.
//
// kiln writes extracts; they never come from an image. A reader has verified the layer before.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "factory/oci/layer_merge.h"

namespace kiln {

// Makes of each file's content what a ContentSink needs of it.
class ContentExtractor {
 public:
  virtual ~ContentExtractor() = default;
  virtual void begin_file(std::string_view path) = 0;  // as ContentSink::next_file has it
  virtual void append(std::string_view bytes) = 0;
  virtual std::string end_file() = 0;  // the argument of ContentSink::take_extract
};

// Bytes of an extract before it is compressed: over a hundred thousand files with all that is kept of them. A
// layer that needs more is read anew for each image.
inline constexpr std::size_t kMostExtract = 128u << 20;

// Reads a whole layer: a zstd frame; nullopt for a layer whose extract is over `most` bytes. Throws
// Error(input) for a fault of the layer, and the exceptions of `contents`.
std::optional<std::string> extract_of(LayerEntries& layer, ContentExtractor& contents,
                                      std::size_t most = kMostExtract);

// The layer's entries, with their numbers, limits on the layer alone already held. Throws Error(input) for
// bytes that extract_of() did not make.
std::unique_ptr<LayerEntries> read_extract(std::string_view extract);

// Both of two, of the same files.
class BothExtractors final : public ContentExtractor {
 public:
  BothExtractors(ContentExtractor& first, ContentExtractor& second) : first_(first), second_(second) {}
  void begin_file(std::string_view path) override;
  void append(std::string_view bytes) override;
  std::string end_file() override;

 private:
  ContentExtractor& first_;
  ContentExtractor& second_;
};

// Passes everything on to two sinks, and to each its part of the extract of BothExtractors.
class BothSinks final : public ContentSink {
 public:
  BothSinks(ContentSink& first, ContentSink& second) : first_(first), second_(second) {}
  void next_file(const PathTable& paths, NodeId path) override;
  std::uint32_t begin_file() override;  // of the first
  void append(std::string_view bytes) override;
  void end_file() override;
  void take_extract(std::string_view extract) override;

 private:
  ContentSink& first_;
  ContentSink& second_;
};

}  // namespace kiln
