#include "factory/figures/panel.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "factory/base/text.h"
#include "factory/figures/number_text.h"
#include "factory/figures/panel_groups.h"

namespace kiln {
namespace {

using GroupsOf = std::vector<PanelGroup> (*)(const MeasuredSet& set);

GroupsOf groups_of(FigureKind kind) {
  switch (kind) {
    case FigureKind::frameworks:
      return framework_groups;
    case FigureKind::methods:
      return method_groups;
    case FigureKind::compilers:
      return compiler_groups;
    case FigureKind::scaling:
      return scaling_groups;
    case FigureKind::images:
      break;
  }
  return image_groups;
}

// Two bars that say the same in one group would leave it open which is which: they get their tags.
void tell_apart(PanelGroup& group, FigureKind kind) {
  std::map<std::string, int> seen;
  for (const PanelBar& bar : group.bars) ++seen[bar.label];
  for (PanelBar& bar : group.bars) {
    if (bar.image == nullptr || seen[bar.label] < 2) continue;
    const std::string tag = short_name(*bar.image);
    bar.label = kind == FigureKind::methods ? tag : bar.label + ": " + tag;
  }
}

std::string file_word(std::string_view text) {
  std::string word;
  for (char c : lower_case(text))
    if (is_letter_or_digit(c))
      word += c;
    else if (!word.empty() && word.back() != '-')
      word += '-';
  while (!word.empty() && word.back() == '-') word.pop_back();
  return word;
}

BarKind bar_kind(const MeasuredImage& image) {
  if (image.compiled()) return BarKind::compiled;
  return image.stock ? BarKind::stock : BarKind::built;
}

Bar bar_of(const PanelBar& from) {
  Bar bar;
  bar.label = from.label;
  bar.note = note_of(from);
  if (from.image == nullptr) return bar;
  bar.kind = bar_kind(*from.image);
  bar.title = fmt::format("{}: {}, {}", from.image->name, counted(from.image->runs.size(), "run"),
                          from.image->runs.back().taken);
  bar.value = from.image->speed;
  bar.marks = from.image->marks;
  return bar;
}

}  // namespace

std::vector<Panel> panels_of(std::span<const MeasuredSet> sets, const std::vector<FigureKind>& kinds) {
  std::vector<Panel> panels;
  std::map<std::string, int> files;
  auto add = [&](const MeasuredSet& set, FigureKind kind, std::size_t least) {
    Panel panel{kind, &set, "", groups_of(kind)(set)};
    std::size_t bars = 0;
    for (PanelGroup& group : panel.groups) {
      tell_apart(group, kind);
      bars += group.bars.size();
    }
    if (bars < least) return false;
    panel.file = fmt::format("{}-{}", name_of(kind), file_word(set.circumstances.workload));
    if (const int before = files[panel.file]++; before > 0) panel.file += fmt::format("-{}", before + 1);
    panels.push_back(std::move(panel));
    return true;
  };
  for (const MeasuredSet& set : sets) {
    bool any = false;
    for (FigureKind kind : kinds) any |= add(set, kind, kind == FigureKind::images ? 1 : 2);
    if (!kinds.empty()) continue;
    for (FigureKind kind :
         {FigureKind::frameworks, FigureKind::methods, FigureKind::compilers, FigureKind::scaling})
      any |= add(set, kind, 2);
    if (!any) add(set, FigureKind::images, 1);
  }
  return panels;
}

std::string panel_title(const Panel& panel) {
  switch (panel.kind) {
    case FigureKind::frameworks:
      return "Frameworks side by side, stock images";
    case FigureKind::methods:
      return "Stock images and other builds of the same version";
    case FigureKind::compilers:
      return "With and without graph compilers";
    case FigureKind::scaling:
      return "Scaling over ranks";
    case FigureKind::images:
      break;
  }
  return "All images";
}

std::string note_of(const PanelBar& bar) {
  if (bar.image == nullptr) return bar.gap;
  std::string note;
  if (bar.efficiency) note = fmt::format("efficiency {}", ratio_text(*bar.efficiency));
  auto add = [&](const std::string& text) { note += (note.empty() ? "" : "; ") + text; };
  if (bar.comparison)
    add(gain_text(*bar.comparison, bar.against));
  else if (!bar.against.empty())
    add("not measured in turns with " + bar.against);
  if (bar.image->earlier > 0) add(counted(bar.image->earlier, "other run") + " left out");
  return note;
}

BarChart chart_of(const Panel& panel) {
  BarChart chart{panel.file,
                 panel_title(panel),
                 circumstance_lines(*panel.set),
                 panel.set->circumstances.unit,
                 more_is_better(panel.set->circumstances.unit),
                 {}};
  for (const PanelGroup& group : panel.groups) {
    BarGroup bars{group.title, {}};
    for (const PanelBar& bar : group.bars) bars.bars.push_back(bar_of(bar));
    chart.groups.push_back(std::move(bars));
  }
  return chart;
}

}  // namespace kiln
