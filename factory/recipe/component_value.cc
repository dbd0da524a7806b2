#include "factory/recipe/component_value.h"

#include <fmt/format.h>

#include <algorithm>

#include "factory/base/text.h"
#include "factory/base/version.h"

namespace kiln {
namespace {

ComponentValue parse_one(std::string_view text, const SourceLocation& where) {
  ComponentValue value;
  value.text = text;
  std::string_view rest = text;
  if (auto colon = rest.rfind(':'); colon != std::string_view::npos) {
    value.method = rest.substr(colon + 1);
    rest = rest.substr(0, colon);
    if (value.method.empty())
      throw Error(ExitCode::input, where, fmt::format("no method after ':' in '{}'", text));
  }
  if (auto at = rest.find('@'); at != std::string_view::npos) {
    value.version = rest.substr(at + 1);
    rest = rest.substr(0, at);
    if (value.version.empty())
      throw Error(ExitCode::input, where, fmt::format("no version after '@' in '{}'", text));
  }
  value.name = rest;
  if (value.name.empty()) throw Error(ExitCode::input, where, fmt::format("no component name in '{}'", text));
  return value;
}

bool lacks(const RecipeBook& recipes, Kind kind, const std::string& name) {
  return recipes.find(kind, name) == nullptr && recipes.find_broken(kind, name) == nullptr;
}

// A value that is wrong names nothing: expand reports it.
bool lacks_value(const RecipeBook& recipes, const std::string& axis, const std::string& value) {
  const auto kind = kind_from(axis);
  if (!kind) return false;
  try {
    const std::vector<ComponentValue> parts = parse_component_values(*kind, value, {});
    return std::ranges::any_of(parts, [&](const ComponentValue& part) {
      return !contains(part.name, '*') && lacks(recipes, *kind, part.name);
    });
  } catch (const Error&) {
    return false;
  }
}

bool lacks_of_group(const RecipeBook& recipes, const MatrixGroup& group) {
  for (const Axis& axis : group.axes)
    for (const std::string& value : axis.values)
      if (lacks_value(recipes, axis.name, value)) return true;
  return std::ranges::any_of(group.include, [&](const Partial& cell) {
    return std::ranges::any_of(
        cell.values, [&](const auto& value) { return lacks_value(recipes, value.first, value.second); });
  });
}

bool lacks_need(const RecipeBook& recipes, const std::vector<Need>& needs) {
  auto is_lacking = [&](const Need& need) { return lacks(recipes, need.kind, need.name); };
  return std::ranges::any_of(needs, [&](const Need& need) {
    return need.any.empty() ? is_lacking(need) : std::ranges::any_of(need.any, is_lacking);
  });
}

bool lacks_companion(const RecipeBook& recipes, const std::optional<Companion>& with) {
  return with && lacks(recipes, with->component.first, with->component.second);
}

bool lacks_of_method(const RecipeBook& recipes, const Method& method) {
  if (lacks_need(recipes, method.needs) || (method.build && lacks_need(recipes, method.build->needs)))
    return true;
  return std::ranges::any_of(method.file_when,
                             [&](const When& when) { return lacks_companion(recipes, when.with); }) ||
         std::ranges::any_of(method.environment,
                             [&](const auto& value) { return lacks_companion(recipes, value.second.with); });
}

}  // namespace

std::vector<ComponentValue> parse_component_values(Kind kind, std::string_view value,
                                                   const SourceLocation& where) {
  std::vector<ComponentValue> values;
  if (value == "none") return values;
  for (std::string_view part : split(value, '+')) {
    ComponentValue one = parse_one(part, where);
    for (const ComponentValue& other : values) {
      if (other.name == one.name)
        throw Error(ExitCode::input, where, fmt::format("'{}' is twice in '{}'", one.name, value));
    }
    values.push_back(std::move(one));
  }
  if (values.size() > 1 && (kind == Kind::base || kind == Kind::framework))
    throw Error(ExitCode::input, where, fmt::format("an image has one {}, found '{}'", name_of(kind), value));
  return values;
}

const Recipe& known_recipe(const RecipeBook& recipes, Kind kind, const std::string& name,
                           const SourceLocation& where) {
  if (const Recipe* recipe = recipes.find(kind, name)) return *recipe;
  if (const BrokenRecipe* broken = recipes.find_broken(kind, name)) return broken->read;
  throw Error(ExitCode::input, where, fmt::format("no recipe for {} '{}'", name_of(kind), name),
              did_you_mean(name, recipes.names(kind)));
}

const ComponentVersion& known_version(const Recipe& recipe, const std::string& version,
                                      const SourceLocation& where) {
  if (const ComponentVersion* found = recipe.find_version(version_at(version, where))) return *found;
  std::vector<std::string> known;
  for (const ComponentVersion& other : recipe.versions) known.push_back(other.version.text());
  std::string hint = did_you_mean_version(version, known);
  if (hint.empty()) hint = fmt::format("the recipe has {}", fmt::join(known, ", "));
  throw Error(ExitCode::input, where, fmt::format("{} has no version '{}'", path_of(recipe), version), hint);
}

const Method& known_method(const Recipe& recipe, const std::string& method, const SourceLocation& where) {
  if (const Method* found = recipe.find_method(method)) return *found;
  std::vector<std::string> known;
  for (const Method& other : recipe.methods) known.push_back(other.name);
  throw Error(ExitCode::input, where, fmt::format("{} has no method '{}'", path_of(recipe), method),
              did_you_mean(method, known, "the recipe has "));
}

bool has_unknown_versions(const RecipeBook& recipes, Kind kind, std::string_view value) {
  if (recipes.broken().empty()) return false;
  const std::vector<ComponentValue> parts = parse_component_values(kind, value, {});
  return std::ranges::any_of(parts, [&](const ComponentValue& part) {
    const BrokenRecipe* broken = recipes.find_broken(kind, part.name);
    return broken != nullptr && broken->read.versions.empty();
  });
}

std::string path_of(Kind kind, std::string_view name) { return fmt::format("{}/{}", name_of(kind), name); }
std::string path_of(const Recipe& recipe) { return path_of(recipe.kind, recipe.name); }

Version version_at(const std::string& text, const SourceLocation& where) {
  try {
    return Version(text);
  } catch (const Error& error) {
    throw Error(ExitCode::input, where, error.message(), error.hint());
  }
}

VersionRange range_at(const std::string& text, const SourceLocation& where) {
  try {
    return VersionRange::parse(text);
  } catch (const Error& error) {
    throw Error(ExitCode::input, where, error.message(), error.hint());
  }
}

bool is_version_range(std::string_view text) {
  return text.find_first_of("<>=!*, ") != std::string_view::npos;  // "~=" has its =
}

// A recipe that names what the book lacks is among the broken ones.
bool names_unknown(const RecipeBook& recipes, const Matrix& matrix) {
  return std::ranges::any_of(matrix.groups,
                             [&](const MatrixGroup& group) { return lacks_of_group(recipes, group); }) ||
         std::ranges::any_of(recipes.broken(), [&](const auto& broken) {
           return std::ranges::any_of(broken.second.read.methods,
                                      [&](const Method& method) { return lacks_of_method(recipes, method); });
         });
}

}  // namespace kiln
