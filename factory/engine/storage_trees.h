// Where containers/storage keeps what changed in a container, from its own files. The kernel says it, too,
// once the container is mounted, but a mount and its end are two starts of the engine in every step.
//
// That layout is not promised. So one container of a store is mounted, and when the kernel and the files say
// the same, the files are believed from then on: in that store, with that program, mounted in that way. What
// was seen stands in `<store>/layout` and goes with the store.
#pragma once

#include <optional>
#include <string>

#include "factory/base/effects.h"
#include "factory/oci/overlay_tree.h"

namespace kiln {

class StorageTrees {
 public:
  // `store` holds the engine's `root`; `program` is the engine's, absolute.
  StorageTrees(FileSystem& files, fs::path store, fs::path program)
      : files_(files), store_(std::move(store)), program_(std::move(program)) {}

  // nullopt where the files are not believed, or say nothing about `container`.
  std::optional<ChangedTree> of(const std::string& container) const;
  // `mounted` is what the kernel says of it.
  void compare(const std::string& container, const ChangedTree& mounted);

 private:
  std::optional<ChangedTree> read(const std::string& container) const;
  fs::path root() const { return store_ / "root"; }
  fs::path layout() const { return store_ / "layout"; }
  // Of all that the layout hangs on.
  std::string seen() const;

  FileSystem& files_;
  fs::path store_;
  fs::path program_;
};

}  // namespace kiln
