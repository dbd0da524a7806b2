// The checks of planned cells: what only a combination shows.
#pragma once

#include <map>
#include <string>

#include "factory/cpu/microarchitecture.h"
#include "factory/lint/finding.h"
#include "factory/lint/recipe_source.h"
#include "factory/plan/build_plan.h"
#include "factory/recipe/lockfile.h"

namespace kiln::lint {

struct CellInput {
  const BuildPlan& plan;
  const RecipeBook& recipes;
  const Microarchitectures& cpus;
  const Lockfile* lock = nullptr;  // of the matrix; null without one
};

// KL020, KL021, KL023, KL025, KL030, KL031, KL033, KL035, KL036. A finding that many cells have is reported
// once, with their number.
void check_cells(const CellInput& input, Report& report);

// Findings of cells before they are counted.
class CellReport {
 public:
  void add(std::string_view rule, const SourceLocation& where, const std::string& text,
           const std::string& cell, std::optional<Severity> severity = std::nullopt);
  void write_to(Report& report) const;

 private:
  struct Entry {
    std::string rule;
    SourceLocation where;
    std::string text;
    std::optional<Severity> severity;
    std::size_t cells = 0;
    std::string first;
  };
  std::map<std::string, Entry> entries_;
};

// One component of a cell, found in the recipes.
struct CellPart {
  const Recipe* component;
  const ComponentVersion* version;
  const Method* method;

  std::string title() const;  // "pytorch 2.6.0"
};

// A component's version that a step of a stage lays.
struct Laid {
  const Recipe* component;
  const ComponentVersion* version;
};
std::vector<Laid> laid_in(const Stage& stage, const RecipeBook& recipes);

struct Cell {
  const ImageSpec* spec;
  std::vector<CellPart> parts;
  std::string architecture;  // amd64

  const std::string& id() const { return spec->request.id; }
  bool has_gpu() const { return !spec->target.accelerators.empty(); }
  bool has_nvidia() const;
};

void check_wheels_of(const Cell& cell, CellReport& report);  // KL020, KL021
void check_cuda_of(const Cell& cell, const CellInput& input,
                   CellReport& report);                       // KL021, KL030, KL031, KL033
void check_runtime_of(const Cell& cell, CellReport& report);  // KL035

void check_bazel_of(const Cell& cell, const CellInput& input, CellReport& report);    // KL036
void check_sources_of(const Cell& cell, const CellInput& input, CellReport& report);  // KL025

}  // namespace kiln::lint
