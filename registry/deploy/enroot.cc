// Enroot through pyxis: options of srun. As #SBATCH directives they would run the batch script itself in the
// container, and '#' in them would begin a comment (NVIDIA/pyxis@10751994, 0.24.0, README.md; #148).
#include <fmt/format.h>

#include "registry/deploy/container_runtime.h"
#include "registry/deploy/script_quote.h"

namespace kiln {
namespace {

// NVIDIA/enroot@8ea147d3, doc/cmd/import.md: docker://[USER@][REGISTRY#]IMAGE[:TAG].
std::string enroot_name(const std::string& reference) {
  const std::size_t slash = reference.find('/');
  if (slash == reference.npos) return reference;
  const std::string host = reference.substr(0, slash);
  const bool is_registry = host.find_first_of(".:") != host.npos || host == "localhost";
  return is_registry ? host + "#" + reference.substr(slash + 1) : reference;
}

}  // namespace

RuntimeLines enroot_lines(const JobContainer& run) {
  RuntimeLines lines = {"image=" + job_quoted(enroot_name(registry_reference(run.image)))};
  std::string mounts = "${PWD}:${PWD}";
  std::string quoted;
  for (const std::string& path : run.binds) quoted += job_quoted(fmt::format(",{0}:{0}", path));
  std::string words = "--container-image=\"${image}\" --container-mounts=\"" + mounts + "\"" + quoted +
                      " --container-workdir=\"${PWD}\"";
  std::string names;
  for (const std::string& name : run.own_variables) names += (names.empty() ? "" : ",") + name;
  if (!names.empty()) words += " --container-env=" + job_quoted(names);
  lines.push_back(fmt::format("step=({})", words));
  return lines;
}

}  // namespace kiln
