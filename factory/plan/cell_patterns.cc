#include "factory/plan/cell_patterns.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <set>

#include "factory/base/reading.h"
#include "factory/base/text.h"
#include "factory/base/version.h"

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

// What patterns are held against. An excluded or broken cell has no tag and no reference.
struct CellNames {
  std::string id;
  std::string tag;
  std::string reference;  // repository:tag
  AxisValues axes;
};

CellNames names_of(const ExcludedCell& cell) { return {cell_id(cell.axes), "", "", cell.axes}; }

// The cells of a resolution, or of an expansion alone, by number.
class CellList {
 public:
  explicit CellList(const Resolution& resolution)
      : expansion_(&resolution.expansion()), resolution_(&resolution) {}
  explicit CellList(const Expansion& expansion) : expansion_(&expansion) {}

  const std::string& name() const { return expansion_->matrix().name; }
  std::size_t images() const { return resolution_ != nullptr ? resolution_->size() : expansion_->size(); }
  CellNames image(std::size_t number) const {
    CellNames names;
    if (resolution_ != nullptr) {
      const ResolvedImage image = resolution_->image(number);
      names.tag = image.tag();
      names.reference = image.reference();
      number = image.cell();
    }
    ImageRequest request = expansion_->request(number);
    names.id = std::move(request.id);
    names.axes = std::move(request.axes);
    return names;
  }
  std::size_t broken() const { return resolution_ != nullptr ? resolution_->broken() : 0; }
  CellNames broken(std::size_t number) const {
    ImageRequest request = resolution_->broken(number).request;
    return {std::move(request.id), "", "", std::move(request.axes)};
  }
  std::size_t excluded() const {
    return resolution_ != nullptr ? resolution_->excluded() : expansion_->excluded();
  }
  ExcludedCell excluded(std::size_t number) const {
    return resolution_ != nullptr ? resolution_->excluded(number) : expansion_->excluded(number);
  }

 private:
  const Expansion* expansion_;
  const Resolution* resolution_ = nullptr;
};

std::string value_of(const AxisValues& axes, const std::string& axis) {
  auto found = axes.find(axis);
  return found == axes.end() ? "none" : found->second;
}

bool matches(const Pattern& pattern, const CellNames& names) {
  if (!pattern.axis.empty()) return glob_matches(pattern.glob, value_of(names.axes, pattern.axis));
  return glob_matches(pattern.glob, names.id) ||
         (!names.tag.empty() &&
          (glob_matches(pattern.glob, names.tag) || glob_matches(pattern.glob, names.reference)));
}

// Those that every matrix may have, and with `own` those of these cells.
std::set<std::string> axes_of(const CellList& cells, bool own) {
  const auto& known = keys_of("matrix/axes");
  std::set<std::string> axes(known.begin(), known.end());
  for (std::size_t number = 0; own && number < cells.images(); ++number)
    for (const auto& [axis, value] : cells.image(number).axes) axes.insert(axis);
  for (std::size_t number = 0; own && number < cells.broken(); ++number)
    for (const auto& [axis, value] : cells.broken(number).axes) axes.insert(axis);
  for (std::size_t number = 0; own && number < cells.excluded(); ++number)
    for (const auto& [axis, value] : cells.excluded(number).axes) axes.insert(axis);
  return axes;
}

std::vector<Pattern> read(const std::vector<std::string>& texts, const CellList& cells) {
  std::vector<Pattern> patterns;
  std::set<std::string> axes = axes_of(cells, false);
  bool own = false;
  for (const std::string& text : texts) {
    std::size_t equals = text.find('=');
    if (equals == std::string::npos) {
      patterns.push_back({text, "", text});
      continue;
    }
    Pattern pattern{text, text.substr(0, equals), text.substr(equals + 1)};
    if (!own && !axes.contains(pattern.axis)) axes = axes_of(cells, own = true);
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
bool wanted(std::vector<Pattern>& patterns, const CellNames& names) {
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

bool is_excluded(std::vector<Pattern>& patterns, const CellNames& names) {
  bool any = false;
  for (Pattern& pattern : patterns) {
    if (!matches(pattern, names)) continue;
    pattern.used = any = true;
  }
  return any;
}

std::string hint_for(const Pattern& pattern, const CellList& cells) {
  if (pattern.text.find(' ') != std::string::npos)  // no name has one
    return "write each pattern as a separate argument";
  std::size_t count = 0;
  std::string reason;
  for (std::size_t number = 0; number < cells.excluded(); ++number) {
    const ExcludedCell cell = cells.excluded(number);
    if (!matches(pattern, names_of(cell))) continue;
    if (count++ == 0) reason = cell.reason;
  }
  if (count > 0)
    return fmt::format("the matrix excludes {} such cell{}: {}", count, count == 1 ? "" : "s", reason);
  std::set<std::string> candidates;
  auto add = [&](const CellNames& names) {
    if (!pattern.axis.empty()) return void(candidates.insert(value_of(names.axes, pattern.axis)));
    candidates.insert(names.id);
    if (!names.reference.empty()) candidates.insert(names.reference);
  };
  for (std::size_t number = 0; number < cells.images(); ++number) add(cells.image(number));
  for (std::size_t number = 0; number < cells.broken(); ++number) add(cells.broken(number));
  const std::vector<std::string> known(candidates.begin(), candidates.end());
  std::string hint = pattern.axis == "version" ? did_you_mean_version(pattern.glob, known)
                                               : did_you_mean(pattern.glob, known);
  constexpr std::size_t kMostValues = 12;
  if (!hint.empty() || pattern.axis.empty() || candidates.empty() || candidates.size() > kMostValues)
    return hint.empty() ? kHelp : hint;
  return fmt::format("values of '{}': {}", pattern.axis, fmt::join(candidates, ", "));
}

void refuse_unused(const std::vector<Pattern>& only, const CellList& cells) {
  for (const Pattern& pattern : only)
    if (!pattern.used)
      throw Error(ExitCode::no_match, fmt::format("no cell of '{}' matches '{}'", cells.name(), pattern.text),
                  hint_for(pattern, cells));
}

// Fills `images` and `broken`; false when the patterns of `only` alone leave nothing.
bool choose_images(const CellList& cells, std::vector<Pattern>& only, std::vector<Pattern>& exclude,
                   ChosenCells& chosen) {
  bool any = false;
  auto choose = [&](std::uint32_t number, const CellNames& names, std::vector<std::uint32_t>& numbers) {
    bool left_out = is_excluded(exclude, names);
    if (!wanted(only, names)) return;
    any = true;
    if (!left_out) numbers.push_back(number);
  };
  for (std::uint32_t number = 0; number < cells.images(); ++number)
    choose(number, cells.image(number), chosen.images);
  for (std::uint32_t number = 0; number < cells.broken(); ++number)
    choose(number, cells.broken(number), chosen.broken);
  return any;
}

ChosenCells choose(const CellList& cells, const CellPatterns& patterns) {
  std::vector<Pattern> only = read(patterns.only, cells);
  std::vector<Pattern> exclude = read(patterns.exclude, cells);
  ChosenCells chosen;
  bool any = choose_images(cells, only, exclude, chosen);
  refuse_unused(only, cells);
  if (chosen.images.empty() && chosen.broken.empty() && cells.images() + cells.broken() > 0)
    throw Error(
        ExitCode::no_match,
        any ? fmt::format("no cell of '{}' is left: --exclude takes all that were chosen", cells.name())
            : fmt::format("no cell of '{}' matches all of: {}", cells.name(), fmt::join(patterns.only, " ")),
        any ? "" : "patterns of one axis are alternatives; different axes must all hold");
  for (std::uint32_t number = 0; number < cells.excluded(); ++number) {
    const CellNames names = names_of(cells.excluded(number));
    bool left_out = is_excluded(exclude, names);
    if (wanted(only, names) && !left_out) chosen.excluded.push_back(number);
  }
  for (const Pattern& pattern : exclude)
    if (!pattern.used)
      chosen.warnings.push_back(
          fmt::format("--exclude '{}' matches no cell of '{}'", pattern.text, cells.name()));
  return chosen;
}

ChosenCells all_of(const CellList& cells) {
  ChosenCells all;
  all.images.resize(cells.images());
  all.excluded.resize(cells.excluded());
  all.broken.resize(cells.broken());
  std::iota(all.images.begin(), all.images.end(), 0);
  std::iota(all.excluded.begin(), all.excluded.end(), 0);
  std::iota(all.broken.begin(), all.broken.end(), 0);
  return all;
}

}  // namespace

ChosenCells match_cells(const Resolution& resolution, const CellPatterns& patterns) {
  const CellList cells(resolution);
  return patterns.empty() ? all_of(cells) : choose(cells, patterns);
}

ChosenCells match_cells(const Expansion& expansion, const CellPatterns& patterns) {
  const CellList cells(expansion);
  return patterns.empty() ? all_of(cells) : choose(cells, patterns);
}

}  // namespace kiln
