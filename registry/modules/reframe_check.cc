// Tests of ReFrame 4 (reframe/core/pipeline.py): each program is in the image, and the framework answers with
// its version. They run the wrappers, so a system needs no container platform in its configuration.
#include <fmt/format.h>

#include <algorithm>

#include "factory/base/visible_text.h"
#include "registry/modules/module_quote.h"
#include "registry/modules/module_text.h"

namespace kiln {
namespace {

std::string reframe_head(const ModuleImage& module) {
  return fmt::format(
      "# Made by kiln module, for {}\n"
      "# reframe -c FILE -r runs it.\n"
      "import os\nimport re\nimport shlex\n\n"
      "import reframe as rfm\nimport reframe.utility.sanity as sn\n\n"
      "FOLDER = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))\n\n\n"
      "def wrapper(name):\n"
      "    return shlex.quote(os.path.join(FOLDER, \"bin\", {}, {}, name))\n",
      on_one_line(module.image.name), quote_python(module.name), quote_python(module.version));
}

std::string reframe_class(const ModuleImage& module, const std::string& subject, const std::string& descr) {
  return fmt::format(
      "\n\n@rfm.simple_test\nclass {}_{}(rfm.RunOnlyRegressionTest):\n"
      "    descr = {}\n    valid_systems = [\"*\"]\n    valid_prog_environs = [\"*\"]\n    sourcesdir = "
      "None\n",
      module_identifier(module), subject, quote_python(descr));
}

std::string programs_test(const ModuleImage& module) {
  std::vector<std::string> known;
  for (const ModuleProgram& program : module.programs)
    if (std::find(known.begin(), known.end(), program.command) == known.end())
      known.push_back(program.command);
  std::string programs;
  for (const std::string& command : known) programs += (programs.empty() ? "" : ", ") + quote_python(command);
  return reframe_class(module, "programs", "The image has the program") +
         fmt::format(
             "    program = parameter([{}])\n    executable = wrapper({})\n\n"
             "    @run_before(\"run\")\n    def ask(self):\n"
             "        self.executable_opts = [\"sh\", \"-c\", shlex.quote('command -v \"$0\"'), "
             "shlex.quote(self.program)]\n\n"
             "    @sanity_function\n    def found(self):\n"
             "        return sn.assert_found(re.escape(os.path.basename(self.program)) + \"$\", "
             "self.stdout)\n",
             programs, quote_python(exec_wrapper_name(module)));
}

std::string version_test(const ModuleImage& module) {
  const std::string program = fmt::format("import {0}; print({0}.__version__)", module.python_module);
  return reframe_class(module, "version", "The framework answers with its version") +
         fmt::format(
             "    executable = wrapper(\"python3\")\n"
             "    executable_opts = [\"-c\", shlex.quote({})]\n\n"
             "    @sanity_function\n    def answered(self):\n"
             "        return sn.assert_found(\"^\" + re.escape({}) + r\"(?![0-9])\", self.stdout)\n",
             quote_python(program), quote_python(module.framework_version));
}

bool has_wrapper(const ModuleImage& module, const std::string& name) {
  for (const ModuleProgram& program : module.programs)
    if (program.name == name) return true;
  return false;
}

}  // namespace

std::string reframe_text(const ModuleImage& module) {
  std::string text = reframe_head(module);
  ModuleImage tested = module;
  if (tested.programs.empty()) tested.programs = {{"sh", "sh"}};
  text += programs_test(tested);
  if (!module.python_module.empty() && has_wrapper(module, "python3") && !module.framework_version.empty())
    text += version_test(module);
  return text;
}

}  // namespace kiln
