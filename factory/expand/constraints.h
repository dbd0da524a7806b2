// The constraints of a matrix, held against the cells of one group after the other.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "factory/expand/cell_table.h"
#include "factory/recipe/matrix.h"

namespace kiln {

class Constraints {
 public:
  // REQUIRES: `matrix` outlives this.
  explicit Constraints(const Matrix& matrix)
      : matrix_(&matrix), used_(matrix.constraints.size(), 0), misspelt_(matrix.constraints.size()) {}

  // From here on cells are those of this table.
  void compile(const CellTable& table, const RecipeBook& recipes);
  // The first one that refuses the cell, null when none does.
  const Constraint* refusing(const CellTable::Cell& cell);
  // One line for each condition that no cell of any group met.
  void warn_of_unused(std::vector<std::string>& warnings) const;

 private:
  struct Compiled {
    Compiled(const Constraint& constraint, const CellTable& table, const RecipeBook& recipes);
    bool refuses(const CellTable::Cell& cell) const {
      return forbids ? forbid.matches(cell) : !require.matches(cell);
    }
    CellPattern when;
    CellPattern require;
    CellPattern forbid;
    bool forbids;
  };

  const Matrix* matrix_;
  std::vector<char> used_;
  // misspelling_in() the condition, in the first group; "" once a group has none.
  std::vector<std::optional<std::string>> misspelt_;
  std::vector<Compiled> compiled_;
};

}  // namespace kiln
