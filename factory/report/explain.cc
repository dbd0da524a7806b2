// The steps of an image beside those of the last plan, and the leaves of their inputs that differ.
#include "factory/report/explain.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "factory/base/text.h"
#include "factory/recipe/parameters.h"

namespace kiln {
namespace {

// The compilers among the image's components, in layering order.
std::vector<CompilerVersion> compilers_in(const ImageSpec& spec, const RecipeBook& recipes) {
  std::vector<CompilerVersion> compilers;
  for (const ComponentUse& use : spec.components) {
    const Recipe* recipe = recipes.find(use.kind, use.name);
    const ComponentVersion* version = recipe == nullptr ? nullptr : recipe->find_version(use.version);
    if (use.kind != Kind::toolchain || version == nullptr || version->fact("compiler").empty()) continue;
    compilers.push_back({version->fact("compiler"), version->fact("compiler_version")});
  }
  return compilers;
}

// "1a2b3c…" of "sha256:1a2b3c4d…"; other text in quotes.
std::string shown(const std::string& text) {
  constexpr std::string_view kPrefix = "sha256:";
  if (text.starts_with(kPrefix)) return text.substr(kPrefix.size(), 6) + "…";
  return "'" + text + "'";
}

std::string shown(const Json& value) {
  return value.is_string() ? shown(value.get<std::string>()) : value.dump();
}

using Lines = std::vector<std::string>;

// One line for each name whose value was changed, added or removed. `what` is put before the name.
void compare_maps(const std::string& who, const std::string& what, const Json& before, const Json& now,
                  Lines& lines) {
  std::set<std::string> names;
  for (const auto& [name, value] : before.items()) names.insert(name);
  for (const auto& [name, value] : now.items()) names.insert(name);
  for (const std::string& name : names) {
    if (!before.contains(name)) {
      lines.push_back(fmt::format("{}: {}{} is new ({})", who, what, name, shown(now[name])));
    } else if (!now.contains(name)) {
      lines.push_back(fmt::format("{}: {}{} is gone ({})", who, what, name, shown(before[name])));
    } else if (before[name] != now[name]) {
      lines.push_back(
          fmt::format("{}: {}{} changed ({} → {})", who, what, name, shown(before[name]), shown(now[name])));
    }
  }
}

// What of two states of package archives differs: "trixie-security 13 14d70c73524a → 13 9a8b7c6d5e4f".
std::string archives_between(const std::string& before, const std::string& now) {
  const std::vector<std::string_view> old_parts = split(before, ',');
  const std::vector<std::string_view> parts = split(now, ',');
  std::string text;
  for (std::size_t i = 0; i < parts.size() && parts.size() == old_parts.size(); ++i) {
    const std::string_view old_part = trimmed(old_parts[i]);
    const std::string_view part = trimmed(parts[i]);
    if (part == old_part) continue;
    const std::size_t suite = part.find(' ') == std::string_view::npos ? 0 : part.find(' ') + 1;
    const bool same_suite = old_part.starts_with(part.substr(0, suite));
    text += fmt::format("{}{} → {}", text.empty() ? "" : ", ", old_part, part.substr(same_suite ? suite : 0));
  }
  return text.empty() ? fmt::format("{} → {}", shown(before), shown(now)) : text;
}

// The parameters that a night moves, in their own words. What is said here is taken out of both.
void compare_moved(const std::string& who, Json& before, Json& now, const std::string& tables, Lines& lines) {
  constexpr std::string_view kCommit = "git:";
  std::set<std::string> said;
  for (const auto& [name, value] : now.items()) {
    if (!before.contains(name) || before[name] == value || !value.is_string() || !before[name].is_string())
      continue;
    const std::string old_text = before[name].get<std::string>();
    const std::string text = value.get<std::string>();
    if (name == "KILN_ARCHIVE" && !old_text.empty() && !text.empty())
      lines.push_back(fmt::format("{}: package archives {}", who, archives_between(old_text, text)));
    else if (name == "KILN_SOURCE_CHECKSUM" && old_text.starts_with(kCommit) && text.starts_with(kCommit))
      lines.push_back(fmt::format("{}: commit {}… → {}…", who, old_text.substr(kCommit.size(), 12),
                                  text.substr(kCommit.size(), 12)));
    else if (!tables.empty() && (is_compiler_variable(name) || is_gpu_variable(name)))
      lines.push_back(fmt::format("{}: flag table {}: {} changed ({} → {})", who, tables, name,
                                  shown(old_text), shown(text)));
    else
      continue;
    said.insert(name);
  }
  for (const std::string& name : said) {
    before.erase(name);
    now.erase(name);
  }
}

void compare_scripts(const std::string& who, const Json& before, const Json& now, Lines& lines) {
  if (before == now) return;
  std::string old_name = before.value("name", "");
  std::string name = now.value("name", "");
  if (old_name != name) {
    lines.push_back(fmt::format("{}: script changed ({} → {})", who, shown(old_name), shown(name)));
  } else {
    lines.push_back(fmt::format("{}: {} changed ({} → {})", who, name, shown(before.value("digest", "")),
                                shown(now.value("digest", ""))));
  }
}

// The digest that the lockfile pins a base to. What is said here is taken out of both.
void compare_digests(const std::string& who, Json& before, Json& now, Lines& lines) {
  std::string old_digest = before.value("digest", "");
  std::string digest = now.value("digest", "");
  if (old_digest == digest) return;
  if (old_digest.empty()) {
    lines.push_back(fmt::format("{}: base digest pinned to {} (was {})", who, shown(digest),
                                shown(before.value("reference", ""))));
  } else if (digest.empty()) {
    lines.push_back(fmt::format("{}: base digest {} no longer pinned (now {})", who, shown(old_digest),
                                shown(now.value("reference", ""))));
  } else {
    lines.push_back(fmt::format("{}: base digest {} → {}", who, shown(old_digest), shown(digest)));
  }
  bool was_pinned_elsewhere = !old_digest.empty() && !digest.empty();
  for (Json* inputs : {&before, &now}) {
    inputs->erase("digest");
    if (!was_pinned_elsewhere) inputs->erase("reference");
  }
}

// A base says who runs what is upon it where that is none of the engines that make equal bits. What is said
// here is taken out of both.
void compare_engines(const std::string& who, Json& before, Json& now, Lines& lines) {
  const std::string old_engine = before.value("engine", "");
  const std::string engine = now.value("engine", "");
  if (old_engine == engine) return;
  constexpr std::string_view kOthers = "another engine";
  lines.push_back(fmt::format("{}: run by {}, whose steps are not those of {}", who,
                              engine.empty() ? kOthers : engine, old_engine.empty() ? kOthers : old_engine));
  before.erase("engine");
  now.erase("engine");
}

// What differs between two steps themselves; not what they stand on.
Lines compare_steps(const std::string& who, const Step& before, const Step& now, const std::string& tables) {
  Lines lines;
  // Plans of earlier programs do not say versions.
  if (before.version != now.version && !before.version.empty())
    lines.push_back(fmt::format("{}: version {} → {}", who, before.version, now.version));
  if (before.method != now.method && !before.method.empty())
    lines.push_back(fmt::format("{}: method {} → {}", who, before.method, now.method));
  Json old_rest = inputs_of(before);
  Json rest = inputs_of(now);
  auto part = [](const Json& inputs, const char* name) { return inputs.value(name, Json::object()); };
  compare_scripts(who, part(old_rest, "script"), part(rest, "script"), lines);
  compare_maps(who, "", part(old_rest, "files"), part(rest, "files"), lines);
  Json old_parameters = part(old_rest, "parameters");
  Json parameters = part(rest, "parameters");
  compare_moved(who, old_parameters, parameters, tables, lines);
  compare_maps(who, "parameter ", old_parameters, parameters, lines);
  compare_digests(who, old_rest, rest, lines);
  compare_engines(who, old_rest, rest, lines);
  for (const char* name : {"parent", "from", "script", "files", "parameters"}) {
    old_rest.erase(name);
    rest.erase(name);
  }
  compare_maps(who, "", old_rest, rest, lines);
  return lines;
}

// The steps of an image by component, stage and kind: what is "the same step" in two plans.
struct PlacedStep {
  std::string place;  // "build-openblas library/openblas run 0"
  std::string who;    // "library/openblas", "library/openblas in build-openblas"
  const Step* step;
};

std::vector<PlacedStep> placed_steps(const ImageSpec& spec) {
  std::vector<PlacedStep> placed;
  std::map<std::string, int> count;
  auto add = [&](const std::string& stage, const Step& step) {
    std::string place = fmt::format("{} {} {}", stage, step.component, name_of(step.kind));
    std::string who = stage == "image" ? step.component : fmt::format("{} in {}", step.component, stage);
    if (step.kind == StepKind::test) who = "test of " + step.component;
    placed.push_back({fmt::format("{} {}", place, count[place]++), who, &step});
  };
  for (const Stage& stage : spec.stages)
    for (const Step& step : stage.steps) add(stage.name, step);
  for (const Step& test : spec.tests) add("image", test);
  return placed;
}

class Comparison {
 public:
  // `tables`: "archspec 0.2.4 → 0.2.5", "" where they did not change.
  Comparison(const ImageSpec& before, const ImageSpec& now, std::string tables)
      : now_(&now), before_(&before), tables_(std::move(tables)) {}

  Lines run() {
    std::map<std::string, const Step*> old;
    for (const PlacedStep& placed : placed_steps(*before_)) old.emplace(placed.place, placed.step);
    for (const PlacedStep& placed : placed_steps(*now_)) {
      auto found = old.find(placed.place);
      compare(placed, found == old.end() ? nullptr : found->second);
      if (found != old.end()) old.erase(found);
    }
    std::set<std::string> gone;
    for (const auto& [place, step] : old)
      if (step->kind != StepKind::test) gone.insert(step->component);
    for (const std::string& component : gone)
      lines_.push_back(component + ": no longer in the image as before");
    compare_configuration();
    return std::move(lines_);
  }

 private:
  void compare(const PlacedStep& placed, const Step* before) {
    const Step& step = *placed.step;
    if (before != nullptr && before->key == step.key) return;
    if (before == nullptr) {
      note(step, fmt::format("{} is new", step.component),
           {fmt::format("{}: new in this image", placed.who)});
      return;
    }
    Lines own = compare_steps(placed.who, *before, step, tables_);
    if (!own.empty()) {
      note(step, fmt::format("{} changed", placed.who), std::move(own));
      return;
    }
    std::string cause = cause_of(step);
    // A test that only stands on another image says nothing new.
    Lines line = {fmt::format("{}: rebuilt because {}", placed.who, cause)};
    note(step, cause, step.kind == StepKind::test ? Lines{} : line);
  }

  std::string cause_of(const Step& step) const {
    for (const std::string& key : {step.from, step.parent})
      if (auto found = causes_.find(key); found != causes_.end()) return found->second;
    for (const Stage& stage : now_->stages)
      for (const Step& other : stage.steps)
        if (other.key == step.parent) return fmt::format("it is now built on {}", other.component);
    return "its base changed";
  }

  void note(const Step& step, const std::string& cause, Lines lines) {
    causes_.try_emplace(step.key, cause);
    for (std::string& line : lines)
      if (std::ranges::find(lines_, line) == lines_.end()) lines_.push_back(std::move(line));
  }

  void compare_configuration() {
    compare_maps("image", "environment ", before_->environment, now_->environment, lines_);
    if (before_->command != now_->command) lines_.emplace_back("image: command changed");
    if (lines_.empty() && before_->key != now_->key)
      lines_.push_back(
          fmt::format("image: platform changed ({} → {})", before_->target.cpu, now_->target.cpu));
  }

  const ImageSpec* now_;
  const ImageSpec* before_;
  std::string tables_;
  Lines lines_;
  std::map<std::string, std::string> causes_;  // key of a changed step → the first cause below it
};

}  // namespace

std::variant<std::vector<FlagOrigin>, NoFlags> all_flags(const FlagQuestion& question) {
  auto found = CompilerFlags::find(question);
  if (auto* none = std::get_if<NoFlags>(&found)) return *none;
  std::vector<FlagOrigin> all;
  for (const std::string& name : compiler_variables()) all.push_back(std::get<CompilerFlags>(found).of(name));
  for (const std::string& name : gpu_variables()) all.push_back(gpu_flags(name, *question.target));
  return all;
}

ImageFlags flags_of_image(const ImageSpec& spec, const RecipeBook& recipes, const Microarchitectures& cpus) {
  if (!spec.flags.empty()) return {spec.flags, ""};
  const std::string nothing = "no script of this image reads compiler flags";
  std::vector<CompilerVersion> compilers = compilers_in(spec, recipes);
  if (compilers.empty())
    return {{}, nothing + ", and no toolchain in it is a compiler: what is in it comes compiled"};
  FlagQuestion question{&spec.target, &cpus, compilers.back(), {}, {}};
  for (const CompilerVersion& one : compilers)
    if (one.name == "gcc") question.fortran = one;
  auto all = all_flags(question);
  if (auto* none = std::get_if<NoFlags>(&all)) return {{}, nothing + "; " + none->reason};
  return {std::get<std::vector<FlagOrigin>>(std::move(all)),
          fmt::format("{}; these are what its {} would get", nothing, compilers.back().text())};
}

std::vector<std::string> explain_image(const ImageSpec& now, const ImageSpec& before,
                                       const std::vector<LockChange>& moved) {
  std::string tables;
  for (const LockChange& change : moved)
    if (change.id == "archspec") tables = fmt::format("archspec {} → {}", change.before, change.now);
  return Comparison(before, now, std::move(tables)).run();
}

std::vector<std::string> explain_new_image(bool last_plan) {
  return {last_plan ? "new image: was not in the last plan" : "new image: there is no last plan"};
}

}  // namespace kiln
