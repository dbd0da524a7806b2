// The document that is attached to an image after it was built: the words on its gain over stock.
#pragma once

#include <string_view>

#include "factory/oci/referrer.h"

namespace kiln {

inline constexpr std::string_view kGainKind = "gain";
inline constexpr std::string_view kGainType = "application/vnd.kiln.gain.v1+json";

// Whether the image's layout, which is written with the image, lacks the attachment.
inline bool is_later_document(const Attachment& attachment) { return attachment.kind == kGainKind; }

}  // namespace kiln
