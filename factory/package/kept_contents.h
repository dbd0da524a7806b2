// What was found in layers, kept for the next cell that has the same ones and declares the same: its key and
// labels are others, and an image of gigabytes is read once.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "factory/base/effects.h"
#include "factory/oci/blob_store.h"
#include "factory/oci/layer_chain.h"
#include "factory/package/examine.h"

namespace kiln {

// A file for each in a folder, beside the facts of single files. Damaged ones are as good as absent.
class KeptContents {
 public:
  // `version`: of whatever decides what is found, beside evidence::facts_version().
  KeptContents(std::filesystem::path folder, std::string version, FileSystem& files)
      : folder_(std::move(folder)), version_(std::move(version)), files_(files) {}

  // What is kept for these layers and this declaration, else what `examine` finds, which is kept. Whoever
  // asks for the same at the same time waits for the first. Nothing is taken from here while the report
  // or a layer is missing in the store or damaged: `examine` says so.
  Contents once(const LayerChain& built, const evidence::Declaration& declared, const BlobStore& store,
                const std::function<Contents()>& examine);

 private:
  std::optional<Contents> find(const std::filesystem::path& file, const BlobStore& store) const;
  std::filesystem::path folder_;
  std::string version_;
  FileSystem& files_;
};

}  // namespace kiln
