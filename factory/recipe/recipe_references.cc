// What only all recipes together show: needs, `after` and `with` that name nothing, and components that need
// each other.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "factory/recipe/recipe.h"

namespace kiln {
namespace {

std::string text_of(const ComponentKey& key) { return fmt::format("{}/{}", name_of(key.first), key.second); }

std::vector<const Need*> written_needs(const Recipe& recipe) {
  std::vector<const Need*> needs;
  for (const Method& method : recipe.methods) {
    for (const Need& need : method.needs) needs.push_back(&need);
    if (!method.build) continue;
    for (const Need& need : method.build->needs) needs.push_back(&need);
  }
  return needs;
}

// nullptr: its recipe is broken.
const Recipe* existing(const ComponentKey& named, const SourceLocation& where, const RecipeBook& recipes) {
  const auto& [kind, name] = named;
  if (recipes.find_broken(kind, name) != nullptr) return nullptr;
  if (const Recipe* recipe = recipes.find(kind, name)) return recipe;
  std::string hint = did_you_mean(name, recipes.names(kind));
  for (const auto& [key, other] : recipes.all())
    if (hint.empty() && key.second == name) hint = fmt::format("there is a {}", text_of(key));
  throw Error(ExitCode::input, where, fmt::format("there is no {} '{}'", name_of(kind), name), hint);
}

void check_named(const ComponentKey& named, const VersionRange& range, const SourceLocation& where,
                 const RecipeBook& recipes) {
  const Recipe* recipe = existing(named, where, recipes);
  if (recipe == nullptr) return;
  const auto& versions = recipe->versions;
  if (std::ranges::none_of(versions, [&](const auto& one) { return range.contains(one.version); }))
    throw Error(ExitCode::input, where,
                fmt::format("no version of {} is in '{}'", text_of(named), range.text()),
                fmt::format("the newest is {} ({})", versions.front().version.text(), recipe->file));
}

void check_needs(const Recipe& recipe, const RecipeBook& recipes) {
  auto check = [&](const Need& need) {
    check_named({need.kind, need.name}, need.range, need.where, recipes);
  };
  for (const Need* need : written_needs(recipe)) {
    if (need->any.empty()) check(*need);
    std::ranges::for_each(need->any, check);
  }
}

// `known`: kinds and names of components.
void check_after(const Method& method, const std::set<std::string>& known) {
  for (std::size_t i = 0; i < method.after.size(); ++i) {
    const std::string& name = method.after[i];
    if (!known.contains(name))
      throw Error(ExitCode::input, method.after_where.at(i),
                  fmt::format("'{}' is neither a kind nor a component", name),
                  did_you_mean(name, {known.begin(), known.end()}));
  }
}

// Of files and of the environment.
void check_companions(const Method& method, const RecipeBook& recipes) {
  auto check = [&](const std::optional<Companion>& with) {
    if (with) check_named(with->component, with->range, with->where, recipes);
  };
  for (const When& when : method.file_when) check(when.with);
  for (const auto& [name, value] : method.environment) check(value.with);
}

// Depth-first search that keeps its path, so that the circle can be told need by need, and is no recursion:
// strangers' recipes may need each other ten thousand deep. A circle that needs a choice or a condition to
// close may be one in no image at all: where it is one, resolve says so.
class CycleSearch {
  static constexpr std::size_t kMostLinks = 20;  // that are told

 public:
  CycleSearch(const RecipeBook& recipes, std::map<ComponentKey, Error>& faults)
      : recipes_(recipes), faults_(faults) {}

  void visit(const ComponentKey& key) {
    open(key);
    while (!open_.empty()) {
      Visit& top = open_.back();
      if (top.next == top.needs.size()) {
        close();
        continue;
      }
      const Need* need = top.needs[top.next++];
      ComponentKey next{need->kind, need->name};
      if (!need->any.empty() || !need->when.always() || recipes_.find(need->kind, need->name) == nullptr)
        continue;
      path_.push_back(need);
      if (auto start = place_.find(next); start != place_.end())
        note_circle(start->second);
      else
        open(next);
    }
  }

 private:
  struct Visit {
    ComponentKey key;
    std::vector<const Need*> needs;
    std::size_t next = 0;
  };

  // Leaves out what was looked at before, and the need that led to it.
  void open(const ComponentKey& key) {
    if (done_.contains(key)) {
      if (!path_.empty()) path_.pop_back();
      return;
    }
    place_.emplace(key, open_.size());
    open_.push_back({key, written_needs(recipes_.all().at(key))});
  }

  void close() {
    done_.insert(open_.back().key);
    place_.erase(open_.back().key);
    open_.pop_back();
    if (!path_.empty()) path_.pop_back();
  }

  // open_[i] needs open_[i + 1] at path_[i]; the last of path_ leads back to open_[start], and is left out
  // afterwards.
  void note_circle(std::size_t start) {
    const Error error(ExitCode::input, path_[start]->where,
                      "components need each other in a circle: " + links_from(start));
    for (std::size_t i = start; i < open_.size(); ++i) faults_.emplace(open_[i].key, error);
    path_.pop_back();
  }

  std::string links_from(std::size_t start) const {
    std::string chain = text_of(open_[start].key);
    const std::size_t last = path_.size() - 1;
    for (std::size_t i = start; i < path_.size(); ++i) {
      if (i == start + kMostLinks && i < last) {
        chain += fmt::format(" needs … ({} more)", last - i);
        i = last;
      }
      const SourceLocation& where = path_[i]->where;
      chain += fmt::format(" needs {}/{} ({}:{}:{})", name_of(path_[i]->kind), path_[i]->name, where.file,
                           where.line, where.column);
    }
    return chain;
  }

  const RecipeBook& recipes_;
  std::map<ComponentKey, Error>& faults_;
  std::vector<Visit> open_;
  std::map<ComponentKey, std::size_t> place_;  // in open_
  std::vector<const Need*> path_;
  std::set<ComponentKey> done_;
};

// Kinds, and the names of components, whole or broken.
std::set<std::string> known_names(const RecipeBook& recipes) {
  std::set<std::string> known(kind_names().begin(), kind_names().end());
  for (const auto& [key, component] : recipes.all()) known.insert(key.second);
  for (const auto& [key, broken] : recipes.broken()) known.insert(key.second);
  return known;
}

}  // namespace

std::map<ComponentKey, Error> reference_faults(const RecipeBook& recipes) {
  std::map<ComponentKey, Error> faults;
  const std::set<std::string> known = known_names(recipes);
  for (const auto& [key, component] : recipes.all()) {
    try {
      check_needs(component, recipes);
      for (const Method& method : component.methods) {
        check_after(method, known);
        check_companions(method, recipes);
      }
    } catch (const Error& error) {
      faults.emplace(key, error);
    }
  }
  CycleSearch search(recipes, faults);
  for (const auto& [key, component] : recipes.all()) search.visit(key);
  return faults;
}

}  // namespace kiln
