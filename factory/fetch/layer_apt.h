// What a layer has of apt and dpkg.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "factory/oci/blob_store.h"
#include "factory/oci/layer_chain.h"
#include "factory/oci/layer_stream.h"

namespace kiln {

// Paths are relative to the image's root.
struct LayerApt {
  std::optional<std::string> status{};         // of dpkg: everything below this layer, too
  std::map<std::string, std::string> files{};  // apt's sources and keyrings, by path
  std::map<std::string, std::string> links{};  // symbolic links among them, as written
  std::vector<std::string> removed{};          // by whiteouts, folders with all that is in them
};

// Throws Error(input) for a damaged layer, and for such files of more than a few MiB; Error(store).
LayerApt read_apt(LayerStream& layer);
LayerApt read_apt(const BuiltLayer& layer, const BlobStore& store);

}  // namespace kiln
