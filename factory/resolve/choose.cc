#include "factory/resolve/choose.h"

#include <fmt/format.h>

#include <algorithm>

#include "factory/recipe/component_value.h"

namespace kiln {
namespace {

std::string axis_value(const AxisValues& axes, const std::string& axis) {
  auto found = axes.find(axis);
  return found == axes.end() || found->second == "none" ? "" : found->second;
}

const ComponentVersion& version_of(const Recipe& recipe, const ComponentValue& value, const AxisValues& axes,
                                   const SourceLocation& where) {
  std::string of_cell = recipe.kind == Kind::framework ? axis_value(axes, "version") : "";
  if (value.version.empty() && of_cell.empty()) {
    if (recipe.versions.empty())
      throw Error(ExitCode::input, where, fmt::format("{} has no versions", path_of(recipe)));
    return recipe.versions.front();
  }
  const ComponentVersion& version =
      known_version(recipe, value.version.empty() ? of_cell : value.version, where);
  if (!of_cell.empty() && version.version != version_at(of_cell, where))
    throw Error(ExitCode::input, where,
                fmt::format("'{}' and the version {} contradict each other", value.text, of_cell),
                "name the version once");
  return version;
}

bool offers(const Method& method, const ComponentVersion& version) {
  return method.versions.contains(version.version);
}

std::string missing_method(const Recipe& recipe, const ComponentVersion& version, const std::string& method) {
  std::vector<std::string> offered;
  for (const Method& other : recipe.methods)
    if (offers(other, version)) offered.push_back(other.name);
  return fmt::format("{} {} has no method {}; it has {}", recipe.name, version.version.text(),
                     method.empty() ? "at all" : method,
                     offered.empty() ? "none" : fmt::format("{}", fmt::join(offered, ", ")));
}

const Method& method_of(const Recipe& recipe, const ComponentVersion& version, const ComponentValue& value,
                        const std::string& cell_method, const SourceLocation& where) {
  if (!value.method.empty()) {
    const Method& method = known_method(recipe, value.method, where);
    if (!offers(method, version)) throw Unsolvable{missing_method(recipe, version, value.method)};
    return method;
  }
  const Method* method = default_method(recipe, version, cell_method);
  // The method axis speaks of the framework: another method would be another image than the one asked for.
  bool must_match = recipe.kind == Kind::framework && !cell_method.empty();
  if (method == nullptr || (must_match && method->name != cell_method))
    throw Unsolvable{missing_method(recipe, version, cell_method)};
  return *method;
}

}  // namespace

bool has(const Choice& choice, const Companion& companion) {
  return std::ranges::any_of(choice, [&](const Chosen& chosen) {
    return chosen.component->kind == companion.component.first &&
           chosen.component->name == companion.component.second &&
           companion.range.contains(chosen.version->version);
  });
}

const Method* default_method(const Recipe& recipe, const ComponentVersion& version,
                             const std::string& cell_method) {
  const Method* wanted = cell_method.empty() ? nullptr : recipe.find_method(cell_method);
  if (wanted != nullptr && offers(*wanted, version)) return wanted;
  for (const Method& method : recipe.methods)
    if (offers(method, version)) return &method;
  return nullptr;
}

const Recipe& whole_recipe(const RecipeBook& recipes, Kind kind, const std::string& name,
                           const SourceLocation& where) {
  if (const BrokenRecipe* broken = recipes.find_broken(kind, name)) throw Broken{&broken->why};
  return known_recipe(recipes, kind, name, where);
}

Choice choose_named(const ImageRequest& request, const RecipeBook& recipes) {
  Choice choice;
  std::string cell_method = axis_value(request.axes, "method");
  for (const std::string& kind_name : kind_names()) {
    Kind kind = *kind_from(kind_name);
    std::string text = axis_value(request.axes, kind_name);
    if (text.empty()) continue;
    for (const ComponentValue& value : parse_component_values(kind, text, request.where)) {
      const Recipe& recipe = whole_recipe(recipes, kind, value.name, request.where);
      const ComponentVersion& version = version_of(recipe, value, request.axes, request.where);
      const Method& method = method_of(recipe, version, value, cell_method, request.where);
      choice.push_back({&recipe, &version, &method, false, value.text});
    }
  }
  bool framework = !axis_value(request.axes, "framework").empty();
  if (std::string version = axis_value(request.axes, "version"); !version.empty() && !framework)
    throw Unsolvable{fmt::format("version {} without a framework", version)};
  return choice;
}

}  // namespace kiln
