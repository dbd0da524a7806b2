#include "factory/app/tuning.h"

#include <fmt/format.h>

#include <algorithm>

#include "factory/base/text.h"

namespace kiln {
namespace {

std::string mpi_of(const ImageSpec& image) {
  for (const ComponentUse& use : image.components)
    if (use.kind == Kind::distributed && (use.name == "openmpi" || use.name == "mpich")) return use.name;
  return "";
}

}  // namespace

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

TunedProgram tuned_program(const std::string& script, const std::string& workload,
                           const std::string& of_document, const std::vector<std::string>& workloads) {
  if (!script.empty()) return {fs::path(script).filename().string(), "", true};
  const std::string named = workload.empty() ? of_document : workload;
  if (named.empty())
    throw Error(ExitCode::usage, "the document names no workload", "--workload names it, or --script FILE");
  const NamedMetric measured = split_metric(named, workloads);
  return {measured.workload, measured.metric, false};
}

std::uint32_t planned_number(const BuildPlan& plan, const ImageRecord& record, const std::string& matrix) {
  for (std::uint32_t number : all_images(plan))
    if (plan.image(number).key() == record.key) return number;
  throw Error(ExitCode::no_match, fmt::format("{} is not a cell of {} as it is now", record.name(), matrix),
              "name the matrix that it was built from, or build and publish it anew");
}

SearchSpace space_of(const ImageSpec& image, int cores) {
  return default_space({run_axes(image), cores, image.environment, mpi_of(image)});
}

TuningTerms terms_of(TuningTerms asked, const SearchSpace& space, std::size_t at_once,
                     const TunedProgram& program, const RunAxes& axes) {
  asked.points = space.points();
  asked.at_once = at_once;
  asked.rival = !program.is_script && has_rival(axes);
  if (program.is_script) asked.rounds = 0;
  return asked;
}

bool more_is_better(const TunedProgram& program, const SearchSpace& space, const TuningJournal& journal) {
  return program.is_script ? space.maximises : more_is_better(journal.trials.front().unit);
}

TuningJournal begin_tuning(TuningFile& file, bool again,
                           const std::function<void(const std::string&)>& note) {
  if (again) file.remove();
  TuningJournal journal = file.begin();
  if (ended_with_the_budget(journal)) {
    file.remove();
    journal = file.begin();
  }
  if (!journal.trials.empty())
    note(fmt::format("tune  goes on after {} and {}", counted(journal.trials.size(), "trial"),
                     counted(journal.turns.size(), "run of the comparison", "runs of the comparison")));
  return journal;
}

}  // namespace kiln
