// The files of an image that evidence is about, read out of its layers as they stream by: nothing is unpacked
// and nothing is run. ELF files are examined on the way; small texts are kept where they may configure the
// loader.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <vector>

#include "factory/base/effects.h"
#include "factory/evidence/file_examiner.h"
#include "factory/oci/image_source.h"
#include "factory/oci/image_tree.h"
#include "factory/oci/layer_merge.h"

namespace kiln::evidence {

struct LayerBlob;

// Layers read before.
class LayerExtracts {
 public:
  virtual ~LayerExtracts() = default;
  // The layer's extract (oci/layer_extract.h), made by FileExaminer and by `also`; nullptr where
  // the layer is to be read.
  virtual std::unique_ptr<LayerEntries> open(const LayerBlob& layer) = 0;
};

struct ReadOptions {
  unsigned jobs = 1;
  FactsCache* cache = nullptr;
  ContentSink* also = nullptr;        // takes the same contents, with the same ids: one pass for two readers
  LayerExtracts* extracts = nullptr;  // read_layers() only, and with `also`
  std::function<void(std::uint64_t done, std::uint64_t all)> progress;  // compressed bytes
};

struct ImageFiles {
  ImageTree tree;
  std::deque<Content> contents;  // by the payload of a file's inode
  std::size_t layers = 0;
};

// One layer of an image, lowest first.
struct LayerBlob {
  fs::path file;
  Descriptor descriptor;
  Digest diff_id;
};

// Throw Error(input) for damaged layers, as LayerMerge does.
ImageFiles read_image(const SourceImage& image, const ReadOptions& options);
ImageFiles read_layers(const std::vector<LayerBlob>& layers, const ReadOptions& options);
// A plain folder as an image of one layer: links are kept as they are, other file systems are not entered.
ImageFiles read_folder(const fs::path& folder, const ReadOptions& options);

}  // namespace kiln::evidence
