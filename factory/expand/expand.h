// expand: Matrix → Expansion, the cells that are wanted. The first stage. Pure.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "factory/recipe/matrix.h"
#include "factory/recipe/recipe.h"

namespace kiln {

// The requested image: one combination of the axes.
struct ImageRequest {
  std::string id;   // stable: made of the values in a fixed order of the axes, whatever the file's order
  AxisValues axes;  // version ranges replaced by versions
  SourceLocation where;
};

// A combination that is not wanted, and why.
struct ExcludedCell {
  AxisValues axes;
  std::string reason;  // "exclude at matrix/demo.json:12:5", or the constraint's reason
  SourceLocation where;
};

// The cells of a matrix. They are kept as columns of small numbers; a request is made when it is asked for.
// Cells and excluded cells are numbered from 0, in the order of the axes as written, first axis slowest.
class Expansion {
 public:
  ~Expansion();
  Expansion(Expansion&&) noexcept;
  Expansion& operator=(Expansion&&) noexcept;

  const Matrix& matrix() const { return *matrix_; }
  std::size_t size() const { return cells_.size(); }
  ImageRequest request(std::size_t cell) const;
  std::string id(std::size_t cell) const;
  const SourceLocation& where(std::size_t cell) const;
  std::size_t excluded() const;  // how many
  ExcludedCell excluded(std::size_t number) const;
  const std::vector<std::string>& warnings() const {
    return warnings_;
  }  // an exclude that matches nothing, …

 private:
  friend class Expander;
  friend Expansion expand(Matrix matrix, const RecipeBook& recipes);
  struct Group;
  struct Cell {
    std::uint32_t group;
    std::uint32_t row;  // in the group's table
  };
  explicit Expansion(Matrix matrix);

  std::unique_ptr<const Matrix> matrix_;  // the cells refer to its texts instead of copying them
  std::vector<std::unique_ptr<Group>> groups_;
  std::deque<Cell> cells_;
  std::vector<std::string> warnings_;
};

// Order: product of the axes → exclude → include → constraints. Throws Error(input): a component, version,
// method or fact that no recipe has, too many cells, two cells with one id.
Expansion expand(Matrix matrix, const RecipeBook& recipes);

// The id of a cell: the values in a fixed order of the axes, `none` left out, odd characters replaced by `_`.
std::string cell_id(const AxisValues& axes);

}  // namespace kiln
