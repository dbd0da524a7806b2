// The blobs that an image consists of, and what is wrong with them.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "factory/oci/blob_store.h"
#include "factory/oci/layout.h"
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

// Checks that the parts of an answer exist: blobs, layout and SIF of an image of the index, by presence and
// size. Damage is an Error(store) that names image, blob and remedy. `state`: the state folder.

// The image's blobs in the store.
void check_blobs(const std::filesystem::path& state, const ImageRecord& image);
// They, and the image's layout.
void check_layout(const std::filesystem::path& state, const ImageRecord& image);
// They, and the file for the answer. A folder that is not of this machine is not looked into.
void check_sif(const std::filesystem::path& state, const ImageRecord& image,
               const std::filesystem::path& file);

// <state>/sif: where the SIFs of the current snapshot have names (state/sif_folder.h).
std::filesystem::path sif_folder(const std::filesystem::path& state);
// The image's name in that folder, if that leads to its SIF now; else the blob's own. Throws Error(no_match)
// for an image without a SIF.
std::filesystem::path sif_path(const std::filesystem::path& state, const ImageRecord& image);

// Contents of the index of an image's layout. Throws Error(store) when a referrer's manifest is damaged.
LayoutIndex layout_index_of(const ImageRecord& image, const BlobStore& store);

// Those of an image's blobs that its layout holds. After new labels, and before they are published, the
// folder holds the same layers under a newer manifest: then these.
std::vector<Descriptor> blobs_in_layout(const std::filesystem::path& folder, const Digest& manifest,
                                        const std::vector<ImageBlob>& blobs);

}  // namespace kiln
