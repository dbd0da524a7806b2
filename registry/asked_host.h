// Whether a machine can be what a document is about. Pure.
#pragma once

#include <string>

#include "base/microarchitecture.h"
#include "registry/dsl.h"
#include "registry/host_description.h"

namespace kiln {

// What the question asks for and the machine surely is not, as the end of a sentence about it ("has no nvidia
// accelerator, which the document asks for"): the document is meant for another one. "" when there is
// nothing.
std::string what_it_lacks(const HostDescription& host, const ImageQuery& query,
                          const Microarchitectures& cpus);

}  // namespace kiln
