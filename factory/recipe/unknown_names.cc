#include "factory/recipe/unknown_names.h"

#include <algorithm>

#include "factory/recipe/component_value.h"

namespace kiln {
namespace {

bool lacks(const RecipeBook& recipes, Kind kind, const std::string& name) {
  return recipes.find(kind, name) == nullptr && recipes.find_broken(kind, name) == nullptr;
}

// A value that is wrong names nothing: expand reports it.
bool lacks_value(const RecipeBook& recipes, const std::string& axis, const std::string& value) {
  const auto kind = kind_from(axis);
  if (!kind) return false;
  try {
    const std::vector<ComponentValue> parts = parse_component_values(*kind, value, {});
    return std::any_of(parts.begin(), parts.end(), [&](const ComponentValue& part) {
      return part.name.find('*') == std::string::npos && lacks(recipes, *kind, part.name);
    });
  } catch (const Error&) {
    return false;
  }
}

bool lacks_of_group(const RecipeBook& recipes, const MatrixGroup& group) {
  for (const Axis& axis : group.axes)
    for (const std::string& value : axis.values)
      if (lacks_value(recipes, axis.name, value)) return true;
  return std::any_of(group.include.begin(), group.include.end(), [&](const Partial& cell) {
    return std::any_of(cell.values.begin(), cell.values.end(),
                       [&](const auto& value) { return lacks_value(recipes, value.first, value.second); });
  });
}

bool lacks_need(const RecipeBook& recipes, const std::vector<Need>& needs) {
  auto is_lacking = [&](const Need& need) { return lacks(recipes, need.kind, need.name); };
  return std::any_of(needs.begin(), needs.end(), [&](const Need& need) {
    return need.any.empty() ? is_lacking(need) : std::any_of(need.any.begin(), need.any.end(), is_lacking);
  });
}

bool lacks_companion(const RecipeBook& recipes, const std::optional<Companion>& with) {
  return with && lacks(recipes, with->component.first, with->component.second);
}

bool lacks_of_method(const RecipeBook& recipes, const Method& method) {
  if (lacks_need(recipes, method.needs) || (method.build && lacks_need(recipes, method.build->needs)))
    return true;
  return std::any_of(method.file_when.begin(), method.file_when.end(),
                     [&](const When& when) { return lacks_companion(recipes, when.with); }) ||
         std::any_of(method.environment.begin(), method.environment.end(),
                     [&](const auto& value) { return lacks_companion(recipes, value.second.with); });
}

}  // namespace

// A recipe that names what the book lacks is among the broken ones.
bool names_unknown(const RecipeBook& recipes, const Matrix& matrix) {
  return std::any_of(matrix.groups.begin(), matrix.groups.end(),
                     [&](const MatrixGroup& group) { return lacks_of_group(recipes, group); }) ||
         std::any_of(recipes.broken().begin(), recipes.broken().end(), [&](const auto& broken) {
           const std::vector<Method>& methods = broken.second.read.methods;
           return std::any_of(methods.begin(), methods.end(),
                              [&](const Method& method) { return lacks_of_method(recipes, method); });
         });
}

}  // namespace kiln
