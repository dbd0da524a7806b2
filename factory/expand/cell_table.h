// The cells of one group while they are expanded: columns of small integers, so that matching a cell is a
// table lookup.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "factory/recipe/matrix.h"
#include "factory/recipe/recipe.h"

namespace kiln {

class CellTable {
 public:
  using Id = std::uint32_t;         // of a value within its column
  static constexpr Id kAbsent = 0;  // the cell does not have this axis
  static constexpr std::size_t kNoColumn = SIZE_MAX;

  struct Cell {
    std::vector<Id> values;                 // by column; may be shorter than the columns: the rest is absent
    const SourceLocation* where = nullptr;  // in the matrix, which outlives the table
    Id at(std::size_t column) const { return column < values.size() ? values[column] : kAbsent; }
    void set(std::size_t column, Id id) {
      if (values.size() <= column) values.resize(column + 1, kAbsent);
      values[column] = id;
    }
  };

  std::size_t add_column(const std::string& axis);       // the same one when it is there already
  std::size_t find_column(std::string_view axis) const;  // kNoColumn when absent
  std::size_t columns() const { return columns_.size(); }
  const std::string& axis(std::size_t column) const { return columns_[column].axis; }
  Id intern(std::size_t column, const std::string& value);
  std::size_t count(std::size_t column) const;               // ids are 0 … count-1; 1 for kNoColumn
  const std::string& text(std::size_t column, Id id) const;  // "" for kAbsent
  AxisValues axes(const Cell& cell) const;

  std::vector<Cell> cells;

 private:
  struct Column {
    std::string axis;
    std::vector<std::string> values = {""};
    std::unordered_map<std::string, Id> ids;
  };
  std::vector<Column> columns_;
};

// A partial cell compiled against a table. REQUIRES: the table gets no new values while this is used.
// Keys are axes (globs; on component axes also by name alone and by one part of `a+b`), `version` (a range)
// and facts such as `framework.python` (a range, or a glob when it is no version). An axis that a cell lacks
// counts as `none`.
class CellPattern {
 public:
  // `if_unknown`: whether an unknown version or fact matches, because the recipe is broken.
  CellPattern(const AxisValues& values, const SourceLocation& where, const CellTable& table,
              const RecipeBook& recipes, bool if_unknown = false);
  bool matches(const CellTable::Cell& cell) const;

 private:
  struct Clause {
    std::size_t column = CellTable::kNoColumn;
    std::size_t second = CellTable::kNoColumn;  // `version`, where the answer depends on it too
    std::size_t second_count = 1;
    std::vector<char> answers;  // by id × second_count + second id
  };
  static Clause compile(const std::string& key, const std::string& pattern, const SourceLocation& where,
                        const CellTable& table, const RecipeBook& recipes, bool if_unknown);
  std::vector<Clause> clauses_;
};

// The components of one axis in a cell: for `framework` in the version of the `version` axis, else as written
// or the newest. Values that do not resolve are left out (they are reported elsewhere).
struct NamedVersion {
  const Recipe* component;
  const ComponentVersion* version;
};
std::vector<NamedVersion> components_of(Kind kind, const std::string& value, const std::string& version,
                                        const RecipeBook& recipes);

}  // namespace kiln
