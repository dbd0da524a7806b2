// Repairs damage that check_store() found: restores blobs from copies, packages images again from their
// layers, links layouts again. Removes the rest, so that the next build detects that it is missing and makes
// it again.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "factory/state/fsck.h"

namespace kiln {

struct MendSetup {
  const StatePaths& state;
  FileSystem& files;
  // Packages the image of built/<record>.json again, where that can be done here. May be slow, may throw
  // Error.
  std::function<void(const BlobUser& image)> package;
};

struct Mended {
  std::string damage;  // of what: "layer 2 of hello:2.1-…, sha256:…, is missing"
  std::string done;    // "restored from images/…", "`kiln build` runs the step … again"
  bool is_whole = false;
};

// In the order of the report. REQUIRES: the state's lock is held. Throws Error(store), Error(interrupted).
std::vector<Mended> mend(const FsckReport& report, const MendSetup& setup);

// Links again, in every layout, what the store has whole and the layout has not, or with other bytes: after
// blobs were made again.
// REQUIRES: the state's lock is held, shared or alone. Throws Error(store).
void mend_layouts(const StatePaths& state, FileSystem& files);

// The damage alone, and what would make it good.
std::vector<Mended> remedies(const FsckReport& report);

}  // namespace kiln
