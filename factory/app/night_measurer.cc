#include "factory/app/night_measurer.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "factory/base/text.h"
#include "factory/engine/architecture.h"
#include "factory/plan/cell_patterns.h"
#include "registry/select/cpu_code.h"
#include "registry/select/gain.h"

namespace kiln {
namespace {

std::string first_line(const std::string& text) { return without_controls(text.substr(0, text.find('\n'))); }

BenchWork work_of(const SuiteWorkload& workload, bool on_busy_machine, std::int64_t end) {
  BenchWork work;
  work.workload = workload.name;
  work.wishes = {workload.steps, workload.ranks, workload.data};
  work.rounds = std::max(kProvingRounds, workload.rounds);
  work.again = true;  // the stock image takes its turns, too
  if (on_busy_machine) work.repeats = 0;
  work.no_round_after = end;
  return work;
}

class NightMeasurer {
 public:
  NightMeasurer(const NightMeasurerSetup& setup, const NightMeasurerEffects& effects, NightMeasuring& done)
      : setup_(setup), effects_(effects), cpu_(setup.host, setup.cpus), done_(done) {
    for (const NightImage& image : setup.before) before_.emplace(image.cell, &image);
    for (const IndexEntry& entry : setup.entries) entries_.emplace(entry.image.key, &entry);
  }

  void run() {
    const std::int64_t budget = setup_.terms.budget.count();
    const std::int64_t end = budget == 0 ? 0 : setup_.clock.unix_seconds() + budget;
    const std::vector<PlannedSession> agenda = plan();
    for (std::size_t i = 0; i < agenda.size(); ++i) {
      if (end != 0 && setup_.clock.unix_seconds() >= end) return leave(agenda, i, "the time was up");
      if (const double busy = others_busy(); busy > 0)
        return leave(
            agenda, i,
            fmt::format("other processes keep {:.1f} of {} busy", busy, counted(processors(), "processor")));
      run(agenda[i], end);
    }
  }

 private:
  std::size_t processors() const { return static_cast<std::size_t>(std::max(1, setup_.host.cores)); }
  void remark(std::string text) { done_.remarks.push_back(std::move(text)); }

  // --- what is to be measured

  std::vector<PlannedSession> plan() {
    std::vector<PlannedSession> agenda;
    for (const SuiteWorkload& workload : setup_.terms.suite.workloads) {
      const Recipe* recipe = setup_.catalogue.recipes.find(Kind::workload, workload.name);
      if (recipe == nullptr) {
        remark(fmt::format("not measured: there is no workload '{}' of the suite", workload.name));
        continue;
      }
      const MeasuredWorkload place{workload.name, workload.ranks, !workload.data.empty(),
                                   workload_sum(*recipe).hex(), setup_.host};
      MeasureAgenda of_workload = measure_agenda(candidates(workload, place), place);
      for (MeasureSession& session : of_workload.sessions) agenda.push_back({&workload, std::move(session)});
      for (const std::string& group : of_workload.no_stock)
        remark(fmt::format("not measured: {} in images of {}, which have no stock image here", workload.name,
                           group));
    }
    sort_by_need(agenda);
    return agenda;
  }

  std::vector<MeasureCandidate> candidates(const SuiteWorkload& workload, const MeasuredWorkload& place) {
    std::vector<MeasureCandidate> found;
    for (std::uint32_t number : chosen_images(workload)) {
      const ResolvedImage image = setup_.catalogue.plan.image(number);
      const auto entry = entries_.find(image.key());
      if (entry == entries_.end() || !runs_here(image, entry->second->image)) continue;
      const ImageRecord& record = entry->second->image;
      MeasureCandidate one;
      one.image = number;
      one.key = record.key;
      one.group = fmt::format("{} {}", record.repository, record.version.text());
      if (!record.accelerators.empty())
        one.group += fmt::format(" for {}", fmt::join(record.accelerators, ","));
      one.is_stock = is_stock(image.spec(), setup_.catalogue.recipes);
      one.claims = claims_gain(record);
      one.measurements = entry->second->measurements;
      if (const auto known = before_.find(image.id()); known != before_.end())
        remember(*known->second, place, one);
      found.push_back(std::move(one));
    }
    return found;
  }

  ImageNumbers chosen_images(const SuiteWorkload& workload) {
    try {
      return match_cells(setup_.catalogue.plan, {workload.cells, workload.exclude}).images;
    } catch (const Error& error) {
      remark(fmt::format("not measured: {}: {}", workload.name, without_controls(error.message())));
      return {};
    }
  }

  bool runs_here(const ResolvedImage& image, const ImageRecord& record) const {
    const Microarchitecture* target = setup_.cpus.find(record.cpu);
    const bool has_accelerators = record.accelerators.empty() || !setup_.host.accelerators.empty();
    return architecture_of(image) == setup_.architecture && (target == nullptr || cpu_.runs(*target)) &&
           has_accelerators && setup_.files.exists(setup_.state.step(image.spec().last_step().key));
  }

  // --- the runs

  // Of the processors of this machine; a job has a node to itself.
  double others_busy() const {
    if (setup_.in_jobs || setup_.terms.on_busy_machine) return 0;
    bool is_first = true;
    return busy_at_every_look([&] { return effects_.look(std::exchange(is_first, false)); },
                              static_cast<int>(processors()));
  }

  void run(const PlannedSession& planned, std::int64_t end) {
    const BenchWork work = work_of(*planned.workload, setup_.terms.on_busy_machine, end);
    const std::string what = text_of(planned);
    try {
      const ImageBenchDone bench = effects_.bench(work, planned.session.images);
      ++done_.sessions;
      add_remarks(bench.rows, what);
      if (!bench.errors.empty()) remark(what + ": the workload failed in some of them");
    } catch (const Error& error) {
      if (error.code() != ExitCode::images_failed && error.code() != ExitCode::no_match) throw;
      remark(fmt::format("not measured: {}: {}", what, first_line(error.message())));
    }
  }

  void add_remarks(const std::vector<BenchRow>& rows, const std::string& what) {
    int least = rows.empty() ? 0 : kProvingRounds;
    for (const BenchRow& row : rows) least = std::min(least, row.measurement.rounds);
    if (std::string text = rounds_remark(least, what); !text.empty()) remark(std::move(text));
  }

  void leave(const std::vector<PlannedSession>& agenda, std::size_t from, const std::string& why) {
    for (std::string& text : left_remarks(agenda, from, why)) remark(std::move(text));
  }

  const NightMeasurerSetup& setup_;
  const NightMeasurerEffects& effects_;
  const HostCpu cpu_;
  NightMeasuring& done_;
  std::map<std::string_view, const NightImage*> before_;   // by cell
  std::map<std::string_view, const IndexEntry*> entries_;  // by key
};

}  // namespace

void measure_tonight(const NightMeasurerSetup& setup, const NightMeasurerEffects& effects,
                     NightMeasuring& done) {
  NightMeasurer(setup, effects, done).run();
}

}  // namespace kiln
