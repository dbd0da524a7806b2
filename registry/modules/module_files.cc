#include "registry/modules/module_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "factory/base/error.h"
#include "registry/modules/module_text.h"

namespace kiln {
namespace {

// pyxis starts enroot's containers by srun alone; podman gives a program neither input nor a terminal
// unasked.
void refuse_runtime(ContainerRuntime runtime) {
  if (runtime != ContainerRuntime::enroot && runtime != ContainerRuntime::podman) return;
  throw Error(ExitCode::usage,
              fmt::format("--runtime {}: kiln writes no wrappers for it", kContainerRuntimes.of(runtime)),
              runtime == ContainerRuntime::enroot ? "the files of edf/ name the image for srun --environment"
                                                  : "expected apptainer, singularity, charliecloud, sarus or "
                                                    "shifter");
}

void refuse_equal_names(const ModuleImage& module) {
  const std::vector<std::string> names = wrapper_names(module);
  const auto twice = std::adjacent_find(names.begin(), names.end());
  if (twice == names.end()) return;
  throw Error(ExitCode::usage,
              fmt::format("two wrappers of {} have the name '{}'", module.image.name, *twice),
              *twice == exec_wrapper_name(module) ? "kiln writes one of this name, which runs any program"
                                                  : "name each program once");
}

void add_wrappers(const ModuleImage& module, const ModuleTerms& terms, std::vector<ModuleFile>& files) {
  const std::string folder = fmt::format("bin/{}/{}/", module.name, module.version);
  for (const ModuleProgram& program : module.programs)
    files.push_back({folder + program.name, wrapper_text(module, terms, program.command), true});
  files.push_back({folder + exec_wrapper_name(module), wrapper_text(module, terms, ""), true});
}

void add_module(const ModuleImage& module, const ModuleTerms& terms, ModuleFiles& made) {
  std::vector<ModuleFile>& files = made.files;
  files.push_back({fmt::format("lmod/{}/{}.lua", module.name, module.version), lmod_text(module)});
  files.push_back({fmt::format("tcl/{}/{}", module.name, module.version), tcl_text(module)});
  add_wrappers(module, terms, files);
  files.push_back({fmt::format("reframe/{}.py", module_identifier(module)), reframe_text(module)});
  if (module.pinned.empty())
    made.notes.push_back(fmt::format(
        "{} is in no registry from which nodes pull: no environment definition file; `kiln publish --to`",
        module.image.name));
  else
    files.push_back({fmt::format("edf/{}-{}.toml", module.name, module.version),
                     environment_definition_text(module, terms)});
}

void add_shpc(const std::vector<ModuleImage>& modules, ModuleFiles& made) {
  std::map<std::string, std::vector<const ModuleImage*>> by_name;
  for (const ModuleImage& module : modules) {
    if (module.digest.empty())
      made.notes.push_back(fmt::format(
          "{} has no digest in a registry, by which shpc pulls: no container.yaml", module.image.name));
    else
      by_name[module.name].push_back(&module);
  }
  for (const auto& [name, ones] : by_name)
    made.files.push_back({fmt::format("shpc/{}/container.yaml", name), shpc_text(ones)});
}

}  // namespace

ModuleFiles module_files(const std::vector<ModuleImage>& modules, const ModuleTerms& terms) {
  refuse_runtime(terms.runtime);
  ModuleFiles made;
  for (const ModuleImage& module : modules) {
    refuse_equal_names(module);
    add_module(module, terms, made);
  }
  add_shpc(modules, made);
  std::sort(made.files.begin(), made.files.end(),
            [](const ModuleFile& one, const ModuleFile& other) { return one.path < other.path; });
  return made;
}

}  // namespace kiln
