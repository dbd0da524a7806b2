// Nights in Prometheus' text format 0.0.4, by which a monitoring system notices a night that did not run.
//
//   <state>/nights/<matrix>/kiln.prom   the samples of one matrix
//   <state>/kiln.prom                   those of all matrices, for node-exporter's textfile collector and for
//                                       /metrics of kiln serve
//
// A night writes both as it begins and as it ends. A killed night has a start that is later than its end.
#pragma once

#include <string>
#include <vector>

#include "factory/base/effects.h"
#include "factory/night/night.h"
#include "factory/state/state.h"

namespace kiln {

fs::path metrics_file(const StatePaths& state);
// What it holds; "" where it is missing or cannot be read.
std::string read_metrics(const StatePaths& state, const FileSystem& files);

// Of a night that has begun: the samples in `before`, which were written last, with the start of this one.
std::string begin_metrics(const std::string& before, const NightReport& report);
// Of a night that has ended.
std::string night_metrics(const NightReport& report);
// Those of several matrices as one document, with the description of each family once.
std::string merged_metrics(const std::vector<std::string>& all);

// Writes what a night has begun with, or ended with. `folder`: gets a copy; "" = none. Each file appears
// whole or not. Throws Error(store).
void write_begin_metrics(const StatePaths& state, const NightReport& report, const std::string& folder,
                         FileSystem& files);
void write_night_metrics(const StatePaths& state, const NightReport& report, const std::string& folder,
                         FileSystem& files);

}  // namespace kiln
