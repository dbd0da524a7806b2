// Which of several images for one architecture runs on the most processors. Only for this folder.
#pragma once

#include <string_view>

namespace kiln {

// Levels of a processor are nested (amd64: v1 to v4; arm64: v8, v9), so that the lowest runs wherever one of
// them does. The rank of an image-spec variant: "" first, then v1, v2, …, what is no level last.
unsigned variant_rank(std::string_view variant);

}  // namespace kiln
