#include "factory/app/tuning.h"

#include <algorithm>

namespace kiln {

std::vector<const TuningTrial*> by_cost(const TuningJournal& journal) {
  std::vector<const TuningTrial*> trials;
  for (const TuningTrial& trial : journal.trials)
    if (trial.end == TrialEnd::complete) trials.push_back(&trial);
  std::ranges::stable_sort(trials,
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
  record.rounds = static_cast<int>(std::ranges::count(journal.turns, TuningSide::tuned, &TuningTurn::side));
  record.trials = journal.trials.size();
  record.seed = head.seed;
  record.kiln = origin.kiln;
  record.taken = origin.taken;
  return record;
}

NamedMetric split_metric(const std::string& named, const std::vector<std::string>& workloads) {
  const std::size_t dot = named.find('.');
  if (dot == named.npos || std::ranges::find(workloads, named) != workloads.end()) return {named, ""};
  return {named.substr(0, dot), named.substr(dot + 1)};
}

}  // namespace kiln
