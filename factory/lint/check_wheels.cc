// Wheels for GPUs in cells without one, and the inverse.
#include <fmt/format.h>

#include <algorithm>

#include "factory/lint/check_cells.h"
#include "factory/lint/pip_call.h"
#include "factory/lint/wheel_kind.h"

namespace kiln::lint {
namespace {

void check_package(const PipPackage& package, const std::string& index, const SourceFile& file,
                   const Cell& cell, CellReport& report) {
  const WheelKind* kind = wheel_kind(package, index, cell.architecture);
  if (kind == nullptr || kind->gpu == cell.has_gpu()) return;
  report.add(kind->gpu ? "KL020" : "KL021", file.at(package.span.begin),
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
void check_script_of(const CellPart& part, const Cell& cell, CellReport& report) {
  const std::string& path = part.method->script;
  if (path.empty()) return;
  const SourceFile file = file_of(part, path);
  if (file.text().find("KILN_GPU_TARGETS") != std::string::npos ||
      file.text().find("KILN_CUDA_ARCHS") != std::string::npos)
    return;
  for (const ShellCommand& command : read_shell(file.text()).commands)
    if (auto pip = pip_call(command))
      for (const PipPackage& package : pip->packages)
        check_package(package, pip->words.index, file, cell, report);
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
  for (const CellPart& part : cell.parts) {
    check_script_of(part, cell, report);
    for (const std::string& path : part.method->files) {
      if (!path.ends_with(".txt") || !is_for_cell(path, part, cell.has_gpu())) continue;
      const SourceFile file = file_of(part, path);
      const RequirementsFile all = read_requirements_file(file);
      for (const PipPackage& package : all.packages) check_package(package, all.index, file, cell, report);
    }
  }
}

}  // namespace kiln::lint
