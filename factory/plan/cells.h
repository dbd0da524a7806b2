// The cells of a matrix, in little space: what expand() returns whole is here made on demand.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "plan/expand.h"
#include "plan/group_cells.h"
#include "plan/hash_index.h"

namespace kiln {

class Cells {
 public:
  // Expands. Throws Error(input) as expand() does. REQUIRES: both outlive this.
  Cells(const Matrix& matrix, const RecipeBook& recipes);

  std::size_t size() const { return requests_.size(); }
  ImageRequest request(std::size_t index) const;
  std::size_t excluded() const { return excluded_.size(); }
  ExcludedCell excluded(std::size_t index) const;
  const std::vector<std::string>& warnings() const { return warnings_; }

 private:
  // The cells of one group, and how their ids are written.
  struct Group {
    Group(const MatrixGroup& group, const RecipeBook& recipes);
    void write_id(const CellTable::Cell& cell, std::string& id) const;

    GroupCells cells;
    std::vector<std::size_t> columns;             // in the order of the id
    std::vector<std::vector<std::string>> parts;  // by column and value: what the id has of it
  };
  struct Request {
    std::uint32_t group;
    std::uint32_t cell;
    std::uint64_t id_hash;
  };
  struct Excluded {
    std::uint32_t group;
    DroppedCell cell;
  };
  class Constraints;

  void add(const MatrixGroup& group, Constraints& constraints);
  void add_request(std::uint32_t group, std::uint32_t cell);
  void drop_what_came_back();
  std::uint32_t find(const std::string& id, std::uint64_t hash) const;
  const CellTable::Cell& cell_of(const Request& request) const;
  AxisValues axes_of(const Request& request) const;

  const RecipeBook* recipes_;
  std::deque<Group> groups_;
  std::deque<Request> requests_;
  HashIndex by_id_;
  std::deque<Excluded> excluded_;
  std::vector<std::string> warnings_;
};

}  // namespace kiln
