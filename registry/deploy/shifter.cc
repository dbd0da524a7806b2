// Shifter: an image that `shifterimg pull` brought. Words: NERSC/shifter@84b7d349, src/shifter.c. Modules are
// the site's: mpich is the example of doc/modules.rst, gpu is NERSC's name and not in Shifter's
// documentation.
#include <fmt/format.h>

#include "registry/deploy/container_runtime.h"
#include "registry/deploy/script_quote.h"

namespace kiln {

RuntimeLines shifter_lines(const JobContainer& run) {
  RuntimeLines lines = {"image=" + job_quoted("docker:" + registry_reference(run.image))};
  std::string modules;
  if (!run.gpus.empty()) modules = "gpu";
  if (run.mpi) modules += modules.empty() ? "mpich" : ",mpich";
  std::string words = "shifter --image=\"${image}\"";
  if (!modules.empty()) words += " --module=" + job_quoted(modules);
  words += " --volume=\"${PWD}:${PWD}\"";
  for (const std::string& path : run.binds) words += fmt::format(" --volume={0}:{0}", job_word(path));
  words += " --workdir=\"${PWD}\"";
  for (const std::string& name : run.own_variables) words += fmt::format(" --env=\"{}=${{{}}}\"", name, name);
  lines.push_back(fmt::format("container=({} --env=TMPDIR=/tmp)", words));
  return lines;
}

}  // namespace kiln
