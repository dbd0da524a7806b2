// What hangs on an image: bills of materials, provenance, evidence, for commands that print them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "registry/image_record.h"
#include "sif/image_source.h"

namespace kiln {

class Invocation;

// The record of an image that `name` names: "repository:tag" or the digest of the manifest of the index, else
// repository:tag, immutable tag or cell of an image that is built and not published. nullopt for all else.
std::optional<ImageRecord> find_record(const std::string& name, Invocation& invocation);

std::vector<std::string> image_names(Invocation& invocation);  // of the index; none without an index

// The document of that kind, or nullopt when the image has none. Throws Error(store) when it is damaged.
std::optional<std::string> read_attachment(const ImageRecord& record, const std::string& kind,
                                           Invocation& invocation);

// The document of that kind that goes with the image in its layout, by whoever made it: one artifact of the
// kind's media type, provenance by its predicate's. nullopt when there is none.
std::optional<std::string> read_referrer(sif::SourceImage& image, const std::string& kind);

// Where read_referrer looked, and what it found instead: for a hint. `name`: of the image.
std::string referrers_text(sif::SourceImage& image, const std::string& name);

// A bill of materials of any image, from its layers. `format`: spdx or cyclonedx.
std::string make_bill(const sif::SourceImage& image, const std::string& name, const std::string& format,
                      Invocation& invocation);

}  // namespace kiln
