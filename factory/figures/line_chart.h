// Lines over a number, such as ranks, as SVG: one picture of several panels. Pure.
#pragma once

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "factory/bench/tuning_journal.h"
#include "registry/scaling/parallel_step.h"

namespace kiln {

struct ChartSeries {
  std::string label;
  std::vector<std::pair<double, double>> points;  // x ascends
  bool joined = true;                             // by a line, else dots alone
};

struct LinePanel {
  std::string title;         // with the unit
  bool logarithmic = false;  // values over 0, else from 0 or from the least one below it
  std::vector<ChartSeries> series;
};

// A series has one colour and one pattern of dashes in all panels: those of its label.
struct LineChart {
  std::string title;
  std::vector<std::string> lines;  // below the title
  std::string across;              // title of x
  std::vector<LinePanel> panels;
  bool doubles = true;  // x is over 0 and drawn by its logarithm, as a number that doubles
};

// One <svg> element with its style inside, as bar_chart_svg() has it. The same chart gives the same bytes.
std::string line_chart_svg(const LineChart& chart);

// The oracle's answers: efficiency, time and memory over ranks. A line for each kind of parallelism; a step
// that does not fit the memory is in the panel of the memory only.
std::string scaling_picture(const Network& network, const TrainingTerms& terms,
                            std::span<const ParallelOutlook> outlooks);

struct TuningTitle {
  std::string title;  // "mnist-cnn in pytorch:2.15.0"
  std::string what;   // the measured value, with its unit: "ms/step", "objective"
};

// An SVG with the value of each complete trial and the best value so far, and the seconds that each trial
// took. `more_is_better`: of the value. A journal without a complete trial gives empty panels.
std::string tuning_picture(const TuningJournal& journal, const TuningTitle& title, bool more_is_better);

}  // namespace kiln
