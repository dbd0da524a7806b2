// Whether a machine can be what a document is about. Pure.
#pragma once

#include <string>

#include "factory/cpu/microarchitecture.h"
#include "factory/record/host_description.h"
#include "registry/select/dsl.h"

namespace kiln {

// What the question asks for and the machine surely is not, as the end of a sentence about it ("has no nvidia
// accelerator, which the document asks for"): the document is meant for another one. "" when there is
// nothing.
std::string what_it_lacks(const HostDescription& host, const ImageQuery& query,
                          const Microarchitectures& cpus);

}  // namespace kiln
