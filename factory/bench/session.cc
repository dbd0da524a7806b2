#include "factory/bench/session.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "factory/base/median.h"
#include "factory/bench/statistics.h"

namespace kiln {
namespace {

constexpr std::size_t kLeastQuietRounds = 2;

using Pointers = std::vector<const BenchRun*>;
using Rounds = std::map<int, Pointers>;

std::string host_name(const HostDescription& host) {
  std::vector<std::string> accelerators = host.accelerators;
  std::ranges::sort(accelerators);
  return fmt::format("{} x {}{}{}", host.model.empty() ? host.cpu : host.model, host.cores,
                     accelerators.empty() ? "" : ", ", fmt::join(accelerators, ", "));
}

bool later(const BenchRun& a, const BenchRun& b) { return a.taken > b.taken; }

// Repetitions of an old comparison on the same day: only ours have a place.
void keep_last_of_turns(Rounds& rounds) {
  for (auto& [round, runs] : rounds) {
    std::map<std::string, const BenchRun*> last;
    Pointers kept;
    for (const BenchRun* run : runs) {
      if (run->place.empty()) {
        kept.push_back(run);
        continue;
      }
      const BenchRun*& held = last[image_id(*run)];
      if (held == nullptr || later(*run, *held)) held = run;
    }
    for (const auto& [id, run] : last) kept.push_back(run);
    runs = std::move(kept);
  }
}

void keep_complete(Rounds& rounds) {
  auto ids_of = [](const Pointers& runs) {
    std::set<std::string> ids;
    for (const BenchRun* run : runs) ids.insert(image_id(*run));
    return ids;
  };
  std::set<std::string> all;
  for (const auto& [round, runs] : rounds) all.merge(ids_of(runs));
  std::erase_if(rounds, [&](const auto& round) { return ids_of(round.second).size() < all.size(); });
}

// The choice goes by what the machine did, and never by how fast a run was.
void keep_quiet(Rounds& rounds) {
  auto disturbed = [](const auto& round) {
    return std::ranges::any_of(round.second, [](const BenchRun* run) { return was_disturbed(*run); });
  };
  const auto loud = static_cast<std::size_t>(std::ranges::count_if(rounds, disturbed));
  if (rounds.size() - loud >= kLeastQuietRounds) std::erase_if(rounds, disturbed);
}

// The bootstrap draws from its first argument first, so one order for both directions.
bool stands_first(const std::vector<BenchRun>& a, const std::vector<BenchRun>& b) {
  auto order = [](const std::vector<BenchRun>& runs) {
    return std::tuple(image_id(runs.front()), session_of(runs.front()));
  };
  return order(a) < order(b);
}

MeasuredGain computed_gain(const std::vector<BenchRun>& runs, const std::vector<BenchRun>& over) {
  const Comparison found =
      compare_runs(steady_runs(over), steady_runs(runs), more_is_better(runs.front().unit));
  return {over.front().key, found.ratio, found.low, found.high};
}

using ImageRuns = std::map<std::string, std::vector<BenchRun>>;  // of one session, by image_id()

bool is_stock_of(const BenchRun& stock, const BenchRun& run) {
  return stock.stock && stock.axes.framework == run.axes.framework &&
         stock.axes.version == run.axes.version && stock.axes.accelerator == run.axes.accelerator;
}

// The fastest of several: that is what an optimised image has to beat.
const std::vector<BenchRun>* stock_of(const BenchRun& run, const ImageRuns& images) {
  const std::vector<BenchRun>* best = nullptr;
  if (run.stock) return best;
  double best_median = 0;
  for (const auto& [id, runs] : images) {
    if (!is_stock_of(runs.back(), run)) continue;
    const double median = measurement_of(runs).median;
    const bool faster = more_is_better(run.unit) ? median > best_median : median < best_median;
    if (best != nullptr && !faster) continue;
    best = &runs;
    best_median = median;
  }
  return best;
}

}  // namespace

SessionName session_of(const BenchRun& run) {
  return {run.session.empty() ? run.taken.substr(0, 10) + " " + run.kiln : run.session, speed_name(run),
          run.unit, host_name(run.host), run.workload_files};
}

std::string image_id(const BenchRun& run) {
  if (!run.key.empty()) return run.key;
  if (!run.name.empty()) return run.name;
  const RunAxes& axes = run.axes;
  return fmt::format("{} {} {} {} {} {} {}", axes.framework, axes.version, axes.method, axes.target,
                     axes.accelerator, fmt::join(axes.compilers, "+"), fmt::join(axes.libraries, "+"));
}

std::vector<std::vector<double>> steady_runs(const std::vector<BenchRun>& runs) {
  std::vector<std::vector<double>> steady;
  for (const BenchRun& run : runs) steady.emplace_back(run.steady().begin(), run.steady().end());
  return steady;
}

std::vector<BenchRun> runs_that_count(const std::vector<BenchRun>& runs) {
  std::map<SessionName, Rounds> sessions;
  for (const BenchRun& run : runs) sessions[session_of(run)][run.round].push_back(&run);
  std::set<const BenchRun*> counting;
  for (auto& [name, rounds] : sessions) {
    keep_last_of_turns(rounds);
    if (!rounds.begin()->second.front()->session.empty()) keep_complete(rounds);
    keep_quiet(rounds);
    for (const auto& [round, its_runs] : rounds) counting.insert(its_runs.begin(), its_runs.end());
  }
  std::vector<BenchRun> found;
  for (const BenchRun& run : runs)
    if (counting.contains(&run)) found.push_back(run);
  return found;
}

std::vector<SessionRuns> by_session(const std::vector<BenchRun>& runs) {
  std::map<SessionName, std::vector<BenchRun>> sessions;
  for (const BenchRun& run : runs) sessions[session_of(run)].push_back(run);
  std::vector<SessionRuns> found;
  for (auto& [name, its_runs] : sessions) {
    std::ranges::stable_sort(its_runs, [](const BenchRun& a, const BenchRun& b) { return later(b, a); });
    found.push_back({name, std::move(its_runs)});
  }
  std::ranges::stable_sort(
      found, [](const SessionRuns& a, const SessionRuns& b) { return later(b.runs.back(), a.runs.back()); });
  return found;
}

MeasuredGain gain_of(const std::vector<BenchRun>& runs, const std::vector<BenchRun>& over) {
  if (stands_first(over, runs)) return computed_gain(runs, over);
  return inverse(computed_gain(over, runs), over.front().key);
}

SharedSession shared_session(const std::vector<SessionRuns>& image, const std::vector<SessionRuns>& over) {
  for (auto last = image.rbegin(); last != image.rend(); ++last)
    for (const SessionRuns& other : over)
      if (other.session == last->session) return {&*last, &other};
  return {};
}

Measurement measurement_of(const std::vector<BenchRun>& runs) {
  std::vector<double> steady, medians;
  std::set<int> rounds;
  Measurement measurement;
  for (const BenchRun& run : runs) {
    steady.insert(steady.end(), run.steady().begin(), run.steady().end());
    medians.push_back(median_of({run.steady().begin(), run.steady().end()}));
    rounds.insert(run.round);
    measurement.busy = std::max(measurement.busy, run.conditions.busy);
    measurement.taken = std::max(measurement.taken, run.taken);
  }
  const BenchRun& last = runs.back();
  const SessionName session = session_of(last);
  const Summary summary = summarise(steady);
  measurement.image = last.image;
  measurement.key = last.key;
  measurement.workload = session.workload;
  measurement.unit = last.unit;
  measurement.median = median_of(medians);
  // Few starts that differ much may have their median outside of the quartiles of all samples.
  measurement.low = std::min(summary.low, measurement.median);
  measurement.high = std::max(summary.high, measurement.median);
  measurement.samples = static_cast<int>(steady.size());
  measurement.host = last.host;
  measurement.stock = last.stock;
  measurement.session = session.id;
  measurement.workload_files = session.files;
  measurement.rounds = static_cast<int>(rounds.size());
  return measurement;
}

std::vector<Measurement> measurements_of(const std::vector<BenchRun>& kept) {
  std::map<SessionName, ImageRuns> sessions;
  for (BenchRun& run : runs_that_count(kept))
    sessions[session_of(run)][image_id(run)].push_back(std::move(run));
  std::vector<Measurement> measurements;
  for (const auto& [name, images] : sessions)
    for (auto image = images.begin(); image != images.end(); ++image) {
      measurements.push_back(measurement_of(image->second));
      for (auto over = images.begin(); over != image; ++over)
        measurements.back().gains.push_back(gain_of(image->second, over->second));
      if (const std::vector<BenchRun>* stock = stock_of(image->second.back(), images))
        measurements.back().over_stock = gain_of(image->second, *stock);
    }
  return measurements;
}

}  // namespace kiln
