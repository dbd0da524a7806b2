// Checks of what is written on the axes, once a value and not once a cell.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "plan/component_value.h"
#include "plan/group_cells.h"

namespace kiln {
namespace {

void check_components(Kind kind, const std::string& value, const SourceLocation& where,
                      const RecipeBook& recipes) {
  for (const ComponentValue& part : parse_component_values(kind, value, where)) {
    const Component& component = known_component(recipes, kind, part.name, where);
    if (!part.version.empty()) known_version(component, part.version, where);
    if (!part.method.empty()) known_method(component, part.method, where);
  }
}

void check_method(const std::string& value, const SourceLocation& where, const RecipeBook& recipes) {
  if (value == "none") return;
  std::set<std::string> known;
  for (const auto& [name, component] : recipes.all())
    for (const Method& method : component.methods) known.insert(method.name);
  if (known.contains(value)) return;
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
      const Component& component = known_component(recipes, Kind::framework, part.name, where);
      if (component.find_version(version) != nullptr) return;
      names.push_back(part.name);
      for (const ComponentVersion& other : component.versions) known.push_back(other.version.text());
    }
  }
  if (names.empty()) return;
  std::string hint = did_you_mean(value, known);
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
  }
}

}  // namespace

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
