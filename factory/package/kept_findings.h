// Keeps findings in images for the next image with the same layers. One cache folder has all of them:
//
//   facts-<hash>    the facts of an ELF file, by its bytes         evidence::FolderCache
//   layer-<hash>    an extract of a layer, by layer                KeptLayers
//   image-<hash>    the findings of a whole image, by its layers   KeptContents
#pragma once

#include <functional>
#include <memory>
#include <set>
#include <string>

#include "factory/base/cache_folder.h"
#include "factory/oci/blob_store.h"
#include "factory/package/examine.h"

namespace kiln {

// The version of that folder: other whenever the same bytes may give other findings.
const std::string& findings_version();

// Layers read before, by any image: of each an extract, from which another image that has the layer reads
// what it would read of the layer itself.
class KeptLayers final : public evidence::LayerExtracts {
 public:
  // `jobs` and `cache` as evidence::FileExaminer has them; `most`: bytes of an extract.
  KeptLayers(CacheFolder& folder, unsigned jobs, evidence::FactsCache* cache, std::size_t most = kMostExtract)
      : folder_(folder), jobs_(jobs), cache_(cache), most_(most) {}

  // Returns the kept entries, else makes them from the layer and keeps them. A second caller for the same
  // layer waits. nullptr for a layer that is damaged or extraordinarily large: reading the layer itself then
  // gives the error. Throws Error(interrupted), Error(store) where the extract cannot be written.
  std::unique_ptr<LayerEntries> open(const evidence::LayerBlob& layer) override;

 private:
  std::optional<std::string> make(const evidence::LayerBlob& layer) const;
  bool is_whole(const evidence::LayerBlob& layer);

  CacheFolder& folder_;
  unsigned jobs_;
  evidence::FactsCache* cache_;
  std::size_t most_;
  std::set<std::string> whole_;  // digests of blobs whose bytes were compared: one that is opened twice
};

// Keeps findings in layers for the next cell that has the same layers and the same declaration. Its key and
// labels differ, and an image of gigabytes is read once.
class KeptContents {
 public:
  // `tools`: versions of the tools that judge the findings, in addition to findings_version().
  KeptContents(CacheFolder& folder, std::string tools) : folder_(folder), tools_(std::move(tools)) {}

  // Returns the kept contents for these layers and this declaration, else those that `examine` finds, and
  // keeps them. A second thread that asks for the same contents waits for the first. Nothing kept is used
  // while the report or a layer is missing in the store or damaged: `examine` then reports it.
  Contents once(const LayerChain& built, const evidence::Declaration& declared, const BlobStore& store,
                const std::function<Contents()>& examine);

 private:
  std::optional<Contents> find(const std::string& name, const BlobStore& store) const;
  CacheFolder& folder_;
  std::string tools_;
};

}  // namespace kiln
