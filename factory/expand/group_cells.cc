#include "factory/expand/group_cells.h"

#include <fmt/format.h>

#include <algorithm>

#include "factory/recipe/component_value.h"

namespace kiln {
namespace {

SourceLocation key_of(const Partial& partial, const std::string& key) {
  SourceLocation where = partial.where;
  where.pointer += "/" + key;
  return where;
}

// The text that the recipes use for a version: `2.6` is written `2.6.0` when that is the recipe's name for
// it.
std::string recipe_text(const std::string& version, const std::vector<const Recipe*>& frameworks) {
  for (const Recipe* framework : frameworks)
    if (const ComponentVersion* found = framework->find_version(Version(version)))
      return found->version.text();
  return version;
}

void check_limit(std::size_t cells, std::uint64_t limit, const SourceLocation& where) {
  if (cells < limit) return;
  throw Error(ExitCode::input, where, fmt::format("the matrix has more than {} cells", limit),
              "split it into several catalogues, or exclude more by shorter axes");
}

// An include's value agrees with a cell's when they are equal; versions as versions, a range by what is
// inside it.
bool agrees(const std::string& axis, const std::string& wanted, const std::string& value) {
  if (wanted == value) return true;
  if (axis != "version" || value.empty() || value == "none" || wanted == "none") return false;
  if (is_version_range(wanted)) return VersionRange::parse(wanted).contains(Version(value));
  return Version(wanted) == Version(value);
}

SourceLocation below(const Constraint& constraint, const char* key) {
  SourceLocation where = constraint.where;
  where.pointer += fmt::format("/{}", key);
  return where;
}

}  // namespace

GroupCells::GroupCells(const MatrixGroup& group, const RecipeBook& recipes, std::uint64_t limit)
    : group_(&group), recipes_(&recipes) {
  check_axis_values(group, recipes);
  checked_size(group, limit);
  make_product(limit);
  apply_excludes();
  apply_includes(limit);
}

std::vector<const Recipe*> GroupCells::frameworks() const {
  std::vector<const Recipe*> found;
  for (const Axis& axis : group_->axes) {
    if (axis.name != "framework") continue;
    for (const std::string& value : axis.values)
      for (const ComponentValue& part : parse_component_values(Kind::framework, value, axis.where))
        found.push_back(&known_recipe(*recipes_, Kind::framework, part.name, axis.where));
  }
  return found;
}

std::vector<GroupCells::Candidate> GroupCells::values_of(const Axis& axis) {
  std::size_t column = table_.add_column(axis.name);
  std::vector<Candidate> values;
  for (const std::string& value : axis.values) {
    if (axis.name != "version" || value == "none") {
      values.push_back({table_.intern(column, value)});
    } else if (is_version_range(value)) {
      add_range(axis, value, values);
    } else {
      CellTable::Id id = table_.intern(column, recipe_text(value, frameworks()));
      auto known = std::ranges::find_if(values, [&](const Candidate& other) { return other.id == id; });
      if (known == values.end())
        values.push_back({id});
      else
        known->optional = false;
    }
  }
  return values;
}

void GroupCells::add_range(const Axis& axis, const std::string& range, std::vector<Candidate>& values) {
  std::vector<const Recipe*> owners = frameworks();
  if (owners.empty())
    throw Error(
        ExitCode::input, axis.where, fmt::format("the version range '{}' needs a framework axis", range),
        "a range stands for the versions of the framework's recipe; name the framework, or one version");
  VersionRange wanted = VersionRange::parse(range);
  std::size_t column = table_.find_column("version");
  bool any = false;
  auto add = [&](const std::string& version) {
    any = true;
    CellTable::Id id = table_.intern(column, version);
    auto same = [&](const Candidate& other) { return other.id == id; };
    if (std::ranges::none_of(values, same)) values.push_back({id, true});
  };
  for (const Recipe* framework : owners) {
    if (framework->versions.empty()) add("none");  // of a broken recipe: one cell stands for its versions
    for (const ComponentVersion& version : framework->versions)
      if (wanted.contains(version.version)) add(version.version.text());
  }
  if (!any)
    warnings_.push_back(fmt::format("{}: no framework has a version in '{}'", axis.where.text(), range));
}

void GroupCells::make_product(std::uint64_t limit) {
  std::vector<std::vector<Candidate>> values;
  const SourceLocation* where =
      nullptr;  // cells of the product are "written" at the framework axis, or the first one
  for (const Axis& axis : group_->axes) {
    values.push_back(values_of(axis));  // for every axis: includes look up their columns
    if (where == nullptr || axis.name == "framework") where = &axis.where;
  }
  auto is_empty = [](const std::vector<Candidate>& of_axis) { return of_axis.empty(); };
  if (values.empty() || std::ranges::any_of(values, is_empty)) return;
  std::size_t version_column = table_.find_column("version");
  std::vector<std::size_t> at(values.size(), 0);
  for (bool more = true; more;) {
    CellTable::Cell cell{std::vector<CellTable::Id>(values.size()), where};
    for (std::size_t column = 0; column < values.size(); ++column)
      cell.values[column] = values[column][at[column]].id;
    bool optional = version_column < values.size() && values[version_column][at[version_column]].optional;
    keep_or_refuse(std::move(cell), optional, limit);
    more = false;
    for (std::size_t column = values.size(); column-- > 0 && !more;) {
      more = ++at[column] < values[column].size();
      if (!more) at[column] = 0;
    }
  }
}

// True when the version is one of the framework's, or there is nothing to compare.
bool GroupCells::versions_agree(const std::string& framework, const std::string& version,
                                const SourceLocation& where) const {
  if (version.empty() || version == "none" || framework.empty()) return true;
  for (const ComponentValue& part : parse_component_values(Kind::framework, framework, where)) {
    Version wanted(version);
    bool known = known_recipe(*recipes_, Kind::framework, part.name, where).find_version(wanted) != nullptr;
    if (known && (part.version.empty() || Version(part.version) == wanted)) return true;
  }
  return false;
}

GroupCells::Fit GroupCells::fit_of(const CellTable::Cell& cell, bool optional) {
  std::size_t version_column = table_.find_column("version");
  std::size_t framework_column = table_.find_column("framework");
  if (version_column == CellTable::kNoColumn || framework_column == CellTable::kNoColumn) return Fit::yes;
  std::pair ids(cell.at(framework_column), cell.at(version_column));
  const bool none = table_.text(version_column, ids.second) == "none";
  if (has_unknown_versions(*recipes_, Kind::framework, table_.text(framework_column, ids.first)))
    return optional && !none ? Fit::skip : Fit::yes;
  if (optional && none) return Fit::skip;
  auto known = agreeing_.find(ids);
  if (known == agreeing_.end()) {
    bool agree = versions_agree(table_.text(framework_column, ids.first),
                                table_.text(version_column, ids.second), *cell.where);
    known = agreeing_.emplace(ids, agree).first;
  }
  if (known->second) return Fit::yes;
  return optional ? Fit::skip : Fit::refuse;
}

void GroupCells::keep_or_refuse(CellTable::Cell cell, bool optional, std::uint64_t limit) {
  Fit fit = fit_of(cell, optional);
  if (fit == Fit::skip) return;
  check_limit(table_.cells.size() + dropped_.size(), limit, *cell.where);
  if (fit == Fit::yes) {
    table_.cells.push_back(std::move(cell));
    return;
  }
  AxisValues axes = table_.axes(cell);
  std::string reason = axes.at("framework") == "none"
                           ? fmt::format("version {} without a framework", axes.at("version"))
                           : fmt::format("{} has no version {}", axes.at("framework"), axes.at("version"));
  const SourceLocation* where = cell.where;
  dropped_.push_back({std::move(cell), &*reasons_.insert(std::move(reason)).first, where});
}

void GroupCells::apply_excludes() {
  std::vector<CellPattern> patterns;
  for (const Partial& exclude : group_->exclude)
    patterns.emplace_back(exclude.values, exclude.where, table_, *recipes_);
  std::vector<const std::string*> reasons;
  for (const Partial& exclude : group_->exclude)
    reasons.push_back(exclude.reason.empty() ? &*reasons_.insert("exclude at " + exclude.where.text()).first
                                             : &exclude.reason);
  std::vector<char> used(patterns.size(), 0);
  std::vector<CellTable::Cell> kept;
  kept.reserve(table_.cells.size());
  for (CellTable::Cell& cell : table_.cells) {
    std::size_t first = patterns.size();
    for (std::size_t index = patterns.size(); index-- > 0;) {
      if (!patterns[index].matches(cell)) continue;
      first = index;
      used[index] = 1;
    }
    if (first == patterns.size()) {
      kept.push_back(std::move(cell));
      continue;
    }
    dropped_.push_back({std::move(cell), reasons[first], &group_->exclude[first].where});
  }
  table_.cells = std::move(kept);
  for (std::size_t index = 0; index < patterns.size(); ++index) {
    if (used[index] != 0) continue;
    const Partial& exclude = group_->exclude[index];
    std::string why = misspelling_in(exclude.values, table_);
    warnings_.push_back(fmt::format("{}: this exclude matches no cell{}{}", exclude.where.text(),
                                    why.empty() ? "" : ": ", why));
  }
}

void GroupCells::apply_includes(std::uint64_t limit) {
  std::size_t originals = table_.cells.size();
  for (const Partial& include : group_->include) extend_or_add(include, originals, limit);
}

// For each column of the axes, whether each of its values agrees with the include; empty where the include is
// silent.
std::vector<std::vector<char>> GroupCells::compile_include(const Partial& include) const {
  std::vector<std::vector<char>> answers(group_->axes.size());
  for (std::size_t column = 0; column < group_->axes.size(); ++column) {
    const std::string& axis = group_->axes[column].name;
    auto wanted = include.values.find(axis);
    if (wanted == include.values.end()) continue;
    for (std::size_t id = 0; id < table_.count(column); ++id)
      answers[column].push_back(
          agrees(axis, wanted->second, table_.text(column, static_cast<CellTable::Id>(id))) ? 1 : 0);
  }
  return answers;
}

void GroupCells::extend_or_add(const Partial& include, std::size_t originals, std::uint64_t limit) {
  std::vector<std::vector<char>> answers = compile_include(include);
  auto agrees_with = [&](const CellTable::Cell& cell) {
    for (std::size_t column = 0; column < answers.size(); ++column)
      if (!answers[column].empty() && answers[column][cell.at(column)] == 0) return false;
    return true;
  };
  std::vector<std::pair<std::size_t, CellTable::Id>>
      added;  // what is no axis: the only part that a cell takes over
  for (const auto& [axis, value] : include.values) {
    std::size_t column = table_.add_column(axis);
    if (column >= group_->axes.size()) added.emplace_back(column, table_.intern(column, value));
  }
  bool extended = false;
  for (std::size_t index = 0; index < originals; ++index) {
    CellTable::Cell& cell = table_.cells[index];
    if (!agrees_with(cell)) continue;
    extended = true;
    for (const auto& [column, id] : added) cell.set(column, id);
  }
  if (!extended) return add_cells(include, limit);
  auto version = include.values.find("version");
  bool is_axis = version != include.values.end() && table_.find_column("version") < group_->axes.size();
  if (version != include.values.end() && !is_axis && is_version_range(version->second))
    throw Error(ExitCode::input, key_of(include, "version"),
                fmt::format("a cell cannot take over the version range '{}'", version->second),
                "name one version");
}

void GroupCells::add_cells(const Partial& include, std::uint64_t limit) {
  std::vector<std::string> versions = {""};
  auto written = include.values.find("version");
  if (written != include.values.end() && is_version_range(written->second)) {
    versions.clear();
    auto framework = include.values.find("framework");
    SourceLocation where = key_of(include, "version");
    if (framework == include.values.end())
      throw Error(ExitCode::input, where,
                  fmt::format("the version range '{}' needs a framework", written->second));
    VersionRange range = range_at(written->second, where);
    for (const ComponentValue& part : parse_component_values(Kind::framework, framework->second, where)) {
      const Recipe& recipe = known_recipe(*recipes_, Kind::framework, part.name, where);
      if (recipe.versions.empty()) versions.emplace_back("none");
      for (const ComponentVersion& version : recipe.versions)
        if (range.contains(version.version)) versions.push_back(version.version.text());
    }
    if (versions.empty())
      warnings_.push_back(
          fmt::format("{}: no framework has a version in '{}'", include.where.text(), written->second));
  }
  for (const std::string& version : versions) {
    check_limit(table_.cells.size() + dropped_.size(), limit, include.where);
    CellTable::Cell cell{{}, &include.where};
    for (const auto& [axis, value] : include.values) {
      std::size_t column = table_.add_column(axis);
      cell.set(column, table_.intern(column, axis == "version" && !version.empty() ? version : value));
    }
    table_.cells.push_back(std::move(cell));
  }
}

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
