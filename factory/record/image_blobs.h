// The blobs that an image consists of, and what is wrong with them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "factory/oci/blob_store.h"
#include "factory/record/image_record.h"

namespace kiln {

// A blob, and what it is to an image.
struct ImageBlob {
  // document: an attachment and what makes it a referrer; apart: in no layout, as a SIF
  enum class Role { description, layer, document, apart } role = Role::layer;
  std::string what;  // "manifest", "layer 3", "sif", "referrer of spdx"
  Digest digest;
  std::uint64_t size = 0;  // bytes that were written; of a document that cannot be read, 0
  std::string damage{};    // "is missing", "has 12 of 345 bytes"; "" when it looks whole
};

// All of them, each once: manifest, configuration, layers, attachments and their referrers. Manifests are
// read and held against their digests; of what a damaged one names, nothing is known. Of the others, presence
// and size are looked at. REQUIRES: the image is not external.
std::vector<ImageBlob> blobs_of(const ImageRecord& image, const BlobStore& store);

// The first of them that is damaged.
std::optional<ImageBlob> first_damage(const std::vector<ImageBlob>& blobs);

// Error(store) that names image, blob and remedy.
Error damage_error(const ImageRecord& image, const ImageBlob& blob);

}  // namespace kiln
