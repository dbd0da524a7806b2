// GitHub Actions' matrix, with constraints. Everything that depends on a value and not on a cell is done once
// a value, so that the work for a cell is a few table lookups.
#include "plan/expand.h"

#include <fmt/format.h>

#include <array>
#include <cctype>
#include <unordered_map>

#include "plan/glob.h"
#include "plan/group_cells.h"

namespace kiln {
namespace {

constexpr std::array<std::string_view, 10> kIdOrder = {"framework", "version",     "method",   "library",
                                                       "compiler",  "distributed", "workload", "toolchain",
                                                       "target",    "base"};

void append_part(std::string& id, const std::string& value) {
  if (value.empty() || value == "none") return;
  if (!id.empty()) id += '-';
  for (char c : value) {
    bool plain =
        std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.' || c == '+' || c == '-';
    id += plain ? c : '_';
  }
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

class Expander {
 public:
  Expander(const Matrix& matrix, const RecipeBook& recipes)
      : matrix_(&matrix), recipes_(&recipes), constraint_used_(matrix.constraints.size(), 0) {}

  void add(const MatrixGroup& group) {
    GroupCells cells(group, *recipes_, kMaxCells);
    for (ExcludedCell& cell : cells.excluded()) out_.excluded.push_back(std::move(cell));
    for (std::string& warning : cells.warnings()) out_.warnings.push_back(std::move(warning));
    std::vector<Compiled> constraints;
    for (const Constraint& one : matrix_->constraints)
      constraints.emplace_back(one, cells.table(), *recipes_);
    for (const CellTable::Cell& cell : cells.table().cells) judge(cell, cells.table(), constraints);
  }

  Expansion finish() {
    for (std::size_t index = 0; index < constraint_used_.size(); ++index) {
      if (constraint_used_[index] == 0)
        out_.warnings.push_back(fmt::format("{}: the condition of this constraint matches no cell",
                                            place(matrix_->constraints[index].where)));
    }
    std::erase_if(out_.excluded,
                  [this](const ExcludedCell& cell) {  // what an include or another group brought back
                    auto found = by_id_.find(cell_id(cell.axes));
                    return found != by_id_.end() && same_choice(out_.requests[found->second].axes, cell.axes);
                  });
    return std::move(out_);
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

  void judge(const CellTable::Cell& cell, const CellTable& table, const std::vector<Compiled>& constraints) {
    const Constraint* refused = nullptr;
    for (std::size_t index = constraints.size(); index-- > 0;) {
      if (!constraints[index].when.matches(cell)) continue;
      constraint_used_[index] = 1;
      if (constraints[index].refuses(cell)) refused = &matrix_->constraints[index];
    }
    if (refused != nullptr) {
      out_.excluded.push_back({table.axes(cell), refused->reason, refused->where});
    } else {
      request(table.axes(cell), *cell.where);
    }
  }

  void request(AxisValues axes, const SourceLocation& where) {
    std::string id = cell_id(axes);
    auto [found, added] = by_id_.try_emplace(id, out_.requests.size());
    if (added) {
      if (out_.requests.size() >= kMaxCells)
        throw Error(ExitCode::input, where, fmt::format("the matrix has more than {} cells", kMaxCells));
      out_.requests.push_back({std::move(id), std::move(axes), where});
      return;
    }
    const ImageRequest& other = out_.requests[found->second];
    if (same_choice(other.axes, axes)) return;  // written twice, or in two groups: one image
    throw Error(ExitCode::input, where,
                fmt::format("two cells have the id '{}': {} ({}) and {} ({})", id, describe(other.axes),
                            place(other.where), describe(axes), place(where)),
                "give one of the values another name");
  }

  const Matrix* matrix_;
  const RecipeBook* recipes_;
  std::vector<char> constraint_used_;
  std::unordered_map<std::string, std::size_t> by_id_;
  Expansion out_;
};

}  // namespace

std::string cell_id(const AxisValues& axes) {
  std::string id;
  AxisValues rest = axes;
  for (std::string_view axis : kIdOrder) {
    auto node = rest.extract(std::string(axis));
    if (!node.empty()) append_part(id, node.mapped());
  }
  for (const auto& [axis, value] : rest) append_part(id, value);
  return id.empty() ? "none" : id;
}

Expansion expand(const Matrix& matrix, const RecipeBook& recipes) {
  Expander expander(matrix, recipes);
  for (const MatrixGroup& group : matrix.groups) expander.add(group);
  return expander.finish();
}

bool matches_pattern(const ImageRequest& request, const std::string& pattern) {
  auto equals = pattern.find('=');
  if (equals == std::string::npos) return glob_matches(pattern, request.id);
  auto axis = request.axes.find(pattern.substr(0, equals));
  std::string value = axis == request.axes.end() ? "none" : axis->second;
  return glob_matches(pattern.substr(equals + 1), value);
}

}  // namespace kiln
