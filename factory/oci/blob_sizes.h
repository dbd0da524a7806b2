// The sizes of many blobs of a store: each file is looked at, none is read, and the store is opened once.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

#include "factory/base/digest.h"
#include "factory/oci/blob_store.h"

namespace kiln {

Sha256 sum_of(const Digest& digest);  // its bytes. REQUIRES: not empty

class BlobSizes {
 public:
  explicit BlobSizes(const BlobStore& store);
  BlobSizes(const BlobSizes&) = delete;
  BlobSizes& operator=(const BlobSizes&) = delete;
  ~BlobSizes();
  // As BlobStore::size_of().
  std::optional<std::uint64_t> of(const Sha256& sum) const;

 private:
  int folder_;  // of blobs; -1: there is none
};

}  // namespace kiln
