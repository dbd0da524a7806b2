// Whether what kiln answers with is there: blobs, layout and SIF of an image of the index, by presence and
// size. What is wrong is an Error(store) that names image, blob and remedy. `state`: the state folder.
#pragma once

#include <filesystem>

#include "factory/oci/layout.h"
#include "factory/record/image_blobs.h"

namespace kiln {

// The image's blobs in the store.
void check_blobs(const std::filesystem::path& state, const ImageRecord& image);
// They, and the image's layout.
void check_layout(const std::filesystem::path& state, const ImageRecord& image);
// They, and the file that is to be answered with. A folder that is not of this machine is not looked into.
void check_sif(const std::filesystem::path& state, const ImageRecord& image,
               const std::filesystem::path& file);

// <state>/sif: where the SIFs of the current snapshot have names (state/sif_folder.h).
std::filesystem::path sif_folder(const std::filesystem::path& state);
// The image's name in that folder, if that leads to its SIF now; else the blob's own. Throws Error(no_match)
// for an image without a SIF.
std::filesystem::path sif_path(const std::filesystem::path& state, const ImageRecord& image);

// What the index of an image's layout says. Throws Error(store) when a referrer's manifest is damaged.
LayoutIndex layout_index_of(const ImageRecord& image, const BlobStore& store);

// Those of an image's blobs that its layout holds. After new labels, and before they are published, the
// folder holds the same layers under a newer manifest: then these.
std::vector<Descriptor> blobs_in_layout(const std::filesystem::path& folder, const Digest& manifest,
                                        const std::vector<ImageBlob>& blobs);

}  // namespace kiln
