#include "factory/expand/constraints.h"

#include <fmt/format.h>

#include "factory/expand/group_cells.h"

namespace kiln {
namespace {

SourceLocation below(const Constraint& constraint, const char* key) {
  SourceLocation where = constraint.where;
  where.pointer += fmt::format("/{}", key);
  return where;
}

}  // namespace

Constraints::Compiled::Compiled(const Constraint& constraint, const CellTable& table,
                                const RecipeBook& recipes)
    : when(constraint.when, below(constraint, "if"), table, recipes),
      require(constraint.require, below(constraint, "require"), table, recipes, true),
      forbid(constraint.forbid, below(constraint, "forbid"), table, recipes),
      forbids(!constraint.forbid.empty()) {}

void Constraints::compile(const CellTable& table, const RecipeBook& recipes) {
  compiled_.clear();
  for (const Constraint& one : matrix_->constraints) {
    auto& misspelt = misspelt_[compiled_.size()];
    std::string why = misspelling_in(one.when, table);
    // A value that one group has is spelt right.
    if (!misspelt || why.empty()) misspelt = std::move(why);
    compiled_.emplace_back(one, table, recipes);
  }
}

const Constraint* Constraints::refusing(const CellTable::Cell& cell) {
  const Constraint* refused = nullptr;
  for (std::size_t index = compiled_.size(); index-- > 0;) {
    if (!compiled_[index].when.matches(cell)) continue;
    used_[index] = 1;
    if (compiled_[index].refuses(cell)) refused = &matrix_->constraints[index];
  }
  return refused;
}

void Constraints::warn_of_unused(std::vector<std::string>& warnings) const {
  for (std::size_t index = 0; index < used_.size(); ++index) {
    if (used_[index] != 0) continue;
    std::string why = misspelt_[index].value_or("");
    warnings.push_back(fmt::format("{}: the condition of this constraint matches no cell{}{}",
                                   matrix_->constraints[index].where.text(), why.empty() ? "" : ": ", why));
  }
}

}  // namespace kiln
