// The last edge of an image: its layers become an Artifact, and the state folder keeps it.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "factory/cpu/microarchitecture.h"
#include "factory/resolve/resolve.h"
#include "factory/site/site.h"
#include "factory/state/record_types.h"
#include "factory/state/state.h"

namespace kiln {

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
