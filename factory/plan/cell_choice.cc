#include "plan/cell_choice.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "plan/glob.h"
#include "plan/keys.h"

namespace kiln {
namespace {

constexpr const char* kHelp =
    "a pattern is a glob over the id or tag, or axis=value; `kiln plan` lists the cells";

struct Pattern {
  std::string text;
  std::string axis;  // "": over the names
  std::string glob;
  bool used = false;
};

// What a pattern is held against. An excluded cell has no tag.
struct Names {
  std::string id;
  std::string tag;
  std::string reference;
  const AxisValues* axes;
};

Names names_of(const ImageSpec& spec) {
  return {spec.request.id, spec.tag, spec.repository + ":" + spec.tag, &spec.request.axes};
}

Names names_of(const ExcludedCell& cell) { return {cell_id(cell.axes), "", "", &cell.axes}; }

std::string value_of(const AxisValues& axes, const std::string& axis) {
  auto found = axes.find(axis);
  return found == axes.end() ? "none" : found->second;
}

bool matches(const Pattern& pattern, const Names& names) {
  if (!pattern.axis.empty()) return glob_matches(pattern.glob, value_of(*names.axes, pattern.axis));
  return glob_matches(pattern.glob, names.id) ||
         (!names.tag.empty() &&
          (glob_matches(pattern.glob, names.tag) || glob_matches(pattern.glob, names.reference)));
}

std::set<std::string> axes_of(const BuildPlan& plan) {
  const auto& known = keys_of("matrix/axes");
  std::set<std::string> axes(known.begin(), known.end());
  for (const PlannedImage& image : plan.images)
    for (const auto& [axis, value] : image.spec.request.axes) axes.insert(axis);
  for (const ExcludedCell& cell : plan.excluded)
    for (const auto& [axis, value] : cell.axes) axes.insert(axis);
  return axes;
}

std::vector<Pattern> read(const std::vector<std::string>& texts, const BuildPlan& plan) {
  std::vector<Pattern> patterns;
  std::set<std::string> axes;
  for (const std::string& text : texts) {
    std::size_t equals = text.find('=');
    if (equals == std::string::npos) {
      patterns.push_back({text, "", text});
      continue;
    }
    Pattern pattern{text, text.substr(0, equals), text.substr(equals + 1)};
    if (axes.empty()) axes = axes_of(plan);
    if (!axes.contains(pattern.axis)) {
      std::string hint = did_you_mean(pattern.axis, {axes.begin(), axes.end()});
      throw Error(ExitCode::usage, fmt::format("'{}': there is no axis '{}'", text, pattern.axis),
                  hint.empty() ? fmt::format("axes: {}", fmt::join(axes, ", ")) : hint);
    }
    patterns.push_back(std::move(pattern));
  }
  return patterns;
}

// Alternatives within an axis, all axes together. Marks what matched by itself as used.
bool wanted(std::vector<Pattern>& patterns, const Names& names) {
  std::set<std::string> met;
  std::set<std::string> asked;
  for (Pattern& pattern : patterns) {
    asked.insert(pattern.axis);
    if (!matches(pattern, names)) continue;
    pattern.used = true;
    met.insert(pattern.axis);
  }
  return met.size() == asked.size();
}

bool excluded(std::vector<Pattern>& patterns, const Names& names) {
  bool any = false;
  for (Pattern& pattern : patterns) {
    if (!matches(pattern, names)) continue;
    pattern.used = any = true;
  }
  return any;
}

std::string hint_for(const Pattern& pattern, const BuildPlan& plan) {
  std::size_t count = 0;
  std::string reason;
  for (const ExcludedCell& cell : plan.excluded) {
    if (!matches(pattern, names_of(cell))) continue;
    if (count++ == 0) reason = cell.reason;
  }
  if (count > 0)
    return fmt::format("the matrix excludes {} such cell{}: {}", count, count == 1 ? "" : "s", reason);
  std::set<std::string> candidates;
  for (const PlannedImage& image : plan.images) {
    if (!pattern.axis.empty()) {
      candidates.insert(value_of(image.spec.request.axes, pattern.axis));
    } else {
      candidates.insert({image.spec.request.id, image.spec.repository + ":" + image.spec.tag});
    }
  }
  std::string hint = did_you_mean(pattern.glob, {candidates.begin(), candidates.end()});
  constexpr std::size_t kMostValues = 12;
  if (!hint.empty() || pattern.axis.empty() || candidates.empty() || candidates.size() > kMostValues)
    return hint.empty() ? kHelp : hint;
  return fmt::format("values of '{}': {}", pattern.axis, fmt::join(candidates, ", "));
}

void refuse_unused(const std::vector<Pattern>& only, const BuildPlan& plan) {
  for (const Pattern& pattern : only)
    if (!pattern.used)
      throw Error(ExitCode::no_match, fmt::format("no cell of '{}' matches '{}'", plan.name, pattern.text),
                  hint_for(pattern, plan));
}

}  // namespace

std::vector<std::string> CellChoice::ids() const {
  std::vector<std::string> all;
  for (const PlannedImage* image : images) all.push_back(image->spec.request.id);
  return all;
}

CellChoice match_cells(const BuildPlan& plan, const CellPatterns& patterns) {
  std::vector<Pattern> only = read(patterns.only, plan);
  std::vector<Pattern> exclude = read(patterns.exclude, plan);
  CellChoice choice;
  bool any = false;  // before --exclude
  for (const PlannedImage& image : plan.images) {
    const Names names = names_of(image.spec);
    bool left_out = excluded(exclude, names);
    if (!wanted(only, names)) continue;
    any = true;
    if (!left_out) choice.images.push_back(&image);
  }
  refuse_unused(only, plan);
  if (choice.images.empty() && !plan.images.empty())
    throw Error(
        ExitCode::no_match,
        any ? fmt::format("no cell of '{}' is left: --exclude takes all that were chosen", plan.name)
            : fmt::format("no cell of '{}' matches all of: {}", plan.name, fmt::join(patterns.only, " ")),
        any ? "" : "patterns of one axis are alternatives; different axes must all hold");
  for (const ExcludedCell& cell : plan.excluded) {
    const Names names = names_of(cell);
    bool left_out = excluded(exclude, names);
    if (wanted(only, names) && !left_out) choice.excluded.push_back(&cell);
  }
  for (const Pattern& pattern : exclude)
    if (!pattern.used)
      choice.warnings.push_back(
          fmt::format("--exclude '{}' matches no cell of '{}'", pattern.text, plan.name));
  return choice;
}

}  // namespace kiln
