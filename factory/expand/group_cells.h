// The cells of one group: product of the axes → versions → exclude → include. Constraints come after.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "factory/expand/cell_table.h"
#include "factory/expand/expand.h"
#include "factory/recipe/matrix.h"
#include "factory/recipe/recipe.h"

namespace kiln {

// Throws Error(input) at the axis or include for a component, version or method that no recipe has, with the
// nearest.
void check_axis_values(const MatrixGroup& group, const RecipeBook& recipes);

// Throws Error(input) at the constraint that names a fact which no recipe of its kind has, with the nearest.
void check_facts(const std::vector<Constraint>& constraints, const RecipeBook& recipes);

// Why an exclude or a condition matches no cell, as far as it is a misspelling: "no value of library is
// 'opnblas'; did you mean 'openblas'?". "" when no value is to blame.
std::string misspelling_in(const AxisValues& values, const CellTable& table);

// A combination that is not wanted; what it points to belongs to the matrix or to the group's cells.
struct DroppedCell {
  CellTable::Cell cell;
  const std::string* reason;
  const SourceLocation* where;
};

class GroupCells {
 public:
  // REQUIRES: `group` and `recipes` outlive this. Throws Error(input), also when there are more than `limit`
  // cells.
  GroupCells(const MatrixGroup& group, const RecipeBook& recipes, std::uint64_t limit);

  const CellTable& table() const { return table_; }
  std::vector<DroppedCell> take_dropped() { return std::move(dropped_); }
  const std::vector<std::string>& warnings() const { return warnings_; }

 private:
  // A value of an axis; a version range has become one of these for each version.
  struct Candidate {
    CellTable::Id id;
    bool optional = false;  // it comes from a range: frameworks that lack it are passed over silently
  };
  enum class Fit : char { yes, skip, refuse };

  std::vector<Candidate> values_of(const Axis& axis);
  void add_range(const Axis& axis, const std::string& range, std::vector<Candidate>& values);
  std::vector<const Recipe*> frameworks() const;
  void make_product(std::uint64_t limit);
  void keep_or_refuse(CellTable::Cell cell, bool optional, std::uint64_t limit);
  Fit fit_of(const CellTable::Cell& cell, bool optional);
  bool versions_agree(const std::string& framework, const std::string& version,
                      const SourceLocation& where) const;
  void apply_excludes();
  void apply_includes(std::uint64_t limit);
  void extend_or_add(const Partial& include, std::size_t originals, std::uint64_t limit);
  void add_cells(const Partial& include, std::uint64_t limit);
  std::vector<std::vector<char>> compile_include(const Partial& include) const;

  const MatrixGroup* group_;
  const RecipeBook* recipes_;
  CellTable table_;
  std::map<std::pair<CellTable::Id, CellTable::Id>, bool> agreeing_;  // of framework and version
  std::vector<DroppedCell> dropped_;
  std::set<std::string> reasons_;  // those that are not the matrix's own
  std::vector<std::string> warnings_;
};

// The constraints of a matrix, held against the cells of one group after the other.
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
