// What hangs on an image: bills of materials, provenance, evidence, for commands that print them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "factory/record/image_record.h"

namespace kiln {

class Invocation;

// The record of an image that `name` names: "repository:tag" or the digest of the manifest of the index, else
// repository:tag, immutable tag or cell of an image that is built and not published. nullopt for all else.
std::optional<ImageRecord> find_record(const std::string& name, Invocation& invocation);

std::vector<std::string> image_names(Invocation& invocation);  // of the index; none without an index

// The document of that kind, or nullopt when the image has none. Throws Error(store) when it is damaged.
std::optional<std::string> read_attachment(const ImageRecord& record, const std::string& kind,
                                           Invocation& invocation);

}  // namespace kiln
