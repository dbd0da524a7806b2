// Layering order: depth first over needs and `after`.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <set>
#include <tuple>

#include "factory/recipe/component_value.h"
#include "factory/resolve/choose.h"

namespace kiln {
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
                fmt::format("components are layered upon each other in a circle: {}{}", chain,
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
