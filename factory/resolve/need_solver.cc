// What the components of an image need, found by trying: an attempt fails when a component that was added
// turns out too new for a need found later; the ranges learnt so far make the next attempt better, and there
// are finitely many of them. Alternatives are branches, tried in their order.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "factory/recipe/component_value.h"
#include "factory/resolve/choose.h"

namespace kiln {
namespace {

// More than this many branches is a mistake in the recipes, not a search.
constexpr int kMaxBranches = 1000;

// A plain need with the one who has it.
struct Wanted {
  const Need* need;
  std::string needer;
};

using ByComponent = std::map<std::pair<Kind, std::string>, std::vector<Wanted>>;
using Decisions = std::map<const Need*, const Need*>;  // a need with `any` → the option that was taken

bool meets(const Chosen& chosen, const Need& need) {
  return chosen.component->kind == need.kind && chosen.component->name == need.name &&
         need.range.contains(chosen.version->version);
}

std::vector<Requirement> requirements(const std::vector<Need>& needs, const Chosen& chosen,
                                      const Target& target) {
  std::vector<Requirement> requirements;
  for (OpenNeed& open : needs_that_hold(needs, chosen.version->version, target))
    requirements.push_back({std::move(open), chosen.component->name});
  return requirements;
}

// The option that a component of `choice` meets; `named`: one that the cell names.
const Need* met_option(const OpenNeed& open, const Choice& choice, bool named) {
  for (const Need* option : open.options)
    for (const Chosen& chosen : choice)
      if ((!named || !chosen.automatic) && meets(chosen, *option)) return option;
  return nullptr;
}

}  // namespace

std::vector<Requirement> requirements_of(const Chosen& chosen, const Target& target) {
  return requirements(chosen.method->needs, chosen, target);
}

std::vector<Requirement> build_requirements_of(const Chosen& chosen, const Target& target) {
  return requirements(chosen.method->build->needs, chosen, target);
}

const Chosen* met_by(const OpenNeed& need, const Choice& choice) {
  const Need* option = met_option(need, choice, true);
  if (option == nullptr) option = met_option(need, choice, false);
  if (option == nullptr) return nullptr;
  return &*std::ranges::find_if(choice, [&](const Chosen& chosen) { return meets(chosen, *option); });
}

class NeedSolver::Attempt {
 public:
  enum class Outcome { done, again, undecided };

  // `known` is what earlier attempts learnt, and learns from this one.
  Attempt(const NeedSolver& solver, const Decisions& decisions, ByComponent& known)
      : solver_(&solver), decisions_(&decisions), known_(&known) {}

  Outcome run(const Choice& fixed, const std::vector<Requirement>& needed) {
    choice_ = fixed;
    fixed_ = fixed.size();
    for (const Requirement& one : needed) push(one);
    for (const Chosen& one : fixed) push_needs(one);
    for (std::size_t next = 0;;) {
      while (next < plain_.size())
        if (!meet(Wanted(plain_[next++]))) return Outcome::again;
      if (!take_what_is_there()) break;
    }
    if (!open_.empty()) return Outcome::undecided;
    refuse_equal_roles();
    return Outcome::done;
  }

  const Choice& choice() const { return choice_; }
  const Requirement& undecided() const { return open_.front(); }  // REQUIRES: Outcome::undecided

 private:
  void push_needs(const Chosen& chosen) {
    for (const Requirement& one : requirements_of(chosen, *solver_->target_)) push(one);
  }

  void push(const Requirement& one) {
    auto decided = decisions_->find(one.open.need);
    if (one.open.need->any.empty())
      plain_.push_back({one.open.need, one.needer});
    else if (decided != decisions_->end())
      plain_.push_back({decided->second, one.needer});
    else
      open_.push_back(one);
  }

  // Alternatives wait until all that is certain is there. True when one of them became certain.
  bool take_what_is_there() {
    for (std::size_t index = 0; index < open_.size(); ++index) {
      const Need* option = option_at_hand(open_[index].open);
      if (option == nullptr) continue;
      plain_.push_back({option, open_[index].needer});
      open_.erase(open_.begin() + static_cast<std::ptrdiff_t>(index));
      return true;
    }
    return false;
  }

  const Need* option_at_hand(const OpenNeed& open) const {
    for (bool named : {true, false})
      for (const Choice* choice : {&choice_, &solver_->preferred_})
        if (const Need* option = met_option(open, *choice, named)) return option;
    return nullptr;
  }

  bool meet(const Wanted& wanted) {
    const Need& need = *wanted.need;
    std::vector<Wanted>& known = (*known_)[{need.kind, need.name}];
    auto same = [&](const Wanted& other) { return other.need == &need; };
    if (std::ranges::none_of(known, same)) known.push_back(wanted);
    for (std::size_t index = 0; index < choice_.size(); ++index) {
      const Chosen& one = choice_[index];
      if (one.component->kind != need.kind || one.component->name != need.name) continue;
      if (meets(one, need)) return true;
      if (index >= fixed_) return false;
      throw Unsolvable{fmt::format("{} needs {}; the cell has {} {}", wanted.needer, describe(need),
                                   need.name, one.version->version.text())};
    }
    refuse_other_choice(wanted);
    choice_.push_back(pick(wanted, known));
    push_needs(choice_.back());
    return true;
  }

  // Bases and frameworks are the cell's to choose.
  void refuse_other_choice(const Wanted& wanted) const {
    const Need& need = *wanted.need;
    if (need.kind != Kind::base && need.kind != Kind::framework) return;
    std::string has = "none";
    for (const Choice* choice : {&choice_, &solver_->preferred_}) {
      for (const Chosen& one : *choice) {
        if (one.component->kind != need.kind) continue;
        if (meets(one, need)) return;
        has = fmt::format("{} {}", one.component->name, one.version->version.text());
      }
    }
    throw Unsolvable{fmt::format("{} needs {}; the cell has {}", wanted.needer, describe(need), has)};
  }

  // Two allocators: the one that is loaded first would win, and the image would not be what its name says.
  void refuse_equal_roles() const {
    std::map<std::string, const Recipe*> taken;
    for (const Chosen& one : choice_) {
      if (one.component->role.empty()) continue;
      auto [first, is_new] = taken.emplace(one.component->role, one.component);
      if (!is_new)
        throw Unsolvable{fmt::format("{} and {} have the same role: {}", first->second->name,
                                     one.component->name, one.component->role)};
    }
  }

  Chosen pick(const Wanted& newest, const std::vector<Wanted>& all) const;

  const NeedSolver* solver_;
  const Decisions* decisions_;
  ByComponent* known_;
  Choice choice_;
  std::size_t fixed_ = 0;
  std::vector<Wanted> plain_;
  std::vector<Requirement> open_;  // alternatives that nothing meets yet
};

Chosen NeedSolver::Attempt::pick(const Wanted& newest, const std::vector<Wanted>& all) const {
  const Need& need = *newest.need;
  auto fits_all = [&](const ComponentVersion& version) {
    return std::ranges::all_of(
        all, [&](const Wanted& wanted) { return wanted.need->range.contains(version.version); });
  };
  for (const Chosen& one : solver_->preferred_)
    if (one.component->kind == need.kind && one.component->name == need.name && fits_all(*one.version))
      return one;
  const Recipe& recipe = whole_recipe(*solver_->recipes_, need.kind, need.name, need.where);
  bool fits_one = false;
  for (const ComponentVersion& version : recipe.versions) {
    fits_one = fits_one || need.range.contains(version.version);
    const Method* method = default_method(recipe, version, solver_->cell_method_);
    if (method != nullptr && fits_all(version)) return {&recipe, &version, method, true, ""};
  }
  if (!fits_one)
    throw Error(ExitCode::input, need.where,
                fmt::format("{} needs {} {}, and no version of its recipe is that", newest.needer,
                            path_of(recipe), need.range.text()));
  std::string wants;
  for (const Wanted& wanted : all)
    wants +=
        fmt::format("{}{} needs {}", wants.empty() ? "" : ", ", wanted.needer, wanted.need->range.text());
  throw Unsolvable{fmt::format("no version of {} fits: {}", path_of(recipe), wants)};
}

// Depth first over the options of the alternatives.
class NeedSolver::Search {
 public:
  Search(const NeedSolver& solver, const Choice& fixed, const std::vector<Requirement>& needed)
      : solver_(&solver), fixed_(&fixed), needed_(&needed) {}

  Choice run(const Decisions& decisions, ByComponent known) {
    for (;;) {
      Attempt attempt(*solver_, decisions, known);
      switch (attempt.run(*fixed_, *needed_)) {
        case Attempt::Outcome::done:
          return attempt.choice();
        case Attempt::Outcome::again:
          break;
        case Attempt::Outcome::undecided:
          return branch(attempt.undecided(), decisions, known);
      }
    }
  }

 private:
  Choice branch(const Requirement& undecided, const Decisions& decisions, const ByComponent& known) {
    std::vector<std::string> options;
    std::vector<std::string> reasons;
    for (const Need* option : undecided.open.options) {
      if (++branches_ > kMaxBranches)
        throw Error(ExitCode::input, undecided.open.need->where,
                    fmt::format("more than {} combinations of alternatives were tried", kMaxBranches),
                    "name one of the alternatives in the matrix");
      Decisions decided = decisions;
      decided[undecided.open.need] = option;
      try {
        return run(decided, known);
      } catch (const Unsolvable& unsolvable) {
        options.push_back(describe(*option));
        reasons.push_back(unsolvable.reason);
      }
    }
    throw Unsolvable{fmt::format("{} needs {}: {}", undecided.needer, fmt::join(options, " or "),
                                 fmt::join(reasons, "; "))};
  }

  const NeedSolver* solver_;
  const Choice* fixed_;
  const std::vector<Requirement>* needed_;
  int branches_ = 0;
};

Choice NeedSolver::complete(const Choice& fixed, const std::vector<Requirement>& requirements) const {
  return Search(*this, fixed, requirements).run({}, {});
}

}  // namespace kiln
