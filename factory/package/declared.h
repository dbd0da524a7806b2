// declared_record: what an image says of itself before anybody has looked into it. Packaging begins with it,
// and so does the question what a cell that is not built would answer.
#pragma once

#include <string>

#include "factory/record/image_record.h"
#include "factory/resolve/resolve.h"

namespace kiln {

// The names, the choice, the facts, the labels and what the image needs of a host. `architecture`: OCI's, as
// the image's configuration has it ("amd64"). `glibc`: the one that was found in the image; "" while nobody
// has looked, and then that of its components' facts counts. Nothing is said of layers, manifest, evidence
// and time.
ImageRecord declared_record(const ImageSpec& spec, const std::string& architecture,
                            const std::string& glibc = "");

}  // namespace kiln
