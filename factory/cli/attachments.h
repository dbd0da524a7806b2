// What hangs on an image: bills of materials, provenance, evidence, for commands that print them.
#pragma once

#include <optional>
#include <string>

#include "registry/image_record.h"
#include "sif/image_source.h"

namespace kiln {

class Invocation;

// The record of an image that `name` names: "repository:tag" or the digest of the manifest of the index, else
// repository:tag, immutable tag or cell of an image that is built and not published. nullopt for all else.
std::optional<ImageRecord> find_record(const std::string& name, Invocation& invocation);

// The document of that kind, or nullopt when the image has none. Throws Error(store) when it is damaged.
std::optional<std::string> read_attachment(const ImageRecord& record, const std::string& kind,
                                           Invocation& invocation);

// A bill of materials of any image, from its layers. `format`: spdx or cyclonedx.
std::string make_bill(const sif::SourceImage& image, const std::string& name, const std::string& format,
                      Invocation& invocation);

}  // namespace kiln
