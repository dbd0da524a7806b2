// The starts of a tuning: what one asks for, and what it answers, on this machine or in a job of Slurm. Pure.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "factory/bench/tuning.h"

namespace kiln {

struct TuningStart {
  TuningSetting setting;
  double patience = 0;  // seconds; 0: no limit
  TuningPlace place{};  // of the comparison
};

struct TuningAnswer {
  TrialEnd end = TrialEnd::complete;  // never `same`
  std::string why{};                  // it is not complete
  double seconds = 0;                 // of the whole process
  std::optional<BenchRun> run{};      // of a workload
  std::optional<double> objective{};  // of a script
};

// Starts that one machine runs one after the other, so that drift and the machine itself meet them alike.
using TuningJob = std::vector<TuningStart>;
// An answer for each start of each job. After one that is not complete, a job may have none.
using TuningStarter = std::function<std::vector<std::vector<TuningAnswer>>(const std::vector<TuningJob>&)>;

// `maximises`: more of an objective is better.
TuningTrial trial_of(TuningSetting setting, TuningAnswer answer, bool maximises);
// REQUIRES: the answer has a run.
TuningTurn turn_of(const TuningPlace& place, TuningAnswer answer);

// The jobs of a comparison: those of one round are one job, so that its starts share a machine.
std::vector<TuningJob> comparison_jobs(const TuningJournal& journal, const std::vector<TuningPlace>& turns);

// The result of a program: the number in {"objective": number}, its last line. Throws Error(images_failed).
double read_objective(const std::string& output, const std::string& script);

// {"starts": [..]} and {"answers": [..]}. Throws Error(input) for any other form than that of to_json().
Json to_json(const TuningJob& job);
TuningJob tuning_job_from_json(const JsonNode& node);
Json to_json(const std::vector<TuningAnswer>& answers);
std::vector<TuningAnswer> tuning_answers_from_json(const JsonNode& node);

}  // namespace kiln
