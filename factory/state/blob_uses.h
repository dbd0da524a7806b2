// Who counts on which blob of the store: packaged images, published ones, steps.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "factory/base/effects.h"
#include "factory/record/image_blobs.h"
#include "factory/record/image_record.h"
#include "factory/state/state.h"

namespace kiln {

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
  std::optional<std::uint64_t> size;  // that was written, where anybody knows
  std::vector<BlobUse> uses;          // empty: nothing uses it
  std::string damage;                 // as far as is to be seen; "" when it looks whole
  bool is_unread = false;             // its bytes could not be had
};

struct BlobUses {
  std::vector<BlobUser> users;
  std::map<Digest, UsedBlob> blobs;     // all that anybody counts on, and all that lie in the store
  std::vector<std::string> unreadable;  // records and sidecars that are not what was written, by their path
                                        // in the state folder
};

// Reads every record, and looks at every blob.
BlobUses blob_uses(const StatePaths& state, const FileSystem& files);

}  // namespace kiln
