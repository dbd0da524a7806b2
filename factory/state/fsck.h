// The store held against all that counts on it: what is missing, has another size, or other bytes; and the
// same of image layouts. Nothing is changed (run/mend.h changes).
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "factory/base/effects.h"
#include "factory/record/image_blobs.h"
#include "factory/record/image_record.h"
#include "factory/state/state.h"

namespace kiln {

// A user of a blob of the store: a packaged image, a published one, or a step.
struct BlobUser {
  enum class Kind { packaged, published, step } kind = Kind::packaged;
  std::string name;    // "hello:2.1-…-75869f925a83", "the step hello 2.1 (distro)"
  std::string record;  // of built/ or steps/; empty for a published image
  ImageRecord image;   // of an image: what names, files and blobs it has, and no more
};

struct BlobUse {
  std::size_t user = 0;
  std::string what;  // "layer 2", "spdx"
  ImageBlob::Role role = ImageBlob::Role::layer;
};

struct UsedBlob {
  std::optional<std::uint64_t> size;  // that was written, if it is known
  std::vector<BlobUse> uses;          // empty: nothing uses it
  std::string damage;                 // the visible damage; "" if it looks complete
  bool is_unread = false;             // its bytes could not be read
};

struct BlobUses {
  std::vector<BlobUser> users;
  std::map<Digest, UsedBlob> blobs;     // all that have a user, and all in the store
  std::vector<std::string> unreadable;  // records and sidecars that are not what was written, by their path
                                        // in the state folder
};

// Reads every record, and looks at every blob.
BlobUses blob_uses(const StatePaths& state, const FileSystem& files);

// A blob that is not what was written.
struct BlobDamage {
  Digest blob;
  std::string what;             // its role for its first user: "layer 2"
  std::vector<std::string> of;  // those users; empty: no user
  std::string damage;           // "is missing"
  bool is_unread = false;       // the disk, or a mode, kept it from being read: its bytes are not known
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

// The layouts alone. Damage of a blob in the store is not reported again for the layouts that link it.
std::vector<LayoutDamage> check_layouts(const BlobUses& uses, const StatePaths& state, bool deep);

}  // namespace kiln
