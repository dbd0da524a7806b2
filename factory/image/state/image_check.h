// Whether what kiln answers with is there: blobs, layout and SIF of an image of the index, by presence and
// size. What is wrong is an Error(store) that names image, blob and remedy.
#pragma once

#include <filesystem>

#include "image/state/state.h"
#include "registry/image_record.h"

namespace kiln {

// The image's blobs in the store.
void check_blobs(const StatePaths& state, const ImageRecord& image);
// They, and the image's layout.
void check_layout(const StatePaths& state, const ImageRecord& image);
// They, and the file that is to be answered with. A folder that is not of this machine is not looked into.
void check_sif(const StatePaths& state, const ImageRecord& image, const std::filesystem::path& file);

}  // namespace kiln
