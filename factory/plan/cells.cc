// Everything that depends on a value and not on a cell is done once a value, so that the work for a cell is a
// few table lookups.
#include "plan/cells.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <functional>
#include <optional>

namespace kiln {
namespace {

constexpr std::array<std::string_view, 11> kIdOrder = {"framework", "version",     "method",   "library",
                                                       "compiler",  "distributed", "workload", "toolchain",
                                                       "optimise",  "target",      "base"};

// What the id has of a value; "" when it is left out.
std::string id_part(std::string_view value) {
  if (value == "none") return "";
  std::string part(value);
  for (char& c : part) {
    bool plain =
        std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.' || c == '+' || c == '-';
    if (!plain) c = '_';
  }
  return part;
}

void append_part(std::string& id, std::string_view part) {
  if (part.empty()) return;
  if (!id.empty()) id += '-';
  id += part;
}

// The order of the axes in ids: first those above, then the others by name.
bool before_in_id(std::string_view a, std::string_view b) {
  auto rank = [](std::string_view axis) { return std::find(kIdOrder.begin(), kIdOrder.end(), axis); };
  return rank(a) == rank(b) ? a < b : rank(a) < rank(b);
}

std::string describe(const AxisValues& axes) {
  std::string text;
  for (const auto& [axis, value] : axes)
    text += fmt::format("{}{}={}", text.empty() ? "" : ", ", axis, value);
  return text;
}

// Cells are the same when they choose the same; `none` and silence are one choice.
bool same_choice(AxisValues a, AxisValues b) {
  auto is_none = [](const auto& axis) { return axis.second == "none"; };
  std::erase_if(a, is_none);
  std::erase_if(b, is_none);
  return a == b;
}

std::uint64_t hash_of(std::string_view text) { return std::hash<std::string_view>()(text); }

}  // namespace

std::string cell_id(const AxisValues& axes) {
  std::vector<const AxisValues::value_type*> ordered;
  for (const auto& axis : axes) ordered.push_back(&axis);
  std::sort(ordered.begin(), ordered.end(),
            [](const auto* a, const auto* b) { return before_in_id(a->first, b->first); });
  std::string id;
  for (const auto* axis : ordered) append_part(id, id_part(axis->second));
  return id.empty() ? "none" : id;
}

// The constraints of the matrix, compiled against one group's table after the other.
class Cells::Constraints {
 public:
  explicit Constraints(const Matrix& matrix)
      : matrix_(&matrix), used_(matrix.constraints.size(), 0), misspelt_(matrix.constraints.size()) {}

  void compile(const CellTable& table, const RecipeBook& recipes) {
    compiled_.clear();
    for (const Constraint& one : matrix_->constraints) {
      auto& misspelt = misspelt_[compiled_.size()];
      std::string why = misspelling_in(one.when, table);
      // A value that one group has is spelt right.
      if (!misspelt || why.empty()) misspelt = std::move(why);
      compiled_.emplace_back(one, table, recipes);
    }
  }

  // The first one that refuses the cell, null when none does.
  const Constraint* refusing(const CellTable::Cell& cell) {
    const Constraint* refused = nullptr;
    for (std::size_t index = compiled_.size(); index-- > 0;) {
      if (!compiled_[index].when.matches(cell)) continue;
      used_[index] = 1;
      if (compiled_[index].refuses(cell)) refused = &matrix_->constraints[index];
    }
    return refused;
  }

  void warn_of_unused(std::vector<std::string>& warnings) const {
    for (std::size_t index = 0; index < used_.size(); ++index) {
      if (used_[index] != 0) continue;
      std::string why = misspelt_[index].value_or("");
      warnings.push_back(fmt::format("{}: the condition of this constraint matches no cell{}{}",
                                     matrix_->constraints[index].where.text(), why.empty() ? "" : ": ", why));
    }
  }

 private:
  struct Compiled {
    Compiled(const Constraint& constraint, const CellTable& table, const RecipeBook& recipes)
        : when(constraint.when, below(constraint, "if"), table, recipes),
          require(constraint.require, below(constraint, "require"), table, recipes),
          forbid(constraint.forbid, below(constraint, "forbid"), table, recipes),
          forbids(!constraint.forbid.empty()) {}
    static SourceLocation below(const Constraint& constraint, const char* key) {
      SourceLocation where = constraint.where;
      where.pointer += fmt::format("/{}", key);
      return where;
    }
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

Cells::Group::Group(const MatrixGroup& group, const RecipeBook& recipes) : cells(group, recipes, kMaxCells) {
  const CellTable& table = cells.table();
  for (std::size_t column = 0; column < table.columns(); ++column) {
    columns.push_back(column);
    std::vector<std::string>& of_column = parts.emplace_back();
    for (std::size_t id = 0; id < table.count(column); ++id)
      of_column.push_back(id_part(table.text(column, static_cast<CellTable::Id>(id))));
  }
  std::sort(columns.begin(), columns.end(),
            [&](std::size_t a, std::size_t b) { return before_in_id(table.axis(a), table.axis(b)); });
}

void Cells::Group::write_id(const CellTable::Cell& cell, std::string& id) const {
  id.clear();
  for (std::size_t column : columns) append_part(id, parts[column][cell.at(column)]);
  if (id.empty()) id = "none";
}

Cells::Cells(const Matrix& matrix, const RecipeBook& recipes) : recipes_(&recipes) {
  check_facts(matrix.constraints, recipes);
  Constraints constraints(matrix);
  for (const MatrixGroup& group : matrix.groups) add(group, constraints);
  constraints.warn_of_unused(warnings_);
  drop_what_came_back();
}

void Cells::add(const MatrixGroup& group, Constraints& constraints) {
  auto number = static_cast<std::uint32_t>(groups_.size());
  GroupCells& cells = groups_.emplace_back(group, *recipes_).cells;
  for (const DroppedCell& cell : cells.dropped()) excluded_.push_back({number, cell});
  cells.forget_dropped();
  warnings_.insert(warnings_.end(), cells.warnings().begin(), cells.warnings().end());
  constraints.compile(cells.table(), *recipes_);
  const auto& all = cells.table().cells;
  for (std::uint32_t index = 0; index < all.size(); ++index) {
    if (const Constraint* refused = constraints.refusing(all[index]))
      excluded_.push_back({number, {all[index], &refused->reason, &refused->where}});
    else
      add_request(number, index);
  }
}

const CellTable::Cell& Cells::cell_of(const Request& request) const {
  return groups_[request.group].cells.table().cells[request.cell];
}

AxisValues Cells::axes_of(const Request& request) const {
  return groups_[request.group].cells.table().axes(cell_of(request));
}

std::uint32_t Cells::find(const std::string& id, std::uint64_t hash) const {
  std::string other_id;
  return by_id_.find(hash, [&](HashIndex::Number other) {
    const Request& request = requests_[other];
    if (request.id_hash != hash) return false;
    groups_[request.group].write_id(cell_of(request), other_id);
    return other_id == id;
  });
}

void Cells::add_request(std::uint32_t group, std::uint32_t cell) {
  std::string id;
  Request added{group, cell, 0};
  groups_[group].write_id(cell_of(added), id);
  added.id_hash = hash_of(id);
  std::uint32_t known = find(id, added.id_hash);
  const SourceLocation& where = *cell_of(added).where;
  if (known == HashIndex::kNone) {
    if (requests_.size() >= kMaxCells)
      throw Error(ExitCode::input, where, fmt::format("the matrix has more than {} cells", kMaxCells));
    by_id_.insert(added.id_hash, static_cast<HashIndex::Number>(requests_.size()),
                  [this](HashIndex::Number other) { return requests_[other].id_hash; });
    requests_.push_back(added);
    return;
  }
  const Request& other = requests_[known];
  AxisValues axes = axes_of(added);
  AxisValues other_axes = axes_of(other);
  if (same_choice(other_axes, axes)) return;  // written twice, or in two groups: one image
  throw Error(ExitCode::input, where,
              fmt::format("two cells have the id '{}': {} ({}) and {} ({})", id, describe(other_axes),
                          cell_of(other).where->text(), describe(axes), where.text()),
              "give one of the values another name");
}

// What an include or another group brought back is not excluded.
void Cells::drop_what_came_back() {
  std::string id;
  std::erase_if(excluded_, [&](const Excluded& excluded) {
    const Group& group = groups_[excluded.group];
    group.write_id(excluded.cell.cell, id);
    std::uint32_t found = find(id, hash_of(id));
    return found != HashIndex::kNone &&
           same_choice(axes_of(requests_[found]), group.cells.table().axes(excluded.cell.cell));
  });
}

ImageRequest Cells::request(std::size_t index) const {
  const Request& request = requests_[index];
  const CellTable::Cell& cell = cell_of(request);
  ImageRequest whole{{}, axes_of(request), *cell.where};
  groups_[request.group].write_id(cell, whole.id);
  return whole;
}

ExcludedCell Cells::excluded(std::size_t index) const {
  const auto& [group, dropped] = excluded_[index];
  return {groups_[group].cells.table().axes(dropped.cell), *dropped.reason, *dropped.where};
}

}  // namespace kiln
