// rootfs.sh, which runs on the build host.
#include <fmt/format.h>

#include "factory/render/render.h"
#include "factory/render/render_layout.h"

namespace kiln {
namespace {

// One script of a base, as rootfs.sh runs it.
std::string host_script(const Step& base, std::string script, const std::string& output) {
  Step step = base;
  step.script = std::move(script);
  std::vector<std::string> always = always_there(false);
  always.push_back(fmt::format("KILN_OUTPUT=\"$here/{}\"", output));
  std::vector<std::string> lines =
      script_lines(step, fmt::format("\"$here/scripts/{}\"", script_folder(step)), always);
  lines.front().insert(0, "( ");
  lines.back() += " ) || exit 1";
  return continued(lines, "  ");
}

}  // namespace

std::string rootfs_script(const ImageSpec& spec, const RenderLayout& layout, bool site) {
  std::string text = fmt::format(
      "#!/bin/sh -eu\n# {}\n# Makes the root file system of the base, beside this file. Runs on the build "
      "host.\n"
      "here=$(cd \"$(dirname \"$0\")\" && pwd)\n",
      generated_line(spec));
  for (const auto& [name, steps] : secrets_of(spec, {StepKind::rootfs}))
    text += fmt::format(
        "[ -f \"${{KILN_SECRETS:-}}/{0}\" ] || {{ echo 'the secret {0} is missing: put it into a file of "
        "that name, and name "
        "its folder in KILN_SECRETS' >&2; exit 1; }}\n",
        name);
  for (const RenderBase& base : layout.bases()) {
    if (base.archive.empty()) continue;
    std::string part = "part-" + base.archive;
    text += fmt::format("\n# {}\n{}mv \"$here/{}\" \"$here/{}\"\n", one_line(base.step->title),
                        host_script(*base.step, base.step->script, part), part, base.archive);
  }
  // All stages stand upon the first.
  if (const Step& base = *layout.bases().front().step; site && !base.site.empty())
    text +=
        "\n# How this machine reaches packages: for the steps while they run, in no image.\n"
        "rm -rf \"$here/site/base\"\nmkdir \"$here/site/base\"\n" +
        host_script(base, base.site, "site/base");
  return text;
}

}  // namespace kiln
