// What only all recipes together show: needs and `after` that name nothing, and components that need each
// other.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "plan/recipe.h"

namespace kiln {
namespace {

using ComponentKey = std::pair<Kind, std::string>;

std::string text_of(const ComponentKey& key) { return fmt::format("{}/{}", name_of(key.first), key.second); }

std::vector<const Need*> needs_of(const Component& component) {
  std::vector<const Need*> needs;
  for (const Method& method : component.methods) {
    for (const Need& need : method.needs) needs.push_back(&need);
    if (!method.build) continue;
    for (const Need& need : method.build->needs) needs.push_back(&need);
  }
  return needs;
}

void check_need(const Need& need, const RecipeBook& recipes) {
  const Component* component = recipes.find(need.kind, need.name);
  if (component == nullptr) {
    std::string hint = did_you_mean(need.name, recipes.names(need.kind));
    for (const auto& [key, other] : recipes.all())
      if (hint.empty() && key.second == need.name) hint = fmt::format("there is a {}", text_of(key));
    throw Error(ExitCode::input, need.where,
                fmt::format("there is no {} '{}'", name_of(need.kind), need.name), hint);
  }
  const auto& versions = component->versions;
  if (std::none_of(versions.begin(), versions.end(),
                   [&](const auto& one) { return need.range.contains(one.version); }))
    throw Error(
        ExitCode::input, need.where,
        fmt::format("no version of {}/{} is in '{}'", name_of(need.kind), need.name, need.range.text()),
        fmt::format("the newest is {} ({})", versions.front().version.text(), component->file));
}

void check_after(const Method& method, const RecipeBook& recipes) {
  std::vector<std::string> known = kind_names();
  for (const auto& [key, component] : recipes.all()) known.push_back(key.second);
  for (std::size_t i = 0; i < method.after.size(); ++i) {
    const std::string& name = method.after[i];
    if (std::find(known.begin(), known.end(), name) == known.end())
      throw Error(ExitCode::input, method.after_where.at(i),
                  fmt::format("'{}' is neither a kind nor a component", name), did_you_mean(name, known));
  }
}

// Depth-first search that keeps its path, so that the circle can be told need by need.
class CycleSearch {
 public:
  explicit CycleSearch(const RecipeBook& recipes) : recipes_(recipes) {}

  void visit(const ComponentKey& key) {
    if (done_.contains(key)) return;
    open_.push_back(key);
    for (const Need* need : needs_of(recipes_.all().at(key))) {
      ComponentKey next{need->kind, need->name};
      path_.push_back(need);
      auto start = std::find(open_.begin(), open_.end(), next);
      if (start != open_.end()) fail(static_cast<std::size_t>(start - open_.begin()));
      visit(next);
      path_.pop_back();
    }
    open_.pop_back();
    done_.insert(key);
  }

 private:
  // open_[i] needs open_[i + 1] at path_[i]; the last of path_ leads back to open_[start].
  [[noreturn]] void fail(std::size_t start) const {
    std::string chain = text_of(open_[start]);
    for (std::size_t i = start; i < path_.size(); ++i) {
      const SourceLocation& where = path_[i]->where;
      chain += fmt::format(" needs {}/{} ({}:{}:{})", name_of(path_[i]->kind), path_[i]->name, where.file,
                           where.line, where.column);
    }
    throw Error(ExitCode::input, path_[start]->where, "components need each other in a circle: " + chain);
  }

  const RecipeBook& recipes_;
  std::vector<ComponentKey> open_;
  std::vector<const Need*> path_;
  std::set<ComponentKey> done_;
};

}  // namespace

void check_references(const RecipeBook& recipes) {
  for (const auto& [key, component] : recipes.all()) {
    for (const Need* need : needs_of(component)) check_need(*need, recipes);
    for (const Method& method : component.methods) check_after(method, recipes);
  }
  CycleSearch search(recipes);
  for (const auto& [key, component] : recipes.all()) search.visit(key);
}

}  // namespace kiln
