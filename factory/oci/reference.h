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

// `name@sha256:…`: without a tag, because skopeo, Docker and Apptainer disagree on a tag together with a
// digest. REQUIRES: is_in_registry(reference).
std::string pinned_reference(std::string_view reference, const Digest& digest);

// Drops the tag of a reference that also has a digest: the digest decides, and skopeo refuses both. Other
// references stay.
std::string without_tag_beside_digest(std::string_view reference);

}  // namespace kiln
