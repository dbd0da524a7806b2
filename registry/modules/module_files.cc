#include "registry/modules/module_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "factory/base/error.h"
#include "factory/base/text.h"
#include "registry/deploy/command_words.h"

namespace kiln {
namespace {

// How the wrapper that runs any program is called: "pytorch-exec".
std::string exec_wrapper_name(const ModuleImage& module) { return module.name + "-exec"; }

// All wrappers' names, sorted.
std::vector<std::string> wrapper_names(const ModuleImage& module) {
  std::vector<std::string> names = {exec_wrapper_name(module)};
  for (const ModuleProgram& program : module.programs) names.push_back(program.name);
  std::ranges::sort(names);
  return names;
}

// The image as its runtime names it: the path of a SIF, else a reference.
std::string image_source(const ModuleImage& module) {
  return module.image.sif.empty() ? module.image.reference : module.image.sif;
}

// Letters, digits and '_': "pytorch_2_6_0".
std::string module_identifier(const ModuleImage& module) {
  std::string name = module.name + "_" + module.version;
  std::replace_if(
      name.begin(), name.end(), [](char c) { return !is_letter_or_digit(c); }, '_');
  return name;
}

// What help and comments say of the module, a line each.
std::vector<std::string> module_help(const ModuleImage& module) {
  const std::vector<std::string> names = wrapper_names(module);
  std::vector<std::string> lines = {module.title};
  if (!module.description.empty()) lines.push_back(module.description);
  lines.push_back(fmt::format("Image: {}", module.image.name));
  lines.push_back(fmt::format("Programs: {}", fmt::join(names, " ")));
  lines.push_back(fmt::format("{} PROGRAM runs any other program of the image.", exec_wrapper_name(module)));
  return lines;
}

// A modulefile of Lmod, in Lua. Functions: Lmod 8.6, docs/source/050_lua_modulefiles.rst.
std::string lmod_text(const ModuleImage& module) {
  std::string help;
  for (const std::string& line : module_help(module)) help += line + "\n";
  std::string text = fmt::format("-- Made by kiln module, for {}\n", on_one_line(module.image.name));
  text += fmt::format("help({})\n", quote_lua(help));
  text += fmt::format("whatis({})\n", quote_lua("Name: " + module.name));
  text += fmt::format("whatis({})\n", quote_lua("Version: " + module.version));
  text += fmt::format("whatis({})\n", quote_lua("Description: " + module.title));
  if (!module.homepage.empty()) text += fmt::format("whatis({})\n", quote_lua("URL: " + module.homepage));
  text += "local root = myFileName():match(\"^(.*)/lmod/[^/]+/[^/]+$\")\n";
  text += "if root == nil then\n";
  text += "  LmodError(\"this file finds its programs only in the folder that kiln module wrote\")\n";
  text += "end\n";
  text += fmt::format("prepend_path(\"PATH\", root .. {})\n",
                      quote_lua(fmt::format("/bin/{}/{}", module.name, module.version)));
  return text + fmt::format("setenv(\"KILN_MODULE_IMAGE\", {})\n", quote_lua(image_source(module)));
}

// A modulefile of Environment Modules, in Tcl. Commands: modulefile(5) of Modules 5.2; Lmod reads them, too.
std::string tcl_text(const ModuleImage& module) {
  std::string text = "#%Module1.0\n";
  // Tcl ends a comment not at a line's end after a backslash, and counts the braces in it.
  text += "# Made by kiln module.\n";
  text += "proc ModulesHelp { } {\n";
  for (const std::string& line : module_help(module))
    text += fmt::format("    puts stderr {}\n", quote_tcl(line));
  text += "}\n";
  text += fmt::format("module-whatis {}\n", quote_tcl("Name: " + module.name));
  text += fmt::format("module-whatis {}\n", quote_tcl("Version: " + module.version));
  text += fmt::format("module-whatis {}\n", quote_tcl("Description: " + module.title));
  if (!module.homepage.empty())
    text += fmt::format("module-whatis {}\n", quote_tcl("URL: " + module.homepage));
  text += fmt::format("conflict {}\n", quote_tcl(module.name));
  text += "set root [file dirname [file dirname [file dirname $ModulesCurrentModulefile]]]\n";
  text += fmt::format("prepend-path PATH [file join $root bin {} {}]\n", quote_tcl(module.name),
                      quote_tcl(module.version));
  return text + fmt::format("setenv KILN_MODULE_IMAGE {}\n", quote_tcl(image_source(module)));
}

// A script in PATH that runs a program in an image. bash, as the lines of registry/deploy have its arrays.

// `command`: "" for the wrapper that runs its arguments.
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

// A registry entry of singularity-hpc 0.1.32 (shpc/main/schemas.py). An image has a digest in a registry: of
// a local file, `shpc install` removes all other SIFs in the folder of the file
// (shpc/main/container/singularity.py).
std::string without_tag(const std::string& reference) {
  const std::size_t slash = reference.find_last_of('/');
  const std::size_t colon = reference.find(':', slash == reference.npos ? 0 : slash);
  return reference.substr(0, colon);
}

std::string tag_line(const ModuleImage& module) {
  return fmt::format("  {}: {}\n", quote_yaml(module.version), quote_yaml(module.digest));
}

// Of modules of one repository, the first of which is the latest. REQUIRES: each has a digest.
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

// An environment definition file of CSCS' Container Engine, TOML: eth-cscs/cscs-docs@0bb69f37,
// docs/software/container-engine/edf.md. Sarus' successor and pyxis with `--environment` read it.

// "${NAME}" is expanded in every value, "$$" is a dollar.
std::string unexpanded(const std::string& value) {
  std::string text;
  for (const char c : value) text += c == '$' ? "$$" : std::string(1, c);
  return text;
}

// REQUIRES: `pinned` is known.
std::string environment_definition_text(const ModuleImage& module, const ModuleTerms& terms) {
  std::string text = fmt::format("# Made by kiln module, for {}\n", on_one_line(module.image.name));
  text += fmt::format("image = {}\n", quote_toml(unexpanded(enroot_name(module.pinned))));
  if (terms.binds.empty()) return text;
  text += "mounts = [";
  const char* between = "";
  for (const std::string& path : terms.binds) {
    text += between + quote_toml(unexpanded(path + ":" + path));
    between = ", ";
  }
  return text + "]\n";
}

// Tests of ReFrame 4 (reframe/core/pipeline.py): each program is in the image, and the framework answers with
// its version. They run the wrappers, so a system needs no container platform in its configuration.
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
    if (!contains(known, program.command)) known.push_back(program.command);
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

std::string reframe_text(const ModuleImage& module) {
  std::string text = reframe_head(module);
  ModuleImage tested = module;
  if (tested.programs.empty()) tested.programs = {{"sh", "sh"}};
  text += programs_test(tested);
  if (!module.python_module.empty() && has_wrapper(module, "python3") && !module.framework_version.empty())
    text += version_test(module);
  return text;
}

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
  const auto twice = std::ranges::adjacent_find(names);
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

// shpc names an installed module after the repository, with each colon as a slash, and finds the entry of
// that module in the folder of the same name (shpc/main/modules/module.py, shpc/main/registry/filesystem.py).
std::string shpc_name(const ModuleImage& module) {
  std::string name = without_tag(module.pinned);
  std::ranges::replace(name, ':', '/');
  return name;
}

void add_shpc(const std::vector<ModuleImage>& modules, ModuleFiles& made) {
  std::map<std::string, std::vector<const ModuleImage*>> by_name;
  for (const ModuleImage& module : modules) {
    if (module.digest.empty())
      made.notes.push_back(fmt::format(
          "{} has no digest in a registry, by which shpc pulls: no container.yaml", module.image.name));
    else
      by_name[shpc_name(module)].push_back(&module);
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
  std::ranges::sort(made.files, {}, &ModuleFile::path);
  return made;
}

namespace {

// In double quotes: a backslash before each of `special`, and a control character as `number` writes it.
std::string escaped_literal(std::string_view text, std::string_view special,
                            std::string (*number)(unsigned char)) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (is_control(c)) {
      quoted += number(static_cast<unsigned char>(c));
      continue;
    }
    if (contains(special, c)) quoted += '\\';
    quoted += c;
  }
  return quoted + "\"";
}

std::string decimal_escape(unsigned char c) { return fmt::format("\\{:03}", c); }
std::string hex_escape(unsigned char c) { return fmt::format("\\x{:02x}", c); }
std::string unicode_escape(unsigned char c) { return fmt::format("\\u{:04x}", c); }

// Characters that YAML 1.1 takes for line ends or does not print (section 5.1), as UTF-8, and their escapes.
constexpr std::pair<std::string_view, std::string_view> kYamlUnprintable[] = {
    {"\xe2\x80\xa8", "\\u2028"}, {"\xe2\x80\xa9", "\\u2029"}, {"\xef\xbb\xbf", "\\ufeff"},
    {"\xef\xbf\xbe", "\\ufffe"}, {"\xef\xbf\xbf", "\\uffff"},
};

// The escape of the character at `at` and its length in `text`; "" for one that needs none.
std::pair<std::string, std::size_t> yaml_escape(std::string_view text, std::size_t at) {
  if (text[at] == '\xc2' && at + 1 < text.size() && static_cast<unsigned char>(text[at + 1]) < 0xa0)
    return {hex_escape(static_cast<unsigned char>(text[at + 1])), 2};
  for (const auto& [bytes, escape] : kYamlUnprintable)
    if (text.substr(at).starts_with(bytes)) return {std::string(escape), bytes.size()};
  return {"", 1};
}

}  // namespace

std::string quote_lua(std::string_view text) { return escaped_literal(text, "\"\\", decimal_escape); }

std::string quote_tcl(std::string_view text) {
  return escaped_literal(text, "\"\\$[]{}", unicode_escape);  // \x would take all hex digits that follow
}

std::string quote_yaml(std::string_view text) {
  const std::string plain = escaped_literal(text, "\"\\", hex_escape);
  std::string quoted;
  for (std::size_t at = 0; at < plain.size();) {
    const auto [escape, length] = yaml_escape(plain, at);
    quoted += escape.empty() ? std::string(1, plain[at]) : escape;
    at += length;
  }
  return quoted;
}

std::string quote_toml(std::string_view text) { return escaped_literal(text, "\"\\", unicode_escape); }

std::string quote_python(std::string_view text) { return escaped_literal(text, "\"\\", hex_escape); }

}  // namespace kiln
