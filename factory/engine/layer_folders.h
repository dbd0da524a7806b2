// The layers of steps as folders, for overlays that kiln mounts itself:
//
//   <store>/layers/<24 digits of the step's key>-<n>   the n-th layer that the step made, from 0
//
// Each is made under another name and renamed when it is whole. A cache: nothing waits for the disk, and
// EngineSession deletes it after a kill or a power cut.
#pragma once

#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "factory/engine/engine.h"
#include "factory/oci/documents.h"

namespace kiln {

// One layer as a folder in overlayfs' form (kernel Documentation/filesystems/overlayfs.rst), for engines
// whose containers kiln mounts itself: a whiteout becomes a character device 0:0, an opaque marker an
// attribute.

// Unpacks the layer, whose bytes lie in `blob`, into `folder`, which is there and empty; owner and mode of
// its root stay unless the layer has them. Device nodes are left out: a container has its own /dev. Digest
// and DiffID are checked on the way. Throws Error(store) for a damaged layer, for a failed write, and for a
// layer that depends on another, for example by a hard link to a file of it.
void unpack_layer(const BuiltLayer& layer, const std::filesystem::path& blob,
                  const std::filesystem::path& folder);

// Of the root folder if no layer says it: as containers/storage has it (drivers/overlay, defaultPerms), so
// that a script sees the same by every engine.
inline constexpr fs::perms kRootMode{0555};

class LayerFolders {
 public:
  explicit LayerFolders(const EngineSetup& setup) : setup_(setup), folder_(setup.store / "layers") {}

  const fs::path& folder() const { return folder_; }
  // Names in folder(), the topmost layer first. Unpacks missing ones from the blob store. Throws as
  // unpack_layer does.
  std::vector<std::string> of(const LayerChain& chain) const;
  // Takes the changed tree of a step as its layer, in the place of what may be there of an earlier run.
  void adopt(const std::string& step, const fs::path& tree) const;
  // Names in `folder` of layers whose step is not among `steps`, and of what a killed process left.
  static std::vector<std::string> strangers(const fs::path& folder, const std::set<std::string>& steps,
                                            const FileSystem& files);

 private:
  void unpack(const BuiltLayer& layer, const std::string& name, const std::string& below) const;

  const EngineSetup& setup_;  // outlives this
  fs::path folder_;
};

// Owner and mode of the root of one tree, given to another.
void copy_root_attributes(const fs::path& from, const fs::path& to);

}  // namespace kiln
