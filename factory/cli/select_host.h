// Which host --host means: docs/selection.md, "The host".
#pragma once

#include <string>

#include "factory/cli/invocation.h"
#include "registry/answer/question_host.h"

namespace kiln {

// `option` is what --host says: a file, "-" for stdin, "here", "any", or the name of a target; "" = nothing
// was said, and the document decides, else this machine. Throws Error(input) for what describes no host.
QuestionHost choose_host(const std::string& option, const ImageQuery& query, Invocation& invocation);

}  // namespace kiln
