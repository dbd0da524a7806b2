// The last edge of an image: its layers become an Artifact, and the state folder keeps it.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "factory/cpu/microarchitecture.h"
#include "factory/record/image_record.h"
#include "factory/resolve/resolve.h"
#include "factory/site/site.h"
#include "factory/state/record_store.h"
#include "factory/state/state.h"

namespace kiln {

// The image below the applications of a derived image.

// The packaged image with this key; of several, the one with the components and the target of `derived`,
// which is on top of it. nullopt: none is packaged. Throws Error(input) for a damaged record.
std::optional<ImageRecord> packaged_parent(const ImageSpec& derived, const std::string& parent_key,
                                           const RecordReader& reader);

// `derived` with labels that name its parent as OCI's annotations do: org.opencontainers.image.base.name and
// .base.digest. Unchanged where it has no parent, or none is packaged.
ImageSpec with_parent_labels(const ImageSpec& derived, const RecordReader& reader);

struct PackageSetup {
  const ImageSpec& image;
  std::string plan;  // its name
  const Site& site;
  const StatePaths& state;
  FileSystem& files;
  const Clock& clock;
  const Microarchitectures& cpus;
  std::map<std::string, std::string> environment;  // ours, for SOURCE_DATE_EPOCH
  std::string tool;                                // version of kiln
  std::string flag_table;                          // version of archspec's tables
};

// Leaves the layout, built/<record_name>.json and the evidence as the log of the image's key; or the failure
// record by which `kiln build` explains why the image was not packaged, which is returned. Throws
// Error(store) when the image's last step has no record, Error(interrupted).
std::optional<FailureRecord> package_cell(const PackageSetup& setup);

}  // namespace kiln
