// Which host a question is about: docs/selection.md, "The host".
#pragma once

#include <string>

#include "cli/invocation.h"
#include "registry/select.h"

namespace kiln {

struct QuestionHost {
  Host host;
  bool here = false;   // it is this machine, and nobody said so
  std::string note{};  // a line for people, where the document's machines are not known, or this one was not
                       // taken; "" mostly
};

// `option` is what --host says: a file, "-" for stdin, "here", "any", or the name of a target; "" = nothing
// was said, and the document decides, else this machine. Throws Error(input) for what describes no host.
QuestionHost choose_host(const std::string& option, const ImageQuery& query, Invocation& invocation);

}  // namespace kiln
