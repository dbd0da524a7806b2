// The question of each figure of the paper to the runs, as groups of bars: frameworks side by side, stock
// images against other builds of the same version, with and without graph compilers. Pure.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "factory/base/enum_names.h"
#include "factory/figures/bar_chart.h"
#include "factory/figures/measured.h"

namespace kiln {

enum class FigureKind { frameworks, methods, compilers, scaling, images };
inline constexpr auto kFigureKindNames = enum_names<FigureKind>({{FigureKind::frameworks, "frameworks"},
                                                                 {FigureKind::methods, "methods"},
                                                                 {FigureKind::compilers, "compilers"},
                                                                 {FigureKind::scaling, "scaling"},
                                                                 {FigureKind::images, "images"}});
constexpr std::string_view name_of(FigureKind kind) { return kFigureKindNames.of(kind); }

struct PanelBar {
  const MeasuredImage* image = nullptr;  // nullptr: a gap
  std::string label;
  std::string gap;                         // the unmeasured part of it
  std::optional<MeasuredGain> comparison;  // over the bar that `against` names; nullopt: not in turns with it
  std::string against;                     // "": with none
  std::optional<double> efficiency;        // of scaling: 1 where each rank is as fast as one alone
};

struct PanelGroup {
  std::string title;
  std::vector<PanelBar> bars;
};

// One picture. It points into the sets that it was made of.
struct Panel {
  FigureKind kind = FigureKind::images;
  const MeasuredSet* set = nullptr;
  std::string file;  // its name without an ending, of [a-z0-9-]: "methods-mnist-cnn"
  std::vector<PanelGroup> groups;
};

// Of each set those of `kinds` that have something to show: two bars, one of them measured. Without kinds:
// all that have, and where none has, the images as they are. The sets have to outlive the panels.
std::vector<Panel> panels_of(std::span<const MeasuredSet> sets, const std::vector<FigureKind>& kinds);

std::string panel_title(const Panel& panel);
std::string note_of(const PanelBar& bar);
BarChart chart_of(const Panel& panel);

}  // namespace kiln
