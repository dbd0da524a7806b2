#include "factory/resolve/choose.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <set>
#include <tuple>

#include "factory/base/text.h"
#include "factory/recipe/component_value.h"

namespace kiln {
namespace {

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
                     method.empty() ? "at all" : method, offered.empty() ? "none" : joined(offered, ", "));
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

std::string axis_value(const AxisValues& axes, const std::string& axis) {
  auto found = axes.find(axis);
  return found == axes.end() || found->second == "none" ? "" : found->second;
}

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

// Layering order: depth first over needs and `after`.

namespace {

class Layering {
 public:
  Layering(const Choice& choice, const Target& target)
      : choice_(&choice), needs_(choice.size()), state_(choice.size()) {
    for (std::size_t index = 0; index < choice.size(); ++index)
      for (const Requirement& required : requirements_of(choice[index], target))
        if (const Chosen* other = met_by(required.open, choice))
          needs_[index].push_back(static_cast<std::size_t>(other - choice.data()));
  }

  Choice run() {
    std::vector<std::size_t> order(choice_->size());
    std::iota(order.begin(), order.end(), 0u);
    sort(order);
    for (std::size_t index : order) visit(index);
    Choice layered;
    for (std::size_t index : done_) layered.push_back((*choice_)[index]);
    return layered;
  }

 private:
  enum class State : char { fresh, open, done };

  void sort(std::vector<std::size_t>& indices) const {
    auto rank = [&](std::size_t index) {
      const Chosen& one = (*choice_)[index];
      bool late = one.automatic && one.component->kind != Kind::base;
      return std::tuple(late, one.component->kind, std::string_view(one.component->name));
    };
    std::ranges::sort(indices, [&](std::size_t a, std::size_t b) { return rank(a) < rank(b); });
  }

  bool needs_transitively(std::size_t from, std::size_t to) const {
    std::set<std::size_t> seen;
    std::vector<std::size_t> open = {from};
    while (!open.empty()) {
      std::size_t index = open.back();
      open.pop_back();
      if (index == to) return true;
      if (!seen.insert(index).second) continue;
      open.insert(open.end(), needs_[index].begin(), needs_[index].end());
    }
    return false;
  }

  // What this comes after. A wish (`after`) gives way where the other one needs this.
  std::vector<std::size_t> below(std::size_t index) const {
    std::vector<std::size_t> below = needs_[index];
    for (const std::string& name : (*choice_)[index].method->after) {
      for (std::size_t other = 0; other < choice_->size(); ++other) {
        const Recipe& recipe = *(*choice_)[other].component;
        bool meant = recipe.name == name || name_of(recipe.kind) == name;
        if (meant && other != index && !needs_transitively(other, index)) below.push_back(other);
      }
    }
    sort(below);
    return below;
  }

  void visit(std::size_t index) {
    if (state_[index] == State::done) return;
    if (state_[index] == State::open) fail_circle(index);
    state_[index] = State::open;
    path_.push_back(index);
    for (std::size_t other : below(index)) visit(other);
    path_.pop_back();
    state_[index] = State::done;
    done_.push_back(index);
  }

  [[noreturn]] void fail_circle(std::size_t index) const {
    std::string chain;
    for (auto at = std::ranges::find(path_, index); at != path_.end(); ++at)
      chain += path_of(*(*choice_)[*at].component) + " → ";
    throw Error(ExitCode::input, (*choice_)[index].method->where,
                fmt::format("components are layered on each other in a circle: {}{}", chain,
                            path_of(*(*choice_)[index].component)),
                "take one out of 'needs' or 'after'");
  }

  const Choice* choice_;
  std::vector<std::vector<std::size_t>> needs_;
  std::vector<State> state_;
  std::vector<std::size_t> path_;
  std::vector<std::size_t> done_;
};

}  // namespace

Choice layered(const Choice& choice, const Target& target) { return Layering(choice, target).run(); }

}  // namespace kiln
