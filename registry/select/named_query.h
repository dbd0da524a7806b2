// A question without a document: `kiln select NAME[@VERSION] --workload W`. Pure.
#pragma once

#include <string>

#include "registry/select/dsl.h"
#include "registry/select/select.h"

namespace kiln {

// The DSL document that asks for an optimised build of the application: "pytorch", "pytorch@2.6" or
// "pytorch@>=2.6". `workload`: whose measurements count, "" = any. Throws Error(usage) for an invalid name.
std::string named_document(const std::string& application, const std::string& workload);

// On a host with accelerators, such a question is for an image for them: the vendor of the first. `query` is
// of named_document().
void ask_for_accelerators_of(const Host& host, ImageQuery& query);

}  // namespace kiln
