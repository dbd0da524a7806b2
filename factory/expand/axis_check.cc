// Checks of what is written on the axes, once a value and not once a cell.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "factory/base/text.h"
#include "factory/base/version.h"
#include "factory/expand/group_cells.h"
#include "factory/recipe/component_value.h"
#include "factory/recipe/optimise.h"

namespace kiln {
namespace {

void check_components(Kind kind, const std::string& value, const SourceLocation& where,
                      const RecipeBook& recipes) {
  for (const ComponentValue& part : parse_component_values(kind, value, where)) {
    const Recipe& recipe = known_recipe(recipes, kind, part.name, where);
    if (recipes.find_broken(kind, part.name) != nullptr) continue;  // whoever needs it says what is wrong
    if (!part.version.empty()) known_version(recipe, part.version, where);
    if (!part.method.empty()) known_method(recipe, part.method, where);
  }
}

void check_method(const std::string& value, const SourceLocation& where, const RecipeBook& recipes) {
  if (value == "none") return;
  std::set<std::string> known;
  for (const auto& [name, component] : recipes.all())
    for (const Method& method : component.methods) known.insert(method.name);
  if (known.contains(value) || !recipes.broken().empty()) return;
  throw Error(ExitCode::input, where, fmt::format("no recipe has a method '{}'", value),
              did_you_mean(value, {known.begin(), known.end()}));
}

// `frameworks`: the values that the version may belong to; none: it is checked when the cell is known.
void check_version(const std::string& value, const SourceLocation& where,
                   const std::vector<std::string>& frameworks, const RecipeBook& recipes) {
  if (value == "none") return;
  if (is_version_range(value)) {
    range_at(value, where);
    return;
  }
  Version version = version_at(value, where);
  std::vector<std::string> names;
  std::vector<std::string> known;
  for (const std::string& framework : frameworks) {
    for (const ComponentValue& part : parse_component_values(Kind::framework, framework, where)) {
      const Recipe& recipe = known_recipe(recipes, Kind::framework, part.name, where);
      if (recipes.find_broken(Kind::framework, part.name) != nullptr) return;
      if (recipe.find_version(version) != nullptr) return;
      names.push_back(part.name);
      for (const ComponentVersion& other : recipe.versions) known.push_back(other.version.text());
    }
  }
  if (names.empty()) return;
  std::string hint = did_you_mean_version(value, known);
  if (hint.empty()) hint = fmt::format("the recipes have {}", fmt::join(known, ", "));
  throw Error(ExitCode::input, where, fmt::format("{} has no version '{}'", fmt::join(names, ", "), value),
              hint);
}

void check_value(const std::string& axis, const std::string& value, const SourceLocation& where,
                 const std::vector<std::string>& frameworks, const RecipeBook& recipes) {
  if (auto kind = kind_from(axis)) {
    check_components(*kind, value, where, recipes);
  } else if (axis == "method") {
    check_method(value, where, recipes);
  } else if (axis == "version") {
    check_version(value, where, frameworks, recipes);
  } else if (axis == "optimise") {
    parse_optimise(value, where);
  }
}

// What may be written for a value of a component axis: `openblas@0.3.29+fftw`, its parts, and their names.
std::vector<std::string> spellings_of(const std::string& axis, const std::string& value) {
  std::vector<std::string> spellings = {value};
  auto kind = kind_from(axis);
  if (!kind) return spellings;
  for (const ComponentValue& part : parse_component_values(*kind, value, {})) {
    spellings.push_back(part.text);
    spellings.push_back(part.name);
  }
  return spellings;
}

std::vector<std::string> spellings_on(const std::string& axis, const CellTable& table) {
  std::vector<std::string> known = {"none"};
  std::size_t column = table.find_column(axis);
  for (std::size_t id = 1; id < table.count(column); ++id)
    for (std::string& one : spellings_of(axis, table.text(column, static_cast<CellTable::Id>(id))))
      known.push_back(std::move(one));
  return known;
}

// "values: jax, pytorch", or that there are none.
std::string values_on(const std::string& axis, const CellTable& table) {
  std::size_t column = table.find_column(axis);
  if (column == CellTable::kNoColumn) return "there is no axis " + axis;
  std::vector<std::string> values;
  for (std::size_t id = 1; id < table.count(column); ++id)
    values.push_back(table.text(column, static_cast<CellTable::Id>(id)));
  return fmt::format("values: {}", fmt::join(values, ", "));
}

bool is_spelt_right(const std::string& axis, const std::string& value,
                    const std::vector<std::string>& known) {
  return std::ranges::any_of(known, [&](const std::string& one) {
    if (axis == "version" && one != "none" && value != "none")
      return VersionRange::parse(value).contains(Version(one));
    return one == value;
  });
}

}  // namespace

std::string misspelling_in(const AxisValues& values, const CellTable& table) {
  for (const auto& [axis, value] : values) {
    bool exact =
        axis == "version" ? !is_version_range(value) : value.find_first_of("*?") == std::string::npos;
    bool fact = contains(axis, '.');
    if (!exact || fact) continue;
    std::vector<std::string> known = spellings_on(axis, table);
    if (is_spelt_right(axis, value, known)) continue;
    std::string hint = axis == "version" ? did_you_mean_version(value, known) : did_you_mean(value, known);
    return fmt::format("no value of {} is '{}'; {}", axis, value,
                       hint.empty() ? values_on(axis, table) : hint);
  }
  return "";
}

void check_facts(const std::vector<Constraint>& constraints, const RecipeBook& recipes) {
  std::map<Kind, std::set<std::string>> known;
  for (const auto& [key, component] : recipes.all())
    for (const ComponentVersion& version : component.versions)
      for (const auto& [fact, value] : version.facts) known[component.kind].insert(fact);
  std::set<Kind> uncertain;
  for (const auto& [key, broken] : recipes.broken()) uncertain.insert(key.first);
  auto check = [&](const Constraint& constraint, const std::string& part, const AxisValues& values) {
    for (const auto& [key, value] : values) {
      std::size_t dot = key.find('.');
      auto kind = kind_from(key.substr(0, dot));
      if (dot == std::string::npos || !kind || known[*kind].contains(key.substr(dot + 1)) ||
          uncertain.contains(*kind))
        continue;
      auto written = constraint.fact_keys.find(fmt::format("{}/{}", part, key));
      std::vector<std::string> facts;
      for (const std::string& fact : known[*kind])
        facts.push_back(fmt::format("{}.{}", name_of(*kind), fact));
      std::string hint = did_you_mean(key, facts);
      if (hint.empty() && !facts.empty()) hint = fmt::format("facts: {}", fmt::join(facts, ", "));
      throw Error(ExitCode::input, written == constraint.fact_keys.end() ? constraint.where : written->second,
                  fmt::format("no {} has the fact '{}'", name_of(*kind), key.substr(dot + 1)), hint);
    }
  };
  for (const Constraint& constraint : constraints) {
    check(constraint, "if", constraint.when);
    check(constraint, "require", constraint.require);
    check(constraint, "forbid", constraint.forbid);
  }
}

void check_axis_values(const MatrixGroup& group, const RecipeBook& recipes) {
  std::vector<std::string> frameworks;
  for (const Axis& axis : group.axes)
    if (axis.name == "framework") frameworks = axis.values;
  for (const Axis& axis : group.axes) {
    for (std::size_t index = 0; index < axis.values.size(); ++index) {
      SourceLocation where = axis.where;
      where.pointer += fmt::format("/{}", index);
      check_value(axis.name, axis.values[index], where, frameworks, recipes);
    }
  }
  for (const Partial& include : group.include) {
    std::vector<std::string> own = frameworks;
    if (auto found = include.values.find("framework"); found != include.values.end()) own = {found->second};
    for (const auto& [axis, value] : include.values) {
      SourceLocation where = include.where;
      where.pointer += "/" + axis;
      check_value(axis, value, where, own, recipes);
    }
  }
}

}  // namespace kiln
