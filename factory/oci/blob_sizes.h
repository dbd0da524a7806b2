// The sizes of many blobs of a store: each file is looked at, none is read, and each folder is opened once.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "base/digest.h"
#include "oci/blob_store.h"

namespace kiln {

Sha256 sum_of(const Digest& digest);  // its bytes. REQUIRES: not empty

class BlobSizes {
 public:
  explicit BlobSizes(const BlobStore& store);
  BlobSizes(const BlobSizes&) = delete;
  BlobSizes& operator=(const BlobSizes&) = delete;
  ~BlobSizes();
  // As BlobStore::size_of().
  std::optional<std::uint64_t> of(const Sha256& sum);

 private:
  int folder(unsigned char first);

  std::filesystem::path root_;
  std::array<int, 256> folders_;  // by the digest's first byte: a descriptor, or one of the two below
  static constexpr int kNotOpened = -1;
  static constexpr int kMissing = -2;
};

}  // namespace kiln
