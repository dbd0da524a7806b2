#include "factory/app/tuning.h"

#include <fmt/format.h>

#include <algorithm>

namespace kiln {

TuningTrial trial_again(const TuningJournal& journal, std::size_t number) {
  TuningTrial trial = journal.trials[number];
  trial.end = TrialEnd::same;
  trial.seconds = 0;
  trial.why = fmt::format("trial {}", number);
  return trial;
}

std::string text_of(const TuningTrial& trial) {
  if (trial.end == TrialEnd::complete)
    return fmt::format("{:.4g} {} ({:.0f} s)", trial.median, trial.unit, trial.seconds);
  if (trial.end == TrialEnd::stopped) return fmt::format("ended after {:.0f} s: too slow", trial.seconds);
  if (trial.end == TrialEnd::same) return "as " + trial.why;
  return "failed: " + trial.why.substr(0, trial.why.find('\n'));
}

std::vector<const TuningTrial*> by_cost(const TuningJournal& journal) {
  std::vector<const TuningTrial*> trials;
  for (const TuningTrial& trial : journal.trials)
    if (trial.end == TrialEnd::complete) trials.push_back(&trial);
  std::stable_sort(trials.begin(), trials.end(),
                   [](const TuningTrial* a, const TuningTrial* b) { return a->cost < b->cost; });
  return trials;
}

TunedRecord tuned_record(const TuningHead& head, const TuningJournal& journal, const TuningOrigin& origin) {
  const TuningVerdict verdict = verdict_of(journal);
  TunedRecord record;
  record.image = head.image;
  record.manifest = origin.manifest;
  record.key = head.key;
  record.workload = speed_name(head.workload, 0, !head.data.empty());
  record.workload_files = head.workload_files;
  record.host = head.host;
  record.settings = verdict.setting;
  record.recommended = verdict.recommended;
  record.text = verdict.text;
  if (verdict.comparison)
    record.gain = {"", verdict.comparison->ratio, verdict.comparison->low, verdict.comparison->high};
  record.rounds =
      static_cast<int>(std::count_if(journal.turns.begin(), journal.turns.end(),
                                     [](const TuningTurn& turn) { return turn.side == TuningSide::tuned; }));
  record.trials = journal.trials.size();
  record.seed = head.seed;
  record.kiln = origin.kiln;
  record.taken = origin.taken;
  return record;
}

NamedMetric split_metric(const std::string& named, const std::vector<std::string>& workloads) {
  const std::size_t dot = named.find('.');
  if (dot == named.npos || std::find(workloads.begin(), workloads.end(), named) != workloads.end())
    return {named, ""};
  return {named.substr(0, dot), named.substr(dot + 1)};
}

}  // namespace kiln
