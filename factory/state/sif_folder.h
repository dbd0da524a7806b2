// <state>/sif: what MODAK calls $SINGULARITY_DIR, <repository>_<tag>.sif for each image of the current
// snapshot that has a SIF. The bytes are blobs of the store; the names are symbolic links to them, relative,
// so that a state folder can move as a whole:
//
//   sif -> sif.snapshots/41-3f2ab01c9d4e      replaced by one rename: all names move at once, as the tags do
//   sif.snapshots/41-3f2ab01c9d4e/pytorch_2.6.0-….sif -> ../../store/sha256/aa/<digest>
//
// The folder that was shown before stays, for processes that opened it a moment ago; older ones are removed.
#pragma once

#include "factory/state/state.h"
#include "registry/index/index.h"

namespace kiln {

// Makes the folder show the index's current snapshot, whatever was left by a kill. An image whose SIF is not
// in the store gets no name. Throws Error(store), also when <state>/sif is something that kiln did not make.
// REQUIRES: the state's lock is held.
void show_sifs(const StatePaths& state, const Index& index);
// The same from the entries of the current snapshot, where the caller has read them.
void show_sifs(const StatePaths& state, std::int64_t snapshot, const std::vector<IndexEntry>& published);

}  // namespace kiln
