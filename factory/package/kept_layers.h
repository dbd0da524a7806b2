// Layers read before, by any image: of each an extract, from which another image that has the layer reads
// what it would read of the layer itself.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "factory/base/effects.h"
#include "factory/evidence/evidence.h"

namespace kiln {

// A file for each in a folder, beside the facts of single files. Each proves itself; one that does not, and
// one of another version, is as good as absent. All may be deleted at any time.
class KeptLayers final : public evidence::LayerExtracts {
 public:
  // `jobs` and `cache` as evidence::FileExaminer has them; `most`: bytes of an extract.
  KeptLayers(std::filesystem::path folder, FileSystem& files, unsigned jobs, evidence::FactsCache* cache,
             std::size_t most = kMostExtract)
      : folder_(std::move(folder)), files_(files), jobs_(jobs), cache_(cache), most_(most) {}

  // What is kept, else what is made of the layer and kept; whoever asks for the same at the same time waits.
  // nullptr for a layer that is damaged or extraordinarily large: reading it says what there is to say.
  // Throws Error(interrupted), Error(store) where the extract cannot be written.
  std::unique_ptr<LayerEntries> open(const evidence::LayerBlob& layer) override;

 private:
  std::optional<std::string> find(const std::string& name) const;
  std::optional<std::string> make(const evidence::LayerBlob& layer) const;
  bool is_whole(const evidence::LayerBlob& layer);

  std::filesystem::path folder_;
  FileSystem& files_;
  unsigned jobs_;
  evidence::FactsCache* cache_;
  std::size_t most_;
  std::set<std::string> whole_;  // digests of blobs whose bytes were compared: one that is opened twice
};

}  // namespace kiln
