#include "factory/lint/check_cells.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "factory/base/json.h"
#include "factory/base/text.h"
#include "factory/lint/release_facts.h"
#include "factory/lint/unit.h"
#include "factory/recipe/component_value.h"
#include "factory/recipe/parameters.h"

namespace kiln::lint {
namespace {

Cell cell_of(const ImageSpec& spec, const CellInput& input) {
  Cell cell{&spec, {}, spec.target.platform_architecture(input.cpus)};
  for (const ComponentUse& use : spec.components) {
    const Recipe* recipe = input.recipes.find(use.kind, use.name);
    if (recipe == nullptr) continue;
    const ComponentVersion* version = recipe->find_version(use.version);
    const Method* method = recipe->find_method(use.method);
    if (version != nullptr && method != nullptr) cell.parts.push_back({recipe, version, method});
  }
  return cell;
}

bool is_python_version(const std::string& text) {
  return !text.empty() && text.find_first_not_of("0123456789.") == std::string::npos;
}

// The Python that scripts of the image meet: the toolchain's, else the base's.
std::string python_of(const Cell& cell, std::string& owner) {
  for (Kind kind : {Kind::toolchain, Kind::base}) {
    for (const CellPart& part : cell.parts) {
      std::string python = part.version->fact("python");
      if (part.component->kind != kind || !is_python_version(python)) continue;
      owner = part.title();
      return python;
    }
  }
  return "";
}

void check_python_of(const Cell& cell, CellReport& report) {
  std::string owner;
  const std::string python = python_of(cell, owner);
  if (python.empty()) return;
  for (const CellPart& part : cell.parts) {
    const std::string wanted = part.version->fact("python");
    if (wanted.empty() || part.component->kind == Kind::base || part.component->kind == Kind::toolchain)
      continue;
    if (fact_admits(wanted, python)) continue;
    report.add("KL023", part.version->where,
               fmt::format("{} is for Python {}, and {} brings {}", part.title(), wanted, owner, python),
               cell.id());
  }
}

}  // namespace

std::vector<Laid> laid_in(const Stage& stage, const RecipeBook& recipes) {
  std::vector<Laid> laid;
  for (const Step& step : stage.steps) {
    std::size_t slash = step.component.find('/');
    auto kind = kind_from(step.component.substr(0, slash));
    if (slash == std::string::npos || !kind) continue;
    const Recipe* recipe = recipes.find(*kind, step.component.substr(slash + 1));
    if (recipe == nullptr) continue;
    if (const ComponentVersion* version = recipe->find_version(Version(step.version)))
      laid.push_back({recipe, version});
  }
  return laid;
}

void CellReport::add(std::string_view rule, const SourceLocation& where, const std::string& text,
                     const std::string& cell, std::optional<Severity> severity) {
  Entry& entry = entries_[fmt::format("{}\n{}:{}:{}\n{}", rule, where.file, where.line, where.column, text)];
  if (entry.cells++ > 0) return;
  entry.rule = std::string(rule);
  entry.where = where;
  entry.text = text;
  entry.severity = severity;
  entry.first = cell;
}

void CellReport::write_to(Report& report) const {
  for (const auto& [key, entry] : entries_) {
    std::string cells = entry.cells == 1 ? "cell " + entry.first
                                         : fmt::format("{} cells, first {}", entry.cells, entry.first);
    Finding& finding = report.add(entry.rule, entry.where, fmt::format("{} ({})", entry.text, cells));
    if (entry.severity) finding.severity = *entry.severity;
  }
}

std::string CellPart::title() const { return fmt::format("{} {}", component->name, version->version.text()); }

bool Cell::has_nvidia() const {
  return std::ranges::any_of(spec->target.accelerators, [](const std::string& accelerator) {
    return accelerator.starts_with("nvidia:");
  });
}

void check_cells(const CellInput& input, Report& report) {
  CellReport cells;
  for (std::size_t number = 0; number < input.plan.size(); ++number) {
    const ImageSpec spec = input.plan.image(number).spec();
    const Cell cell = cell_of(spec, input);
    check_python_of(cell, cells);
    check_wheels_of(cell, cells);
    check_cuda_of(cell, input, cells);
    check_runtime_of(cell, cells);
    check_bazel_of(cell, input, cells);
    check_sources_of(cell, input, cells);
  }
  cells.write_to(report);
}

// Wheels for GPUs in cells without one, and the inverse.

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
  if (contains(file.text(), "KILN_GPU_TARGETS") || contains(file.text(), "KILN_CUDA_ARCHS")) return;
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
  return std::ranges::any_of(words, [&](std::string_view word) { return contains(name, word); });
}

}  // namespace

// True when a requirements file of this method is for such a cell, by its name: versions, cpu, gpu, cuda.
static bool is_for_cell(const std::string& file, const CellPart& part, bool gpu) {
  bool gpu_file = has_word(file, {"gpu", "cuda", "cu1", "rocm"});
  bool cpu_file = has_word(file, {"cpu"});
  if ((gpu_file && !gpu) || (cpu_file && gpu)) return false;
  bool names_a_version = false;
  for (const ComponentVersion& version : part.component->versions) {
    if (!contains(file, version.version.text())) continue;
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

// Graph compilers and what they need when a program runs: the table of data/runtime.json.

namespace {

struct RuntimeNeed {
  std::string what;
  std::vector<std::string> packages;
  std::vector<std::string> components;
  std::vector<std::string> bases;
};

struct RuntimeNeeds {
  std::vector<std::string> names;
  std::string accelerator;  // "" = always
  std::vector<RuntimeNeed> needs;
};

std::vector<RuntimeNeeds> read_needs() {
  const JsonDocument document = lint_data("runtime.json");
  std::vector<RuntimeNeeds> all;
  for (const JsonNode& node : document.root().at("compilers").items()) {
    auto accelerator = node.find("accelerator");
    RuntimeNeeds one{node.at("names").strings(), accelerator ? accelerator->string() : "", {}};
    for (const JsonNode& need : node.at("needs").items())
      one.needs.push_back({need.at("what").string(), need.at("packages").strings(),
                           need.at("components").strings(), need.at("bases").strings()});
    all.push_back(std::move(one));
  }
  return all;
}

// Every word of the scripts that stay in the image, and every package of their requirements files.
std::set<std::string> installed_words(const Cell& cell) {
  std::set<std::string> words;
  for (const CellPart& part : cell.parts) {
    if (!part.method->script.empty()) {
      const std::string& text = part.component->files.at(part.method->script).bytes;
      for (const ShellCommand& command : read_shell(text).commands)
        for (const ShellToken& word : command.words) words.insert(word.text.substr(0, word.text.find('=')));
    }
    for (const std::string& path : part.method->files) {
      if (!path.ends_with(".txt") || !is_for_cell(path, part, cell.has_gpu())) continue;
      for (const PipPackage& package :
           read_requirements_file(SourceFile(path, part.component->files.at(path).bytes)).packages)
        words.insert(package.extras.empty() ? package.name
                                            : fmt::format("{}[{}]", package.name, package.extras));
    }
    for (const auto& [name, value] : part.version->facts)  // packages that a script takes from a fact
      for (std::string_view word : split(value, ' ')) words.emplace(word.substr(0, word.find('=')));
  }
  return words;
}

bool any_match(const std::vector<std::string>& patterns, const std::set<std::string>& words) {
  return std::ranges::any_of(patterns, [&](const std::string& pattern) {
    return std::ranges::any_of(words, [&](const std::string& word) { return glob_matches(pattern, word); });
  });
}

bool is_met(const RuntimeNeed& need, const Cell& cell, const std::set<std::string>& words) {
  if (any_match(need.packages, words)) return true;
  for (const CellPart& part : cell.parts) {
    if (any_match(need.components, {path_of(*part.component)})) return true;
    if (part.component->kind != Kind::base) continue;
    if (any_match(need.bases, {fmt::format("{}:{} {}", part.component->name, part.version->version.text(),
                                           part.method->image)}))
      return true;
  }
  return false;
}

}  // namespace

void check_runtime_of(const Cell& cell, CellReport& report) {
  static const std::vector<RuntimeNeeds> kNeeds = read_needs();
  std::set<std::string> words;
  for (const CellPart& part : cell.parts) {
    if (part.component->kind != Kind::compiler) continue;
    for (const RuntimeNeeds& needs : kNeeds) {
      if (!any_match(needs.names, {part.component->name}) ||
          (needs.accelerator == "nvidia" && !cell.has_nvidia()))
        continue;
      if (words.empty()) words = installed_words(cell);
      for (const RuntimeNeed& need : needs.needs)
        if (!is_met(need, cell, words))
          report.add("KL035", part.method->where,
                     fmt::format("{} ({}) needs {} when a program runs, and nothing in the image brings it",
                                 part.title(), part.method->name, need.what),
                     cell.id());
    }
  }
}

// Commits that a matrix builds, and what its lockfile knows of them.

namespace {

constexpr std::string_view kCommit = "git:";

bool is_looked_for(const Lockfile& lock, const CellPart& part) {
  const ComponentVersion& version = *part.version;
  auto entry = lock.entries.find(
      lock_id(part.component->kind, part.component->name, version.version.text(), part.method->name));
  return entry != lock.entries.end() && !entry->second.source_ref.empty() &&
         entry->second.source_url == version.source_url &&
         entry->second.source_checksum == version.source_checksum;
}

}  // namespace

void check_sources_of(const Cell& cell, const CellInput& input, CellReport& report) {
  if (input.lock == nullptr) return;
  for (const CellPart& part : cell.parts) {
    const std::string& checksum = part.version->source_checksum;
    if (!checksum.starts_with(kCommit) || !reads_source(*part.method) || is_looked_for(*input.lock, part))
      continue;
    const std::string commit = checksum.substr(kCommit.size(), 12);
    report.add("KL025", part.version->where,
               fmt::format("kiln has not checked whether a branch or tag of {} has {}",
                           part.version->source_url, commit),
               cell.id(), Severity::warning);
  }
}

}  // namespace kiln::lint
