// Charliecloud: an image of the storage of ch-image, by its reference. Words: hpc/charliecloud@a1fe5575
// (after 0.38), doc/ch-run.rst.
#include <fmt/format.h>

#include "registry/deploy/container_runtime.h"
#include "registry/deploy/script_quote.h"

namespace kiln {

RuntimeLines charliecloud_lines(const JobContainer& run) {
  RuntimeLines lines = {"image=" + job_quoted(registry_reference(run.image))};
  // --set-env alone: the variables of the image. "Most images have ten directories /mnt/[0-9]"; other folders
  // must exist in the image, because it is read-only. ch-run would expand $NAME within values otherwise.
  std::string words = "ch-run --env-no-expand --set-env --bind=\"${PWD}:/mnt/0\" --cd=/mnt/0";
  for (const std::string& path : run.binds) words += " --bind=" + job_word(path);
  for (const std::string& name : run.own_variables)
    words += fmt::format(" --set-env=\"{}=${{{}}}\"", name, name);
  words += " --set-env=TMPDIR=/tmp";
  if (run.gpus == "nvidia")
    lines.push_back(
        "# ch-run has no option for GPUs: `ch-fromhost --nvidia` puts the driver's libraries into the "
        "image.");
  lines.push_back(fmt::format("container=({} \"${{image}}\" --)", words));
  return lines;
}

}  // namespace kiln
