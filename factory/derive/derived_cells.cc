#include "factory/derive/derived_cells.h"

#include <fmt/format.h>

#include <set>

#include "factory/expand/expand.h"

namespace kiln {
namespace {

constexpr const char* kApplicationAxis = "application";

std::set<std::string> cells_of(const Matrix& matrix, const RecipeBook& recipes) {
  const Expansion expansion = expand(matrix, recipes);
  std::set<std::string> ids;
  for (std::size_t cell = 0; cell < expansion.size(); ++cell) ids.insert(expansion.id(cell));
  return ids;
}

MatrixGroup group_of(const Derivation& derivation, const AxisValues& parent, const SourceLocation& where) {
  MatrixGroup group;
  group.name = derivation.name;
  for (const auto& [axis, value] : derived_axes(parent, derivation.name))
    group.axes.push_back({axis, {value}, where});
  return group;
}

// False where they are missing.
bool add_recipes(RecipeBook& recipes, const Derivation& derivation, const StatePaths& state,
                 const FileSystem& files) {
  const fs::path folder = state.derived_recipes(derivation.recipes.hex());
  if (!files.is_directory(folder)) return false;
  const RecipeBook own = RecipeBook::read(files, {folder});
  for (const auto& [key, recipe] : own.all()) recipes.add(recipe);
  for (const auto& [key, broken] : own.broken()) recipes.add_broken(broken);
  return true;
}

}  // namespace

AxisValues derived_axes(const AxisValues& parent, const std::string& name) {
  AxisValues axes = parent;
  axes[kApplicationAxis] = name;
  return axes;
}

void add_derived_cells(Matrix& matrix, RecipeBook& recipes, const std::vector<Derivation>& derivations,
                       const StatePaths& state, const FileSystem& files,
                       const std::function<void(const std::string&)>& tell) {
  std::vector<const Derivation*> own;
  for (const Derivation& derivation : derivations)
    if (derivation.matrix == matrix.name) own.push_back(&derivation);
  if (own.empty()) return;
  const std::set<std::string> cells = cells_of(matrix, recipes);
  for (const Derivation* derivation : own) {
    const SourceLocation where{state.derived(derivation->name).string(), 0, 0, ""};
    if (!add_recipes(recipes, *derivation, state, files)) {
      tell(fmt::format("{}: warning: the recipes of the application are missing; derive it again",
                       where.text()));
      continue;
    }
    for (const AxisValues& parent : derivation->parents) {
      if (cells.contains(cell_id(parent)))
        matrix.groups.push_back(group_of(*derivation, parent, where));
      else
        tell(fmt::format("{}: warning: the matrix '{}' no longer has the cell {}", where.text(), matrix.name,
                         cell_id(parent)));
    }
  }
}

}  // namespace kiln
