// GitHub Actions' matrix, with constraints. Everything that depends on a value and not on a cell is done once
// a value, so that the work for a cell is a few table lookups.
#include "factory/expand/expand.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>

#include "factory/base/hash_index.h"
#include "factory/base/text.h"
#include "factory/expand/group_cells.h"

namespace kiln {
namespace {

constexpr std::array<std::string_view, 13> kIdOrder = {
    "application", "framework", "version",   "method",   "library", "compiler", "distributed",
    "runtime",     "workload",  "toolchain", "optimise", "target",  "base"};

// What the id has of a value; "" when it is left out.
std::string id_part(std::string_view value) {
  if (value == "none") return "";
  std::string part(value);
  for (char& c : part) {
    bool plain = is_letter_or_digit(c) || c == '_' || c == '.' || c == '+' || c == '-';
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
  auto rank = [](std::string_view axis) { return std::ranges::find(kIdOrder, axis); };
  return rank(a) == rank(b) ? a < b : rank(a) < rank(b);
}

std::string describe(const AxisValues& axes) {
  std::string text;
  for (const auto& [axis, value] : axes)
    text += fmt::format("{}{}={}", text.empty() ? "" : ", ", axis, value);
  return text;
}

// `none` and silence are the same.
bool are_same(AxisValues a, AxisValues b) {
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
  std::ranges::sort(ordered, [](const auto* a, const auto* b) { return before_in_id(a->first, b->first); });
  std::string id;
  for (const auto* axis : ordered) append_part(id, id_part(axis->second));
  return id.empty() ? "none" : id;
}

// The cells of one group, and how their ids are written.
struct Expansion::Group {
  Group(const MatrixGroup& group, const RecipeBook& recipes);
  void write_id(const CellTable::Cell& cell, std::string& id) const;
  const CellTable& table() const { return cells.table(); }

  GroupCells cells;
  std::vector<DroppedCell> excluded;
  std::vector<std::size_t> columns;             // in the order of the id
  std::vector<std::vector<std::string>> parts;  // by column and value: what the id has of it
};

Expansion::Group::Group(const MatrixGroup& group, const RecipeBook& recipes)
    : cells(group, recipes, kMaxCells), excluded(cells.take_dropped()) {
  for (std::size_t column = 0; column < table().columns(); ++column) {
    columns.push_back(column);
    std::vector<std::string>& of_column = parts.emplace_back();
    for (std::size_t id = 0; id < table().count(column); ++id)
      of_column.push_back(id_part(table().text(column, static_cast<CellTable::Id>(id))));
  }
  std::ranges::sort(
      columns, [&](std::size_t a, std::size_t b) { return before_in_id(table().axis(a), table().axis(b)); });
}

void Expansion::Group::write_id(const CellTable::Cell& cell, std::string& id) const {
  id.clear();
  for (std::size_t column : columns) append_part(id, parts[column][cell.at(column)]);
  if (id.empty()) id = "none";
}

Expansion::Expansion(Matrix matrix) : matrix_(std::make_unique<const Matrix>(std::move(matrix))) {}
Expansion::~Expansion() = default;
Expansion::Expansion(Expansion&&) noexcept = default;
Expansion& Expansion::operator=(Expansion&&) noexcept = default;

std::string Expansion::id(std::size_t cell) const {
  const auto [group, row] = cells_[cell];
  std::string id;
  groups_[group]->write_id(groups_[group]->table().cells[row], id);
  return id;
}

const SourceLocation& Expansion::where(std::size_t cell) const {
  return *groups_[cells_[cell].group]->table().cells[cells_[cell].row].where;
}

ImageRequest Expansion::request(std::size_t cell) const {
  const auto [group, row] = cells_[cell];
  const CellTable& table = groups_[group]->table();
  return {id(cell), table.axes(table.cells[row]), where(cell)};
}

std::size_t Expansion::excluded() const {
  std::size_t count = 0;
  for (const auto& group : groups_) count += group->excluded.size();
  return count;
}

ExcludedCell Expansion::excluded(std::size_t number) const {
  auto group = groups_.begin();
  for (; number >= (*group)->excluded.size(); ++group) number -= (*group)->excluded.size();
  const DroppedCell& dropped = (*group)->excluded[number];
  return {(*group)->table().axes(dropped.cell), *dropped.reason, *dropped.where};
}

// Fills an Expansion. What it takes to tell cells apart is not kept.
class Expander {
 public:
  Expander(Expansion& expansion, const RecipeBook& recipes)
      : out_(&expansion), recipes_(&recipes), constraints_(expansion.matrix()) {}

  void run() {
    check_facts(out_->matrix().constraints, *recipes_);
    for (const MatrixGroup& group : out_->matrix().groups) add(group);
    constraints_.warn_of_unused(out_->warnings_);
    drop_what_came_back();
  }

 private:
  void add(const MatrixGroup& written) {
    auto number = static_cast<std::uint32_t>(out_->groups_.size());
    Expansion::Group& group =
        *out_->groups_.emplace_back(std::make_unique<Expansion::Group>(written, *recipes_));
    const auto& warnings = group.cells.warnings();
    out_->warnings_.insert(out_->warnings_.end(), warnings.begin(), warnings.end());
    constraints_.compile(group.table(), *recipes_);
    const auto& rows = group.table().cells;
    for (std::uint32_t row = 0; row < rows.size(); ++row) {
      if (const Constraint* refused = constraints_.refusing(rows[row]))
        group.excluded.push_back({rows[row], &refused->reason, &refused->where});
      else
        add_cell({number, row});
    }
  }

  AxisValues axes_of(const Expansion::Cell& cell) const {
    const CellTable& table = out_->groups_[cell.group]->table();
    return table.axes(table.cells[cell.row]);
  }

  HashIndex::Number find(const std::string& id, std::uint64_t hash) const {
    return by_id_.find(hash,
                       [&](HashIndex::Number cell) { return hashes_[cell] == hash && out_->id(cell) == id; });
  }

  // One that is written twice, or in two groups, is one image.
  void add_cell(const Expansion::Cell& cell) {
    const Expansion::Group& group = *out_->groups_[cell.group];
    const CellTable::Cell& row = group.table().cells[cell.row];
    group.write_id(row, id_);
    std::uint64_t hash = hash_of(id_);
    HashIndex::Number known = find(id_, hash);
    if (known != HashIndex::kNone) return refuse_other(known, cell, *row.where);
    if (out_->size() >= kMaxCells)
      throw Error(ExitCode::input, *row.where, fmt::format("the matrix has more than {} cells", kMaxCells));
    by_id_.insert(hash, static_cast<HashIndex::Number>(out_->size()),
                  [this](HashIndex::Number other) { return hashes_[other]; });
    out_->cells_.push_back(cell);
    hashes_.push_back(hash);
  }

  void refuse_other(HashIndex::Number known, const Expansion::Cell& cell, const SourceLocation& where) const {
    AxisValues axes = axes_of(cell);
    AxisValues other = axes_of(out_->cells_[known]);
    if (are_same(other, axes)) return;
    throw Error(ExitCode::input, where,
                fmt::format("two cells have the id '{}': {} ({}) and {} ({})", id_, describe(other),
                            out_->where(known).text(), describe(axes), where.text()),
                "give one of the values another name");
  }

  // What an include or another group brought back is not excluded.
  void drop_what_came_back() {
    for (const auto& group : out_->groups_) {
      std::erase_if(group->excluded, [&](const DroppedCell& dropped) {
        group->write_id(dropped.cell, id_);
        HashIndex::Number found = find(id_, hash_of(id_));
        return found != HashIndex::kNone &&
               are_same(axes_of(out_->cells_[found]), group->table().axes(dropped.cell));
      });
    }
  }

  Expansion* out_;
  const RecipeBook* recipes_;
  Constraints constraints_;
  HashIndex by_id_;
  std::vector<std::uint64_t> hashes_;  // of the cells' ids
  std::string id_;                     // scratch
};

Expansion expand(Matrix matrix, const RecipeBook& recipes) {
  Expansion expansion(std::move(matrix));
  Expander(expansion, recipes).run();
  return expansion;
}

}  // namespace kiln
