#include "factory/app/building.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "factory/report/plan_graph.h"

namespace kiln {

int jobs_of(int asked, const Site& site, const std::map<std::string, std::string>& environment,
            int processors) {
  if (asked > 0) return asked;
  // The option parser does not read it: a wrong value would fail commands that have no jobs.
  if (auto named = environment.find("KILN_JOBS"); named != environment.end() && !named->second.empty()) {
    int jobs = 0;
    const std::string& text = named->second;
    auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), jobs);
    if (problem != std::errc{} || end != text.data() + text.size() || jobs < 1 || jobs > kMostJobs)
      throw Error(ExitCode::usage,
                  fmt::format("KILN_JOBS: expected a number from 1 to {}, found '{}'", kMostJobs, text));
    return jobs;
  }
  if (site.jobs > 0) return site.jobs;
  constexpr int kJobsOfSlurm = 32;
  return site.launcher.slurm ? kJobsOfSlurm : std::max(1, processors / 2 + 1);
}

DiskNeed need_of(const BuildPlan& plan, const ImageNumbers& images, const StateView& view, bool with_sif,
                 const KnownSizes& sizes) {
  std::set<StepTable::Number> seen;
  std::vector<std::string> steps;
  std::vector<ImageToMake> lacking;
  for (std::uint32_t number : images) {
    const ResolvedImage image = plan.image(number);
    if (view.is_whole(image)) continue;
    lacking.push_back({image.repository(), {}, with_sif});
    for (StepTable::Number step : image.steps()) {
      const StepTable::Number first = plan.steps().first(step);
      if (view.step(plan.steps().hex(first)) == NodeState::done) continue;
      const std::string& title = plan.steps().pattern(first).title;
      lacking.back().steps.push_back(title);
      if (seen.insert(first).second) steps.push_back(title);
    }
  }
  return disk_need(steps, lacking, sizes);
}

std::string room_warning(const DiskNeed& need, std::uint64_t available, const std::string& folder) {
  if (need.bytes <= available) return "";
  const std::string figures = fmt::format("the disk of {} has {} free, and this build needs some {}", folder,
                                          size_text(available), size_text(need.bytes));
  if (need.least > available)
    throw Error(ExitCode::store, figures + ": not even its smallest image fits",
                "`kiln gc` lists what can be deleted");
  return fmt::format("warning: {}, as images of its kind did before{}; `kiln gc` lists what can be deleted",
                     figures,
                     need.unknown == 0 ? ""
                                       : fmt::format(" ({} of {} are of a new kind, and not counted)",
                                                     need.unknown, need.known + need.unknown));
}

std::optional<BuildReport> nothing_to_do(const BuildPlan& plan, const ImageNumbers& images,
                                         const StateView& view) {
  BuildReport report;
  for (std::uint32_t number : images) {
    const ResolvedImage image = plan.image(number);
    if (!view.is_whole(image)) return std::nullopt;
    report.images.push_back({image.id(), image.reference(), image.key(), Outcome::up_to_date, "", {}});
  }
  return report;
}

void add_broken(const BuildPlan& plan, const ChosenCells& chosen, BuildReport& report) {
  for (std::uint32_t number : chosen.broken) {
    const BrokenCell cell = plan.broken(number);
    ImageOutcome outcome;
    outcome.id = outcome.name = cell.request.id;  // its tag is not known
    outcome.outcome = Outcome::failed;
    outcome.reason = cell.why.format("");
    report.images.push_back(std::move(outcome));
  }
}

std::optional<Error> why_unbuilt(const BuildReport& report) {
  if (!report.stopped.empty() && !report.interrupted)
    return Error(report.exit_code(), report.stopped, "what is done stays done: ask again");
  const ImageOutcome& image = report.images.front();
  if (image.outcome == Outcome::built || image.outcome == Outcome::up_to_date) return std::nullopt;
  const std::string hint = image.log.empty() ? "" : fmt::format("log {}; ", image.log.string());
  return Error(report.exit_code(),
               fmt::format("{} is not built: {}", image.name,
                           image.reason.empty() ? std::string(name_of(image.outcome)) : image.reason),
               hint + "nothing is published");
}

}  // namespace kiln
