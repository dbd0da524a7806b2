#include "registry/modules/module_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "factory/base/text.h"

namespace kiln {

std::string exec_wrapper_name(const ModuleImage& module) { return module.name + "-exec"; }

std::vector<std::string> wrapper_names(const ModuleImage& module) {
  std::vector<std::string> names = {exec_wrapper_name(module)};
  for (const ModuleProgram& program : module.programs) names.push_back(program.name);
  std::sort(names.begin(), names.end());
  return names;
}

std::string image_place(const ModuleImage& module) {
  return module.image.sif.empty() ? module.image.reference : module.image.sif;
}

std::string module_identifier(const ModuleImage& module) {
  std::string name = module.name + "_" + module.version;
  std::replace_if(
      name.begin(), name.end(), [](char c) { return !is_letter_or_digit(c); }, '_');
  return name;
}

std::vector<std::string> module_help(const ModuleImage& module) {
  const std::vector<std::string> names = wrapper_names(module);
  std::vector<std::string> lines = {module.title};
  if (!module.description.empty()) lines.push_back(module.description);
  lines.push_back(fmt::format("Image: {}", module.image.name));
  lines.push_back(fmt::format("Programs: {}", fmt::join(names, " ")));
  lines.push_back(fmt::format("{} PROGRAM runs any other program of the image.", exec_wrapper_name(module)));
  return lines;
}

}  // namespace kiln
