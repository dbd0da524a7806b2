// Which image and program a tuning is of, with which terms and where it goes on, and what it keeps of its
// trials. The steps of a tuning are in bench/tuning.h.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "factory/bench/tuning.h"
#include "factory/plan/build_plan.h"
#include "factory/record/tuned_record.h"
#include "factory/run/tuning_run.h"

namespace kiln {

// The trials that ended well, the fastest first.
std::vector<const TuningTrial*> by_cost(const TuningJournal& journal);

// What a record says of its origin. `manifest`: of the image. `taken`: RFC 3339.
struct TuningOrigin {
  Digest manifest;
  std::string kiln, taken;
};
// The result of a tuning that has ended.
TunedRecord tuned_record(const TuningHead& head, const TuningJournal& journal, const TuningOrigin& origin);

// "language-model.decode" is the metric `decode` of the workload `language-model`, unless a workload has the
// whole name.
struct NamedMetric {
  std::string workload, metric;  // metric "": the workload's only one
};
NamedMetric split_metric(const std::string& named, const std::vector<std::string>& workloads);

// The program to tune: a workload component of the recipes, or a script.
struct TunedProgram {
  std::string name;    // of the workload or the script's file
  std::string metric;  // of several of the workload, "" of its only one
  bool is_script = false;
};
// `script`: its file, "" = none. `workload`: as the user names it, else `of_document`, which the document
// names. Throws Error(usage) without any.
TunedProgram tuned_program(const std::string& script, const std::string& workload,
                           const std::string& of_document, const std::vector<std::string>& workloads);

// The number of the image in the plan. Throws Error(no_match) if the plan of this matrix does not have it.
std::uint32_t planned_number(const BuildPlan& plan, const ImageRecord& record, const std::string& matrix);

// The settings worth trying for this image on a machine with so many cores.
SearchSpace space_of(const ImageSpec& image, int cores);

// A script has no comparison and no rival. Another program has the rival if the image has it.
TuningTerms terms_of(TuningTerms asked, const SearchSpace& space, std::size_t at_once,
                     const TunedProgram& program, const RunAxes& axes);

// Whether more of what the trials measured is better.
bool more_is_better(const TunedProgram& program, const SearchSpace& space, const TuningJournal& journal);

// Where the tuning of this file goes on: at its beginning if `again` says so, or if a budget was too small
// for the default. `note`: a line for people.
TuningJournal begin_tuning(TuningFile& file, bool again, const std::function<void(const std::string&)>& note);

}  // namespace kiln
