#include "factory/cli/tune_image.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "factory/base/text.h"
#include "factory/record/host.h"

namespace kiln {
namespace {

std::string outcome_of(const TuningTrial& trial) {
  if (trial.end == TrialEnd::complete)
    return fmt::format("{:.4g} {} ({:.0f} s)", trial.median, trial.unit, trial.seconds);
  if (trial.end == TrialEnd::stopped) return fmt::format("ended after {:.0f} s: too slow", trial.seconds);
  if (trial.end == TrialEnd::same) return "as " + trial.why;
  return "failed: " + trial.why.substr(0, trial.why.find('\n'));
}

// What an earlier trial with this setting said.
TuningTrial trial_again(const TuningJournal& journal, std::size_t number) {
  TuningTrial trial = journal.trials[number];
  trial.end = TrialEnd::same;
  trial.seconds = 0;
  trial.why = fmt::format("trial {}", number);
  return trial;
}

}  // namespace

struct ImageTuning::Course {
  const TuneWork& work;
  TuningHead head;
  BenchRequest request;
  TuningFile file;
  TuningJournal journal;

  void add(TuningTrial trial) {
    file.add(to_json(trial, journal.trials.size()));
    journal.trials.push_back(std::move(trial));
  }
  void add(TuningTurn turn) {
    file.add(to_json(turn));
    journal.turns.push_back(std::move(turn));
  }
};

namespace {

TuningHead head_of(const TuneWork& work, const ImageSpec& image, const ReadyWorkload& workload,
                   HostDescription host) {
  host.features.clear();  // a hundred words that no comparison goes by
  return {image.repository + ":" + image.tag,
          image.key,
          metric_name(work.workload, work.metric),
          workload.sum().hex(),
          std::move(host),
          work.wishes.steps,
          work.wishes.data.string(),
          work.seed,
          work.space};
}

}  // namespace

ImageTuning::ImageTuning(const Catalogue& catalogue, const StepSetup& setup, TuningSearch search,
                         Invocation& invocation)
    : catalogue_(catalogue), setup_(setup), search_(std::move(search)), invocation_(invocation) {
  search_.check();
}

TuneResult ImageTuning::run(const TuneWork& work, const ImageSpec& image, const ImageRecord& record) {
  ReadyWorkload workload(catalogue_.recipes, work.workload, invocation_.files);
  TuningHead head = head_of(work, image, workload, detect_host(invocation_.files, invocation_.cpus()));
  TuningFile file(head, setup_.state, invocation_.files);
  if (work.again) file.remove();
  TuningJournal journal = file.begin();
  if (!journal.trials.empty())
    invocation_.note(
        fmt::format("tune  goes on after {} and {}", counted(journal.trials.size(), "trial"),
                    counted(journal.turns.size(), "run of the comparison", "runs of the comparison")));
  BenchRequest request{image,
                       record.manifest,
                       workload.recipe,
                       work.wishes,
                       is_stock(image, catalogue_.recipes),
                       head.host,
                       measured_by(catalogue_.recipes, invocation_),
                       0,
                       "",
                       rfc3339(setup_.clock.unix_seconds()),
                       head.workload_files};
  Course course{work, std::move(head), request, std::move(file), std::move(journal)};
  for (NextTuningStep next = next_step(work.terms, course.journal); next.step != TuningStep::end;
       next = next_step(work.terms, course.journal)) {
    if (next.step == TuningStep::compare)
      compare(course, next);
    else
      search(course, next);
  }
  TuneResult result = result_of(course);
  invocation_.files.write(setup_.state.tuned(result.record.sum()), to_json(result.record).dump(2) + "\n");
  return result;
}

void ImageTuning::search(Course& course, const NextTuningStep& next) {
  const double start = setup_.clock.monotonic_seconds();
  TuningSetting setting;
  if (next.step == TuningStep::search) setting = search_.propose(course.file.path());
  const double proposing = setup_.clock.monotonic_seconds() - start;
  const std::size_t number = course.journal.trials.size();
  const auto known = course.journal.trial_with(setting);
  TuningTrial trial = known ? trial_again(course.journal, *known)
                            : run_trial(course.request, setting, next.patience, course.work.metric, setup_);
  trial.seconds += proposing;
  course.add(std::move(trial));
  invocation_.note(fmt::format("tune  trial {}: {}: {}", number, text_of(setting),
                               outcome_of(course.journal.trials.back())));
}

void ImageTuning::compare(Course& course, const NextTuningStep& next) {
  const TuningSetting& setting = course.journal.best()->setting;
  invocation_.note(fmt::format("tune  comparison of the best trial with the default, run {} of {}",
                               course.journal.turns.size() + 1, 2 * course.work.terms.rounds));
  try {
    course.add(run_turn(course.request, setting, next, course.work.metric, setup_));
  } catch (const Error& error) {
    if (!next.tuned || error.code() != ExitCode::images_failed) throw;
    course.journal.failed = error.message();
    course.file.add(failed_comparison(error.message()));
  }
}

TuneResult ImageTuning::result_of(const Course& course) const {
  const TuningVerdict verdict = verdict_of(course.journal);
  TunedRecord record;
  record.image = course.head.image;
  record.manifest = course.request.manifest;
  record.key = course.head.key;
  record.workload = speed_name(course.head.workload, 0, !course.head.data.empty());
  record.workload_files = course.head.workload_files;
  record.host = course.head.host;
  record.settings = verdict.setting;
  record.recommended = verdict.recommended;
  record.text = verdict.text;
  if (verdict.comparison)
    record.gain = {"", verdict.comparison->ratio, verdict.comparison->low, verdict.comparison->high};
  record.rounds = static_cast<int>(course.journal.turns.size() / 2);
  record.trials = course.journal.trials.size();
  record.seed = course.head.seed;
  record.kiln = course.request.kiln;
  record.taken = rfc3339(setup_.clock.unix_seconds());
  return {std::move(record), course.journal};
}

}  // namespace kiln
