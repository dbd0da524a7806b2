#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "factory/app/night_agenda.h"
#include "factory/base/text.h"
#include "factory/bench/conditions.h"
#include "factory/cli/bench.h"
#include "factory/cli/night_work.h"
#include "factory/engine/architecture.h"
#include "factory/oci/registry_call.h"
#include "factory/plan/cell_patterns.h"
#include "registry/select/cpu_code.h"
#include "registry/select/gain.h"

namespace kiln {
namespace {

constexpr std::chrono::seconds kLook{1}, kBetweenLooks{2};

class NightMeasurer {
 public:
  NightMeasurer(const Catalogue& catalogue, const MeasureTerms& terms, const std::vector<NightImage>& before,
                const Site& site, MeasuringPlace& place, Invocation& invocation, NightMeasuring& done)
      : catalogue_(catalogue),
        terms_(terms),
        invocation_(invocation),
        state_(invocation.state()),
        setup_(invocation.step_setup(site, state_)),
        index_(invocation.index(Index::Mode::write)),
        in_jobs_(place.in_jobs()),
        bench_(catalogue, setup_, index_, place, invocation),
        cpu_(bench_.host(), invocation.cpus()),
        done_(done) {
    for (const NightImage& image : before) before_.emplace(image.cell, &image);
    for (IndexEntry& entry : index_.entries()) entries_.emplace(entry.image.key, std::move(entry));
  }

  void run() {
    const std::int64_t end =
        terms_.budget.count() == 0 ? 0 : setup_.clock.unix_seconds() + terms_.budget.count();
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
  std::size_t processors() const { return static_cast<std::size_t>(std::max(1, bench_.host().cores)); }

  // --- what is to be measured

  std::vector<PlannedSession> plan() {
    std::vector<PlannedSession> agenda;
    for (const SuiteWorkload& workload : terms_.suite.workloads) {
      const Recipe* recipe = catalogue_.recipes.find(Kind::workload, workload.name);
      if (recipe == nullptr) {
        done_.remarks.push_back(
            fmt::format("not measured: there is no workload '{}' of the suite", workload.name));
        continue;
      }
      const MeasuredWorkload place{workload.name, workload.ranks, !workload.data.empty(),
                                   workload_sum(*recipe).hex(), bench_.host()};
      MeasureAgenda of_workload = measure_agenda(candidates(workload, place), place);
      for (MeasureSession& session : of_workload.sessions) agenda.push_back({&workload, std::move(session)});
      for (const std::string& group : of_workload.no_stock)
        done_.remarks.push_back(fmt::format(
            "not measured: {} in images of {}, which have no stock image here", workload.name, group));
    }
    sort_by_need(agenda);
    return agenda;
  }

  std::vector<MeasureCandidate> candidates(const SuiteWorkload& workload, const MeasuredWorkload& place) {
    std::vector<MeasureCandidate> found;
    for (std::uint32_t number : chosen_images(workload)) {
      const ResolvedImage image = catalogue_.plan.image(number);
      const auto entry = entries_.find(image.key());
      if (entry == entries_.end() || !runs_here(image, entry->second.image)) continue;
      const ImageRecord& record = entry->second.image;
      MeasureCandidate one;
      one.image = number;
      one.key = record.key;
      one.group = fmt::format("{} {}", record.repository, record.version.text());
      if (!record.accelerators.empty())
        one.group += fmt::format(" for {}", fmt::join(record.accelerators, ","));
      one.is_stock = is_stock(image.spec(), catalogue_.recipes);
      one.claims = claims_gain(record);
      one.measurements = entry->second.measurements;
      if (const auto known = before_.find(image.id()); known != before_.end())
        remember(*known->second, place, one);
      found.push_back(std::move(one));
    }
    return found;
  }

  ImageNumbers chosen_images(const SuiteWorkload& workload) {
    try {
      return match_cells(catalogue_.plan, {workload.cells, workload.exclude}).images;
    } catch (const Error& error) {
      done_.remarks.push_back(
          fmt::format("not measured: {}: {}", workload.name, without_controls(error.message())));
      return {};
    }
  }

  bool runs_here(const ResolvedImage& image, const ImageRecord& record) const {
    const Microarchitecture* target = invocation_.cpus().find(record.cpu);
    const bool has_accelerators = record.accelerators.empty() || !bench_.host().accelerators.empty();
    return architecture_of(image) == own_architecture() && (target == nullptr || cpu_.runs(*target)) &&
           has_accelerators && setup_.files.exists(state_.step(image.spec().last_step().key));
  }

  // --- the machine

  // Of the processors of this machine; a job has a node to itself.
  double others_busy() {
    if (in_jobs_ || terms_.on_busy_machine) return 0;
    bool is_first = true;
    const auto look = [&] {
      if (!std::exchange(is_first, false)) wait_unless_interrupted(kBetweenLooks);
      const std::string before = setup_.files.read("/proc/stat").value_or("");
      wait_unless_interrupted(kLook);
      return processor_use(before, setup_.files.read("/proc/stat").value_or("")).busy;
    };
    return busy_at_every_look(look, static_cast<int>(processors()));
  }

  // --- the runs

  void run(const PlannedSession& planned, std::int64_t end) {
    const SuiteWorkload& workload = *planned.workload;
    BenchWork work;
    work.workload = workload.name;
    work.wishes = {workload.steps, workload.ranks, workload.data};
    work.rounds = std::max(kProvingRounds, workload.rounds);
    work.again = true;  // the stock image takes its turns, too
    if (terms_.on_busy_machine) work.repeats = 0;
    work.no_round_after = end;
    const std::string what = text_of(planned);
    invocation_.exit_code = ExitCode::ok;
    try {
      const std::vector<BenchRow> rows = bench_.run(work, planned.session.images);
      ++done_.sessions;
      add_remarks(rows, what);
    } catch (const Error& error) {
      if (error.code() != ExitCode::images_failed && error.code() != ExitCode::no_match) throw;
      done_.remarks.push_back(fmt::format("not measured: {}: {}", what, first_line(error.message())));
    }
    if (invocation_.exit_code == ExitCode::images_failed)
      done_.remarks.push_back(fmt::format("{}: the workload failed in some of them", what));
    invocation_.exit_code = ExitCode::ok;
  }

  static std::string first_line(const std::string& text) {
    return without_controls(text.substr(0, text.find('\n')));
  }

  void add_remarks(const std::vector<BenchRow>& rows, const std::string& what) {
    int least = rows.empty() ? 0 : kProvingRounds;
    for (const BenchRow& row : rows) least = std::min(least, row.measurement.rounds);
    if (std::string remark = rounds_remark(least, what); !remark.empty())
      done_.remarks.push_back(std::move(remark));
  }

  void leave(const std::vector<PlannedSession>& agenda, std::size_t from, const std::string& why) {
    for (std::string& remark : left_remarks(agenda, from, why)) done_.remarks.push_back(std::move(remark));
  }

  const Catalogue& catalogue_;
  const MeasureTerms& terms_;
  Invocation& invocation_;
  const StatePaths state_;
  const StepSetup setup_;
  Index index_;
  bool in_jobs_;
  ImageBench bench_;
  const HostCpu cpu_;
  NightMeasuring& done_;
  std::map<std::string_view, const NightImage*> before_;  // by cell
  std::map<std::string, IndexEntry> entries_;             // by key
};

}  // namespace

void measure_for_night(const Catalogue& catalogue, const MeasureTerms& terms,
                       const std::vector<NightImage>& before, const Site& site, Invocation& invocation,
                       NightMeasuring& done) {
  MeasuringPlace place(site, {}, "bench", invocation);
  try {
    place.machine();
  } catch (const Error& error) {
    if (error.code() != ExitCode::images_failed) throw;
    done.remarks.push_back("not measured: " + without_controls(error.message()));
    return;
  }
  NightMeasurer(catalogue, terms, before, site, place, invocation, done).run();
}

}  // namespace kiln
