// Artifact: what an image of the plan becomes. It is composed once and goes from pass to pass (package.h).
#pragma once

#include <cstdint>

#include "factory/oci/layer_chain.h"
#include "factory/oci/layout.h"
#include "factory/record/image_record.h"
#include "factory/resolve/resolve.h"

namespace kiln {

struct Artifact {
  LayoutImage image;    // what write_layout takes; `referrers` are those of the documents attached so far
  Descriptor manifest;  // of the image; what is attached does not change it
  ImageRecord record;   // what the index will know; `layout` is left to whoever keeps the image
};

// The image of these layers: the base's configuration, then the recipe's environment, labels and command. The
// same spec, layers, time and evidence give the same bytes; the evidence, which follows from the layers, is
// in the labels (io.kiln.evidence.*), too. `epoch`: seconds since 1970.
Artifact compose(const ImageSpec& spec, const LayerChain& built, EvidenceRecord evidence, std::int64_t epoch);

}  // namespace kiln
