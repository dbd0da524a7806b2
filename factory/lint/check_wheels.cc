// Wheels for GPUs in cells without one, and the inverse: the table of data/wheels.json.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/glob.h"
#include "base/json.h"
#include "lint/check_cells.h"
#include "lint/pip_call.h"

namespace kiln {
std::map<std::string_view, std::string_view> embedded_lint_data();

namespace lint {
namespace {

struct WheelKind {
  std::string name;
  std::string version = "*";
  std::string extra = "*";
  std::string unless_index;
  std::string architecture;
  bool gpu = false;
  std::string why;
};

std::vector<WheelKind> read_kinds() {
  const auto data = embedded_lint_data();
  const JsonDocument document = JsonDocument::parse(data.at("wheels.json"), "wheels.json");
  std::vector<WheelKind> kinds;
  for (const JsonNode& node : document.root().at("packages").items()) {
    WheelKind kind;
    auto take = [&](const char* key, std::string& field) {
      if (auto value = node.find(key)) field = value->string();
    };
    take("name", kind.name);
    take("version", kind.version);
    take("extra", kind.extra);
    take("unless_index", kind.unless_index);
    take("architecture", kind.architecture);
    take("why", kind.why);
    kind.gpu = node.at("for").string() == "gpu";
    kinds.push_back(std::move(kind));
  }
  return kinds;
}

const WheelKind* kind_of(const PipPackage& package, const std::string& index,
                         const std::string& architecture) {
  static const std::vector<WheelKind> kKinds = read_kinds();
  for (const WheelKind& kind : kKinds) {
    bool fits =
        glob_matches(kind.name, package.name) && glob_matches(kind.version, package.version) &&
        glob_matches(kind.extra, package.extras) &&
        (kind.architecture.empty() || kind.architecture == architecture) &&
        (kind.unless_index.empty() || (index + package.url).find(kind.unless_index) == std::string::npos);
    if (fits) return &kind;
  }
  return nullptr;
}

void check_package(const PipPackage& package, const std::string& index, const SourceFile& file,
                   const Cell& cell, CellReport& report) {
  const WheelKind* kind = kind_of(package, index, cell.architecture);
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

}  // namespace lint
}  // namespace kiln
