// Sarus: an image that `sarus pull` brought. Its hooks bind the host's MPI (--mpi) and the visible GPUs.
// Words: eth-cscs/sarus@4a8fdc43 (1.7.0), doc/user/user_guide.rst and src/cli/CommandRun.hpp.
#include <fmt/format.h>

#include "registry/deploy/container_runtime.h"
#include "registry/deploy/script_quote.h"

namespace kiln {

RuntimeLines sarus_lines(const JobContainer& run) {
  RuntimeLines lines = {"image=" + job_quoted(registry_reference(run.image))};
  std::string words = "sarus run";
  if (run.mpi) words += " --mpi";
  words += " --mount=\"type=bind,source=${PWD},destination=${PWD}\"";
  for (const std::string& path : run.binds)
    words += " --mount=" + job_quoted(fmt::format("type=bind,source={0},destination={0}", path));
  words += " --workdir=\"${PWD}\"";
  for (const std::string& name : run.own_variables) words += fmt::format(" --env=\"{}=${{{}}}\"", name, name);
  lines.push_back(fmt::format("container=({} --env=TMPDIR=/tmp \"${{image}}\")", words));
  return lines;
}

}  // namespace kiln
