#include "plan/choose.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

#include "plan/component_value.h"

namespace kiln {
namespace {

std::string axis_value(const AxisValues& axes, const std::string& axis) {
  auto found = axes.find(axis);
  return found == axes.end() || found->second == "none" ? "" : found->second;
}

const ComponentVersion& version_of(const Component& component, const ComponentValue& value,
                                   const AxisValues& axes, const SourceLocation& where) {
  std::string of_cell = component.kind == Kind::framework ? axis_value(axes, "version") : "";
  if (value.version.empty() && of_cell.empty()) {
    if (component.versions.empty())
      throw Error(ExitCode::input, where, fmt::format("{} has no versions", path_of(component)));
    return component.versions.front();
  }
  const ComponentVersion& version =
      known_version(component, value.version.empty() ? of_cell : value.version, where);
  if (!of_cell.empty() && version.version != version_at(of_cell, where))
    throw Error(ExitCode::input, where,
                fmt::format("'{}' and the version {} contradict each other", value.text, of_cell),
                "name the version once");
  return version;
}

bool offers(const Method& method, const ComponentVersion& version) {
  return method.versions.contains(version.version);
}

std::string missing_method(const Component& component, const ComponentVersion& version,
                           const std::string& method) {
  std::vector<std::string> offered;
  for (const Method& other : component.methods)
    if (offers(other, version)) offered.push_back(other.name);
  return fmt::format("{} {} has no method {}; it has {}", component.name, version.version.text(),
                     method.empty() ? "at all" : method,
                     offered.empty() ? "none" : fmt::format("{}", fmt::join(offered, ", ")));
}

const Method& method_of(const Component& component, const ComponentVersion& version,
                        const ComponentValue& value, const std::string& cell_method,
                        const SourceLocation& where) {
  if (!value.method.empty()) {
    const Method& method = known_method(component, value.method, where);
    if (!offers(method, version)) throw Unsolvable{missing_method(component, version, value.method)};
    return method;
  }
  const Method* method = default_method(component, version, cell_method);
  // The method axis speaks of the framework: another method would be another image than the one asked for.
  bool must_match = component.kind == Kind::framework && !cell_method.empty();
  if (method == nullptr || (must_match && method->name != cell_method))
    throw Unsolvable{missing_method(component, version, cell_method)};
  return *method;
}

}  // namespace

const Method* default_method(const Component& component, const ComponentVersion& version,
                             const std::string& cell_method) {
  const Method* wanted = cell_method.empty() ? nullptr : component.find_method(cell_method);
  if (wanted != nullptr && offers(*wanted, version)) return wanted;
  for (const Method& method : component.methods)
    if (offers(method, version)) return &method;
  return nullptr;
}

Choice choose_named(const ImageRequest& request, const RecipeBook& recipes) {
  Choice choice;
  std::string cell_method = axis_value(request.axes, "method");
  for (const std::string& kind_name : kind_names()) {
    Kind kind = *kind_from(kind_name);
    std::string text = axis_value(request.axes, kind_name);
    if (text.empty()) continue;
    for (const ComponentValue& value : parse_component_values(kind, text, request.where)) {
      const Component& component = known_component(recipes, kind, value.name, request.where);
      const ComponentVersion& version = version_of(component, value, request.axes, request.where);
      const Method& method = method_of(component, version, value, cell_method, request.where);
      choice.push_back({&component, &version, &method, false, value.text});
    }
  }
  bool framework = !axis_value(request.axes, "framework").empty();
  if (std::string version = axis_value(request.axes, "version"); !version.empty() && !framework)
    throw Unsolvable{fmt::format("version {} without a framework", version)};
  return choice;
}

// One try: fails when a component that was added turns out too new for a need found later; the ranges learnt
// so far make the next try better, and there are finitely many of them.
class NeedSolver::Attempt {
 public:
  Attempt(const NeedSolver& solver, std::map<std::pair<Kind, std::string>, std::vector<Requirement>>& known)
      : solver_(&solver), known_(&known) {}

  std::optional<Choice> run(const Choice& fixed, const std::vector<Requirement>& requirements) {
    choice_ = fixed;
    fixed_ = fixed.size();
    std::vector<Requirement> open = requirements;
    for (const Chosen& one : fixed) push_needs(one, open);
    for (std::size_t next = 0; next < open.size(); ++next) {
      Requirement requirement = open[next];
      if (!meet(requirement, open)) return std::nullopt;
    }
    return choice_;
  }

 private:
  static void push_needs(const Chosen& chosen, std::vector<Requirement>& open) {
    for (const Need& need : chosen.method->needs) open.push_back({&need, chosen.component->name});
  }

  bool meet(const Requirement& requirement, std::vector<Requirement>& open) {
    const Need& need = *requirement.need;
    std::vector<Requirement>& known = (*known_)[{need.kind, need.name}];
    auto same = [&](const Requirement& other) { return other.need == &need; };
    if (std::none_of(known.begin(), known.end(), same)) known.push_back(requirement);
    for (std::size_t index = 0; index < choice_.size(); ++index) {
      const Chosen& one = choice_[index];
      if (one.component->kind != need.kind || one.component->name != need.name) continue;
      if (need.range.contains(one.version->version)) return true;
      if (index >= fixed_) return false;
      throw Unsolvable{fmt::format("{} needs {} {} {}; the cell has {} {}", requirement.needer,
                                   name_of(need.kind), need.name, need.range.text(), need.name,
                                   one.version->version.text())};
    }
    refuse_other_choice(requirement);
    choice_.push_back(solver_->pick(requirement, known));
    push_needs(choice_.back(), open);
    return true;
  }

  // Bases and frameworks are the cell's to choose.
  void refuse_other_choice(const Requirement& requirement) const {
    const Need& need = *requirement.need;
    if (need.kind != Kind::base && need.kind != Kind::framework) return;
    std::string has = "none";
    auto note = [&](const Choice& choice) {
      for (const Chosen& one : choice) {
        if (one.component->kind != need.kind) continue;
        has = fmt::format("{} {}", one.component->name, one.version->version.text());
        if (one.component->name == need.name && need.range.contains(one.version->version)) return true;
      }
      return false;
    };
    if (note(choice_) || note(solver_->preferred_)) return;
    throw Unsolvable{fmt::format("{} needs {} {}{}; the cell has {}", requirement.needer, name_of(need.kind),
                                 need.name, need.range.is_any() ? "" : " " + need.range.text(), has)};
  }

  const NeedSolver* solver_;
  std::map<std::pair<Kind, std::string>, std::vector<Requirement>>* known_;
  Choice choice_;
  std::size_t fixed_ = 0;
};

Choice NeedSolver::complete(const Choice& fixed, const std::vector<Requirement>& requirements) const {
  std::map<std::pair<Kind, std::string>, std::vector<Requirement>> known;
  for (;;) {
    if (auto choice = Attempt(*this, known).run(fixed, requirements)) return *choice;
  }
}

Chosen NeedSolver::pick(const Requirement& newest, const std::vector<Requirement>& all) const {
  const Need& need = *newest.need;
  auto fits_all = [&](const ComponentVersion& version) {
    return std::all_of(all.begin(), all.end(), [&](const Requirement& requirement) {
      return requirement.need->range.contains(version.version);
    });
  };
  for (const Chosen& one : preferred_)
    if (one.component->kind == need.kind && one.component->name == need.name && fits_all(*one.version))
      return one;
  const Component& component = known_component(*recipes_, need.kind, need.name, need.where);
  bool fits_one = false;
  for (const ComponentVersion& version : component.versions) {
    fits_one = fits_one || need.range.contains(version.version);
    const Method* method = default_method(component, version, cell_method_);
    if (method != nullptr && fits_all(version)) return {&component, &version, method, true, ""};
  }
  if (!fits_one)
    throw Error(ExitCode::input, need.where,
                fmt::format("{} needs {} {}, and no version of its recipe is that", newest.needer,
                            path_of(component), need.range.text()));
  std::string wants;
  for (const Requirement& requirement : all)
    wants += fmt::format("{}{} needs {}", wants.empty() ? "" : ", ", requirement.needer,
                         requirement.need->range.text());
  throw Unsolvable{fmt::format("no version of {} fits: {}", path_of(component), wants)};
}

}  // namespace kiln
