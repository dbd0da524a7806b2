// The store held against all that counts on it: what is missing, has another size, or other bytes; and the
// same of image layouts. Nothing is changed (run/mend.h changes).
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "factory/base/effects.h"
#include "factory/state/blob_uses.h"
#include "factory/state/state.h"

namespace kiln {

// A blob that is not what was written.
struct BlobDamage {
  Digest blob;
  std::string what;             // to the first of those who count on it: "layer 2"
  std::vector<std::string> of;  // who they are; none: nobody
  std::string damage;           // "is missing"
  bool is_unread = false;       // the disk, or a mode, kept it from being read: nobody knows its bytes
};

// A layout that does not hold what its image consists of.
struct LayoutDamage {
  fs::path folder;  // in the state folder
  ImageRecord image;
  std::string damage;
};

struct FsckReport {
  BlobUses uses;
  std::vector<BlobDamage> blobs;
  std::vector<LayoutDamage> layouts;
  std::uint64_t looked_at = 0;  // blobs
  std::uint64_t read = 0;       // bytes
  bool is_whole() const { return blobs.empty() && layouts.empty() && uses.unreadable.empty(); }
};

struct FsckOptions {
  bool deep = false;  // every byte is read
  unsigned jobs = 1;  // reading threads
  std::function<void(std::uint64_t done, std::uint64_t all)>
      progress;  // bytes; called by one thread at a time
};

// Throws Error(interrupted), Error(store).
FsckReport check_store(const StatePaths& state, const FileSystem& files, const FsckOptions& options);

// The layouts alone. What is wrong with a blob of the store is not said again of the layouts that link it.
std::vector<LayoutDamage> check_layouts(const BlobUses& uses, const StatePaths& state, bool deep);

}  // namespace kiln
