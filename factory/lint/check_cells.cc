#include "factory/lint/check_cells.h"

#include <fmt/format.h>

#include <algorithm>

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
      std::string python = part.fact("python");
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
    const std::string wanted = part.fact("python");
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

std::string CellPart::fact(const std::string& name) const {
  auto found = version->facts.find(name);
  return found == version->facts.end() ? "" : found->second;
}

std::string CellPart::title() const { return fmt::format("{} {}", component->name, version->version.text()); }

bool Cell::has_nvidia() const {
  const auto& accelerators = spec->target.accelerators;
  return std::any_of(accelerators.begin(), accelerators.end(),
                     [](const std::string& accelerator) { return accelerator.starts_with("nvidia:"); });
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

}  // namespace kiln::lint
