// Deployment → scripts for bash. Pure, and equal bytes for equal deployments.
#pragma once

#include <string>
#include <vector>

#include "registry/deploy/deployment.h"

namespace kiln {

struct JobScripts {
  std::string job;
  std::string build;               // "" = the document builds nothing
  std::vector<std::string> notes;  // options that the scheduler does not have
};

// No value of the document becomes text of the shell or another directive: each is quoted, and commands of
// the document (`pre-execution`, `build_command`) stay one argument. Throws Error(input) at the place of a
// value that the scheduler cannot take, Error(no_match) for an image that the runtime cannot find.
JobScripts render_job(const Deployment& deployment);

// The deployment with `job_script`, `build_script` where there is one, and the notes of both: as `kiln job
// --json` prints it.
Json to_json(const Deployment& deployment, const JobScripts& scripts);

}  // namespace kiln
