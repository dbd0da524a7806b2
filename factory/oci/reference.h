// References to images of a registry, as recipes write them: `[docker://]name[:tag][@digest]`
// (distribution's reference grammar).
#pragma once

#include <string>
#include <string_view>

#include "factory/base/digest.h"

namespace kiln {

// False for images of this machine's disk (oci:, oci-archive:, docker-archive:, dir:): no registry vouches
// for them.
bool is_in_registry(std::string_view reference);

// `name` alone: without transport, tag and digest. REQUIRES: is_in_registry(reference).
std::string repository_name(std::string_view reference);

// "" without one, and of an image of this machine's disk.
std::string tag_of(std::string_view reference);

// `name@sha256:…`: skopeo, Docker and Apptainer disagree on a tag beside a digest, so there is none.
// REQUIRES: is_in_registry(reference).
std::string pinned_reference(std::string_view reference, const Digest& digest);

// A tag beside a digest is dropped: the digest decides, and skopeo refuses both. Other references stay.
std::string without_tag_beside_digest(std::string_view reference);

}  // namespace kiln
