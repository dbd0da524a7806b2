#include "factory/night/night_images.h"

#include <fmt/format.h>

#include "factory/base/read_whole.h"
#include "factory/base/text.h"
#include "factory/plan/cell_patterns.h"
#include "factory/state/record_store.h"
#include "factory/state/step_history.h"

namespace kiln {
namespace {

bool failed_before(const NightImage* before) { return before != nullptr && before->failing_since > 0; }

void advise(NightImage& image, Actor actor, std::string advice) {
  image.actor = actor;
  image.advice = std::move(advice);
}

void advise_on_infrastructure(NightImage& image, std::int64_t nights) {
  switch (image.cause) {
    case ExitCode::store:
      return advise(image, Actor::site, "make room on the disk, or mend it: `kiln gc` says what can go");
    case ExitCode::tool_missing:
      return advise(image, Actor::site, "install what is missing: `kiln doctor` says what that is");
    default:
      break;
  }
  if (nights <= kNightsOfPatience) return advise(image, Actor::nobody, "the next night tries again");
  advise(image, Actor::site, fmt::format("it failed {} nights in a row: the cause is permanent", nights));
}

void advise_on_failure(NightImage& image, std::int64_t nights) {
  switch (image.failure) {
    case FailureClass::input:
      return advise(image, Actor::recipe,
                    "fix the recipe or the matrix; kiln cannot build the image until then");
    case FailureClass::build:
      return advise(image, Actor::recipe,
                    image.step.empty() ? "look at the findings of its packaging, in its log"
                                       : "look at the end of its log");
    case FailureClass::policy:
      return advise(image, Actor::site,
                    image.cause == ExitCode::network
                        ? "the registry or a policy refuses it: check kiln's login there"
                        : "Slurm refuses the job: mend \"slurm\" in the site file; `kiln doctor` checks it");
    case FailureClass::infrastructure:
      return advise_on_infrastructure(image, nights);
  }
}

constexpr std::size_t kLogLines = 30;
constexpr std::size_t kLogBytes = 4096;
constexpr std::size_t kMostLogs = 200;  // that are shown; the others are in the state folder

class NightImages {
 public:
  explicit NightImages(const NightView& view) : view_(view), records_(view.state, view.files) {
    for (const PastRun& run : read_history(view.state.history()))
      if (run.time >= view.started) seconds_[run.key] += run.seconds;
    if (view.before != nullptr)
      for (const NightImage& image : view.before->images) before_.emplace(image.cell, &image);
    if (view.index != nullptr)
      for (const IndexEntry& entry : view.index->measured_entries()) add_speeds(entry);
  }

  NightImage planned(const ResolvedImage& image, const ImageOutcome* outcome) {
    NightImage night;
    night.cell = image.id();
    night.name = image.reference();
    night.key = image.key();
    add_request(image.request(), night);
    if (auto why = view_.why.find(night.cell); why != view_.why.end()) night.why = why->second;
    if (outcome != nullptr) add_outcome(*outcome, night);
    if (!night.step.empty()) night.script = script_of(image, night.step);
    if (night.verdict == Verdict::not_reached && view_.no_time.contains(night.cell))
      night.verdict = Verdict::no_time;
    night.seconds = seconds_of(image);
    if (is_good(night.verdict)) add_record(image, night);
    judge(night, last(night.cell), view_.number);
    return night;
  }

  NightImage unplanned(const BrokenCell& cell) {
    NightImage night;
    night.cell = night.name = cell.request.id;
    add_request(cell.request, night);
    night.verdict = Verdict::unplanned;
    night.failure = FailureClass::input;
    night.cause = cell.why.code();
    night.what = cell.why.format("");
    judge(night, last(night.cell), view_.number);
    return night;
  }

 private:
  const NightImage* last(const std::string& cell) const {
    auto found = before_.find(cell);
    return found == before_.end() ? nullptr : found->second;
  }

  static void add_request(const ImageRequest& request, NightImage& night) {
    night.axes = request.axes;
    if (request.where.pointer.find("/include/") != std::string::npos) night.include = request.where.text();
  }

  void add_speeds(const IndexEntry& entry) {
    for (const Measurement& one : entry.measurements)  // by their time: the newest stays
      speeds_[entry.image.identity().hex()]
             [fmt::format("{}, {}, on {}", one.workload, one.unit, one.host.cpu)] = one.median;
  }

  void add_outcome(const ImageOutcome& outcome, NightImage& night) {
    night.verdict = verdict_of(outcome, last(night.cell));
    if (night.verdict != Verdict::failed) return;
    night.what = without_controls(outcome.reason);
    night.failure = outcome.failure;
    night.cause = outcome.cause;
    night.step = outcome.step;
    night.log = outcome.log.lexically_relative(view_.state.root()).string();
    if (shown_.size() < kMostLogs && shown_.insert(night.log).second)
      night.end_of_log = last_lines(read_end(outcome.log, kLogBytes), kLogLines);
  }

  // Of the step with this key: what a maintainer edits to mend it.
  std::string script_of(const ResolvedImage& image, const std::string& key) const {
    for (const auto& steps : {image.steps(), image.tests()})
      for (StepTable::Number step : steps) {
        if (view_.plan.steps().hex(step) != key) continue;
        const Step& pattern = view_.plan.steps().pattern(step);
        return fmt::format("{}{}: {}", pattern.component,
                           pattern.method.empty() ? "" : fmt::format(" ({})", pattern.method),
                           pattern.script.empty() ? name_of(pattern.kind) : pattern.script);
      }
    return "";
  }

  // What ran for it in this night: a step that several images share counts for each.
  double seconds_of(const ResolvedImage& image) const {
    double seconds = 0;
    auto add = [&](const std::string& key) {
      if (auto found = seconds_.find(key); found != seconds_.end()) seconds += found->second;
    };
    for (StepTable::Number step : image.steps()) add(view_.plan.steps().hex(step));
    for (StepTable::Number test : image.tests()) add(view_.plan.steps().hex(test));
    add(image.key());
    return seconds;
  }

  void add_record(const ResolvedImage& image, NightImage& night) const {
    const auto record = records_.image(image.record_name());
    if (!record) return;
    night.bytes = record->size;
    if (auto found = speeds_.find(record->identity().hex()); found != speeds_.end())
      night.speeds = found->second;
  }

  const NightView& view_;
  RecordReader records_;
  std::map<std::string, double> seconds_;            // by key of a step, a test or an image: in this night
  std::map<std::string, const NightImage*> before_;  // by cell
  std::map<std::string, std::map<std::string, double>> speeds_;  // by identity
  std::set<std::string> shown_;                                  // logs
};

}  // namespace

Verdict verdict_of(const ImageOutcome& outcome, const NightImage* before) {
  switch (outcome.outcome) {
    case Outcome::built:
      return failed_before(before) ? Verdict::mended : Verdict::built;
    case Outcome::up_to_date:  // built by hand since, if it failed before
      return failed_before(before) ? Verdict::mended : Verdict::unchanged;
    case Outcome::failed:
      return Verdict::failed;
    case Outcome::skipped:
      return Verdict::no_machine;
    case Outcome::not_reached:
      break;
  }
  return Verdict::not_reached;
}

void judge(NightImage& image, const NightImage* before, std::int64_t night) {
  image.actor = Actor::nobody;
  image.advice.clear();
  // Who was not reached is not known to be well.
  const bool is_open = has_failed(image.verdict) || (!is_good(image.verdict) && failed_before(before));
  image.failing_since = !is_open ? 0 : failed_before(before) ? before->failing_since : night;
  switch (image.verdict) {
    case Verdict::failed:
      return advise_on_failure(image, night - image.failing_since + 1);
    case Verdict::unplanned:
      return advise(image, Actor::recipe, "fix the named line; kiln cannot build the image until then");
    case Verdict::not_reached:
      return advise(image, Actor::nobody, "the next night continues with it");
    case Verdict::no_time:
      return advise(image, Actor::nobody, "it did not fit into the budget: a later night has its turn");
    case Verdict::no_machine:
      return advise(image, Actor::nobody, "a machine of its architecture builds it");
    default:
      break;  // it is good
  }
}

std::vector<GateCells> find_gates(const std::vector<GateRule>& rules, const BuildPlan& plan) {
  std::vector<GateCells> gates;
  for (const GateRule& rule : rules) {
    ChosenCells chosen;
    try {
      chosen = match_cells(plan, {rule.cells, {}});
    } catch (Error& error) {
      error.while_doing("looking for the cells of the gate '" + rule.name + "'");
      throw;
    }
    GateCells gate{rule.name, {}};
    for (std::uint32_t image : chosen.images) gate.cells.push_back(plan.image(image).id());
    for (std::uint32_t cell : chosen.broken) gate.cells.push_back(plan.broken(cell).request.id);
    gates.push_back(std::move(gate));
  }
  return gates;
}

std::vector<GateJob> look_at_gates(const std::vector<GateCells>& gates,
                                   const std::vector<NightImage>& images) {
  std::map<std::string_view, const NightImage*> by_cell;
  for (const NightImage& image : images) by_cell.emplace(image.cell, &image);
  std::vector<GateJob> jobs;
  for (const GateCells& gate : gates) {
    GateJob job{gate.name, gate.cells.size(), {}};
    for (const std::string& cell : gate.cells) {
      auto found = by_cell.find(cell);
      if (found == by_cell.end())
        job.missing.push_back(cell);
      else if (!is_good(found->second->verdict) && found->second->verdict != Verdict::no_machine)
        job.missing.push_back(found->second->name);
    }
    jobs.push_back(std::move(job));
  }
  return jobs;
}

bool is_open(const std::vector<GateJob>& jobs) {
  for (const GateJob& job : jobs)
    if (!job.missing.empty()) return false;
  return true;
}

std::vector<NightImage> night_images(const NightView& view, const BuildReport& build) {
  std::map<std::string, const ImageOutcome*> outcomes;
  for (const ImageOutcome& outcome : build.images) outcomes.emplace(outcome.id, &outcome);
  NightImages night(view);
  std::vector<NightImage> images;
  for (std::uint32_t number : all_images(view.plan)) {
    const ResolvedImage image = view.plan.image(number);
    auto found = outcomes.find(image.id());
    images.push_back(night.planned(image, found == outcomes.end() ? nullptr : found->second));
  }
  for (std::uint32_t number = 0; number < view.plan.broken(); ++number)
    images.push_back(night.unplanned(view.plan.broken(number)));
  return images;
}

}  // namespace kiln
