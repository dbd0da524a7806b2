// What `kiln lock --upstream` and a night ask of upstream: newer versions of what a plan is made of.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "factory/cli/invocation.h"
#include "factory/plan/proposals.h"

namespace kiln {

// An upstream that could not be asked, or said things that are no versions.
struct UpstreamProblem {
  std::string component;  // "framework/pytorch"
  Error why;
};

struct UpstreamNews {
  Proposals proposals;
  std::vector<UpstreamProblem> problems;
};

// {"proposals": […], "waiting": […], "problems": [{"component", "error"}]}
Json to_json(const UpstreamNews& news);

// Of the components that images of the catalogue are made of. At most `policy.proposals` are shown, none:
// nobody is asked. Package indexes as pip would find them on this machine, repositories by git. Nothing is
// written. Throws Error(interrupted) alone.
UpstreamNews ask_upstream(const Catalogue& catalogue, const UpdatePolicy& policy, std::int64_t now,
                          Invocation& invocation);

// What was shown is not new the next time: writes the state folder's proposals.json. Throws Error(store).
void remember_proposals(const ProposalMemory& memory, Invocation& invocation);

}  // namespace kiln
