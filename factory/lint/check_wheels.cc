// Wheels for GPUs in cells without one, and the inverse.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "factory/lint/check_cells.h"
#include "factory/lint/pip_call.h"
#include "factory/lint/wheel_kind.h"

namespace kiln::lint {
namespace {

// Packages that one file names, with the index that they are of.
struct Named {
  SourceFile file;
  std::string index;
  std::vector<PipPackage> packages;
};

void check_package(const PipPackage& package, const Named& named, const std::vector<std::string>& beside,
                   const Cell& cell, CellReport& report) {
  const WheelKind* kind = wheel_kind(package, named.index, cell.architecture, beside);
  if (kind == nullptr || kind->gpu == cell.has_gpu()) return;
  report.add(kind->gpu ? "KL020" : "KL021", named.file.at(package.span.begin),
             fmt::format("'{}{}{}' in an image for a {}: {}", package.name,
                         package.version.empty() ? "" : "==", package.version, cell.has_gpu() ? "GPU" : "CPU",
                         kind->why),
             cell.id());
}

SourceFile file_of(const CellPart& part, const std::string& path) {
  const RecipeFile& file = part.component->files.at(path);
  return SourceFile(file.source.string(), file.bytes);
}

// What the script itself names. Where it asks for the target's GPUs, nobody but the shell knows which line
// runs.
void add_script_of(const CellPart& part, std::vector<Named>& all) {
  const std::string& path = part.method->script;
  if (path.empty()) return;
  const SourceFile file = file_of(part, path);
  if (file.text().find("KILN_GPU_TARGETS") != std::string::npos ||
      file.text().find("KILN_CUDA_ARCHS") != std::string::npos)
    return;
  for (const ShellCommand& command : read_shell(file.text()).commands)
    if (auto pip = pip_call(command)) all.push_back({file, pip->words.index, pip->packages});
}

// Files that the scripts of the component get in this cell: those whose "when" holds.
std::set<std::string> files_in(const Cell& cell, const CellPart& part) {
  std::set<std::string> files;
  for (const Stage& stage : cell.spec->stages)
    for (const Step& step : stage.steps)
      if (step.component == path_of(*part.component)) files.insert(step.files.begin(), step.files.end());
  return files;
}

bool has_word(const std::string& name, std::initializer_list<std::string_view> words) {
  return std::any_of(words.begin(), words.end(),
                     [&](std::string_view word) { return name.find(word) != std::string::npos; });
}

}  // namespace

bool is_for_cell(const std::string& file, const CellPart& part, bool gpu) {
  bool gpu_file = has_word(file, {"gpu", "cuda", "cu1", "rocm"});
  bool cpu_file = has_word(file, {"cpu"});
  if ((gpu_file && !gpu) || (cpu_file && gpu)) return false;
  bool names_a_version = false;
  for (const ComponentVersion& version : part.component->versions) {
    if (file.find(version.version.text()) == std::string::npos) continue;
    if (&version == part.version) return true;
    names_a_version = true;
  }
  return !names_a_version;
}

void check_wheels_of(const Cell& cell, CellReport& report) {
  // A component may bring what another lacks: its plugin for GPUs.
  std::vector<Named> all;
  for (const CellPart& part : cell.parts) {
    add_script_of(part, all);
    const std::set<std::string> files = files_in(cell, part);
    for (const std::string& path : part.method->files) {
      if (!path.ends_with(".txt") || !files.contains(path) || !is_for_cell(path, part, cell.has_gpu()))
        continue;
      const SourceFile file = file_of(part, path);
      RequirementsFile read = read_requirements_file(file);
      all.push_back({file, std::move(read.index), std::move(read.packages)});
    }
  }
  std::vector<std::string> beside;
  for (const Named& named : all)
    for (const PipPackage& package : named.packages) beside.push_back(package.name + "==" + package.version);
  for (const Named& named : all)
    for (const PipPackage& package : named.packages) check_package(package, named, beside, cell, report);
}

}  // namespace kiln::lint
