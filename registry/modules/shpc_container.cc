// A registry entry of singularity-hpc 0.1.32 (shpc/main/schemas.py). An image has a digest in a registry: of
// a local file, `shpc install` removes all other SIFs in the folder of the file
// (shpc/main/container/singularity.py).
#include <fmt/format.h>

#include "registry/modules/module_quote.h"
#include "registry/modules/module_text.h"

namespace kiln {
namespace {

std::string without_tag(const std::string& reference) {
  const std::size_t slash = reference.find_last_of('/');
  const std::size_t colon = reference.find(':', slash == reference.npos ? 0 : slash);
  return reference.substr(0, colon);
}

std::string tag_line(const ModuleImage& module) {
  return fmt::format("  {}: {}\n", quote_yaml(module.version), quote_yaml(module.digest));
}

}  // namespace

std::string shpc_text(const std::vector<const ModuleImage*>& modules) {
  const ModuleImage& latest = *modules.front();
  std::string text = "# Made by kiln module.\n";
  text += fmt::format("docker: {}\n", quote_yaml(without_tag(latest.pinned)));
  if (!latest.homepage.empty()) text += fmt::format("url: {}\n", quote_yaml(latest.homepage));
  text += "maintainer: \"kiln\"\n";
  text += fmt::format("description: {}\n",
                      quote_yaml(latest.description.empty() ? latest.title : latest.description));
  text += "latest:\n" + tag_line(latest) + "tags:\n";
  for (const ModuleImage* module : modules) text += tag_line(*module);
  if (!latest.image.gpu_vendor.empty()) text += "features:\n  gpu: true\n";
  if (latest.programs.empty()) return text;
  text += "aliases:\n";
  for (const ModuleProgram& program : latest.programs)
    text += fmt::format("  {}: {}\n", quote_yaml(program.name), quote_yaml(program.command));
  return text;
}

}  // namespace kiln
