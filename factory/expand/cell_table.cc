#include "factory/expand/cell_table.h"

#include <cctype>
#include <functional>

#include "factory/base/text.h"
#include "factory/recipe/component_value.h"

namespace kiln {
namespace {

bool is_known_axis(const std::string& axis) {
  return axis == "version" || axis == "method" || axis == "target" || axis == "optimise" ||
         kind_from(axis).has_value();
}

// True when `pattern` speaks of this component value: all of it, one of its parts, or a part's name alone.
bool component_matches(const std::string& pattern, Kind kind, const std::string& value) {
  if (glob_matches(pattern, value)) return true;
  bool name_only = pattern.find_first_of("@:") == std::string::npos;
  for (const ComponentValue& part : parse_component_values(kind, value, {})) {
    if (glob_matches(pattern, part.text) || (name_only && glob_matches(pattern, part.name))) return true;
  }
  return false;
}

using Test = std::function<bool(const std::string& value, const std::string& version)>;

Test version_test(const std::string& pattern, const SourceLocation& where, const RecipeBook& recipes,
                  bool if_unknown) {
  if (pattern == "none")
    return [](const std::string&, const std::string& version) { return version == "none"; };
  return [=, range = range_at(pattern, where), &recipes](const std::string& framework,
                                                         const std::string& version) {
    if (version != "none") return range.contains(Version(version));
    if (has_unknown_versions(recipes, Kind::framework, framework)) return if_unknown;
    for (const NamedVersion& found : components_of(Kind::framework, framework, version, recipes))
      if (range.contains(found.version->version)) return true;
    return false;
  };
}

Test fact_test(Kind kind, const std::string& fact, const std::string& pattern, const SourceLocation& where,
               const RecipeBook& recipes, bool if_unknown) {
  bool by_version = is_version_range(pattern)
                        ? pattern.find_first_of("<>=!") != std::string::npos
                        : !pattern.empty() && std::isdigit(static_cast<unsigned char>(pattern[0]));
  VersionRange range = by_version ? range_at(pattern, where) : VersionRange();
  return [=, &recipes](const std::string& value, const std::string& version) {
    if (has_unknown_versions(recipes, kind, value)) return if_unknown;
    for (const NamedVersion& found : components_of(kind, value, version, recipes)) {
      auto known = found.version->facts.find(fact);
      if (known == found.version->facts.end()) continue;
      // "none" is in no range, though as a version it would sort after every number.
      bool is_number = !known->second.empty() && std::isdigit(static_cast<unsigned char>(known->second[0]));
      if (by_version ? is_number && range.contains(version_at(known->second, found.version->where))
                     : glob_matches(pattern, known->second))
        return true;
    }
    return false;
  };
}

// What one key of a partial cell asks, and of which axis.
struct ClauseTest {
  std::string axis;
  bool reads_version;
  Test run;
};

ClauseTest test_of(const std::string& key, const std::string& pattern, const SourceLocation& where,
                   const RecipeBook& recipes, bool if_unknown) {
  if (key == "version") return {"framework", true, version_test(pattern, where, recipes, if_unknown)};
  if (auto kind = kind_from(key)) {
    return {key, false, [pattern, kind](const std::string& value, const std::string&) {
              return component_matches(pattern, *kind, value);
            }};
  }
  auto dot = key.find('.');
  std::string axis = key.substr(0, dot);
  if (auto kind = kind_from(axis); kind && dot != std::string::npos)
    return {axis, *kind == Kind::framework,
            fact_test(*kind, key.substr(dot + 1), pattern, where, recipes, if_unknown)};
  return {key, false,
          [pattern](const std::string& value, const std::string&) { return glob_matches(pattern, value); }};
}

}  // namespace

std::size_t CellTable::add_column(const std::string& axis) {
  std::size_t column = find_column(axis);
  if (column != kNoColumn) return column;
  columns_.push_back({axis, {""}, {}});
  return columns_.size() - 1;
}

std::size_t CellTable::find_column(std::string_view axis) const {
  for (std::size_t column = 0; column < columns_.size(); ++column)
    if (columns_[column].axis == axis) return column;
  return kNoColumn;
}

CellTable::Id CellTable::intern(std::size_t column, const std::string& value) {
  Column& own = columns_[column];
  auto [found, added] = own.ids.try_emplace(value, static_cast<Id>(own.values.size()));
  if (added) own.values.push_back(value);
  return found->second;
}

std::size_t CellTable::count(std::size_t column) const {
  return column == kNoColumn ? 1 : columns_[column].values.size();
}

const std::string& CellTable::text(std::size_t column, Id id) const {
  static const std::string kNothing;
  return column == kNoColumn ? kNothing : columns_[column].values[id];
}

AxisValues CellTable::axes(const Cell& cell) const {
  AxisValues axes;
  for (std::size_t column = 0; column < cell.values.size(); ++column)
    if (cell.values[column] != kAbsent)
      axes.emplace(columns_[column].axis, columns_[column].values[cell.values[column]]);
  return axes;
}

std::vector<NamedVersion> components_of(Kind kind, const std::string& value, const std::string& version,
                                        const RecipeBook& recipes) {
  std::vector<NamedVersion> found;
  for (const ComponentValue& part : parse_component_values(kind, value, {})) {
    const Recipe* recipe = recipes.find(kind, part.name);
    if (const BrokenRecipe* broken = recipes.find_broken(kind, part.name)) recipe = &broken->read;
    if (recipe == nullptr || recipe->versions.empty()) continue;
    std::string wanted =
        part.version.empty() && kind == Kind::framework && version != "none" ? version : part.version;
    const ComponentVersion* in =
        wanted.empty() ? &recipe->versions.front() : recipe->find_version(Version(wanted));
    if (in != nullptr) found.push_back({recipe, in});
  }
  return found;
}

CellPattern::CellPattern(const AxisValues& values, const SourceLocation& where, const CellTable& table,
                         const RecipeBook& recipes, bool if_unknown) {
  for (const auto& [key, pattern] : values) {
    SourceLocation here = where;
    here.pointer += "/" + key;
    clauses_.push_back(compile(key, pattern, here, table, recipes, if_unknown));
  }
}

CellPattern::Clause CellPattern::compile(const std::string& key, const std::string& pattern,
                                         const SourceLocation& where, const CellTable& table,
                                         const RecipeBook& recipes, bool if_unknown) {
  ClauseTest test = test_of(key, pattern, where, recipes, if_unknown);
  Clause clause;
  clause.column = table.find_column(test.axis);
  if (test.reads_version) clause.second = table.find_column("version");
  clause.second_count = table.count(clause.second);
  auto value_of = [&](std::size_t column, std::size_t id) {
    return id == CellTable::kAbsent ? std::string("none")
                                    : table.text(column, static_cast<CellTable::Id>(id));
  };
  for (std::size_t id = 0; id < table.count(clause.column); ++id) {
    // A cell without an axis that kiln does not know has no value to match.
    bool lacking = id == CellTable::kAbsent && !is_known_axis(test.axis);
    for (std::size_t second = 0; second < clause.second_count; ++second)
      clause.answers.push_back(
          !lacking && test.run(value_of(clause.column, id), value_of(clause.second, second)) ? 1 : 0);
  }
  return clause;
}

bool CellPattern::matches(const CellTable::Cell& cell) const {
  for (const Clause& clause : clauses_)
    if (!clause.answers[cell.at(clause.column) * clause.second_count + cell.at(clause.second)]) return false;
  return true;
}

}  // namespace kiln
