// Two images file by file: what is in one only, and what differs in the others. Helps to find the tool whose
// output is not reproducible.
#pragma once

#include <string>
#include <vector>

#include "factory/base/json.h"
#include "factory/oci/image_source.h"
#include "factory/oci/layer_read.h"

namespace kiln {

enum class FileChange { added, removed, changed };
std::string_view name_of(FileChange change);

struct FileDifference {
  std::string path;  // "/etc/hosts"
  FileChange change = FileChange::changed;
  std::vector<std::string> what;  // "content", "mode 644 → 755", "owner 0:0 → 1000:1000", …; of `changed`
  std::string made_by;            // the layer's history in the image that has the file, the second if both do
};

struct ImageDifference {
  std::vector<std::string> configuration;  // "env PATH", "label a.b", "entrypoint", …
  std::vector<FileDifference> files;       // by path
  std::uint64_t compared = 0;              // files in either
  bool empty() const { return configuration.empty() && files.empty(); }
};

// Reads both images once. Memory holds names and a digest of each file. Throws Error(input) for a damaged
// image.
ImageDifference compare_images(const SourceImage& before, const SourceImage& now,
                               const EntryLimits& entry_limits = {}, const LayerLimits& layer_limits = {});

Json to_json(const ImageDifference& difference);

}  // namespace kiln
