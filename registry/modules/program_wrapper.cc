// A script in PATH that runs a program in an image. bash, as the lines of registry/deploy have its arrays.
#include <fmt/format.h>

#include "factory/base/visible_text.h"
#include "registry/deploy/script_quote.h"
#include "registry/modules/module_text.h"

namespace kiln {

std::string wrapper_text(const ModuleImage& module, const ModuleTerms& terms, const std::string& command) {
  JobContainer run;
  run.image = module.image;
  run.gpus = module.image.gpu_vendor;
  run.mpi = !module.image.mpi.empty();
  run.binds = terms.binds;
  std::string text =
      fmt::format("#!/bin/bash\n# Made by kiln module, for {}\nset -eu\n", on_one_line(module.image.name));
  if (command.empty())
    text +=
        fmt::format("if [ $# = 0 ]; then\n  echo {} >&2\n  exit 2\nfi\n",
                    job_quoted(fmt::format("usage: {} PROGRAM [ARGUMENT...]", exec_wrapper_name(module))));
  for (const std::string& line : runtime_lines(terms.runtime, run)) text += line + "\n";
  return text + "exec \"${container[@]}\" " + (command.empty() ? "" : job_word(command) + " ") + "\"$@\"\n";
}

}  // namespace kiln
