#include "factory/app/benching.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <utility>

#include "factory/bench/session.h"
#include "factory/bench/workload_output.h"

namespace kiln {
namespace {

// "about 40 s", "about 12 min", "about 3 h".
std::string about(double seconds) {
  constexpr double kMinute = 60;
  constexpr double kHour = 3600;
  if (seconds < 2 * kMinute) return fmt::format("about {:.0f} s", seconds);
  if (seconds < 2 * kHour) return fmt::format("about {:.0f} min", seconds / kMinute);
  return fmt::format("about {:.0f} h", seconds / kHour);
}

// How far a comparison is, and how long the rest will take at the pace so far.
class Pace {
 public:
  Pace(std::size_t runs, std::size_t after, const Clock& clock)
      : runs_(runs), after_(after), clock_(clock), start_(clock.monotonic_seconds()) {}

  void skip() { ++number_; }
  void did_one() { ++done_; }

  std::string next(int round, int rounds) {
    ++number_;
    std::string text;
    if (rounds > 1) text = fmt::format("round {} of {}, ", round + 1, rounds);
    text += fmt::format("run {} of {}", number_, runs_);
    if (done_ == 0) return text;
    const double each = (clock_.monotonic_seconds() - start_) / static_cast<double>(done_);
    return text + ", " + about(each * static_cast<double>(runs_ - number_ + 1 + after_)) + " left";
  }

 private:
  std::size_t runs_;
  std::size_t after_;
  const Clock& clock_;
  double start_;
  std::size_t number_ = 0;
  std::size_t done_ = 0;
};

class Turns {
 public:
  Turns(const BenchWork& work, BegunComparison& begun, const TurnEffects& effects)
      : work_(work), begun_(begun), effects_(effects) {}

  TurnsDone run(std::vector<BenchRequest>& requests) {
    const std::vector<Turn> turns = interleaved(requests.size(), work_.rounds);
    Pace pace(turns.size(), work_.runs_after, effects_.clock);
    int round = 0;
    int ahead = 0;  // the first round that look_ahead() was not given
    for (const Turn& turn : turns) {
      if (turn.round != std::exchange(round, turn.round)) {
        record();
        if (turn.round >= ahead && is_late()) {
          done_.is_complete = false;
          return std::move(done_);
        }
      }
      if (effects_.ahead && turn.round >= ahead) {
        ahead = turn.round + effects_.rounds_ahead;
        look_ahead(turns, turn.round, ahead, requests);
      }
      BenchRequest& request = requests[turn.image];
      request.round = turn.round;
      const std::string& key = request.image.key;
      if (done_.failed.contains(key)) {
        pace.skip();
      } else if (const auto before = begun_.find(turn.round, key); !before.empty()) {
        pace.skip();
        need_units(before);
      } else {
        effects_.note(fmt::format("bench  {} in {}:{} ({})", work_.workload, request.image.repository,
                                  request.image.tag, pace.next(turn.round, work_.rounds)));
        run_one(request);
        pace.did_one();
      }
    }
    record();
    return std::move(done_);
  }

 private:
  bool is_late() const {
    return work_.no_round_after != 0 && effects_.clock.unix_seconds() >= work_.no_round_after;
  }

  void run_one(const BenchRequest& request) {
    try {
      const std::vector<BenchRun> runs = undisturbed(request);
      need_units(runs);
      begun_.add(runs);
    } catch (const Error& error) {
      if (error.code() != ExitCode::images_failed) throw;
      done_.errors.push_back(error);
      done_.failed.insert(request.image.key);
      for (BenchRun& run : begun_.forget(request.image.key)) gone_.push_back(std::move(run));
    }
    changed_ = true;
  }

  void record() {
    if (!std::exchange(changed_, false)) return;
    effects_.record(begun_.runs(), gone_);
    gone_.clear();
  }

  std::vector<BenchRun> undisturbed(const BenchRequest& request) const {
    return least_disturbed(
        [&] { return effects_.run(request); }, work_.repeats,
        [&](double busy) {
          effects_.note(fmt::format("bench  others kept {:.1f} processors busy: again", busy));
        });
  }

  // What is missing of the rounds from `first` to `last` - 1.
  void look_ahead(const std::vector<Turn>& turns, int first, int last,
                  const std::vector<BenchRequest>& requests) const {
    std::map<int, BenchRound> rounds;
    for (const Turn& turn : turns) {
      const BenchRequest& request = requests[turn.image];
      const bool is_open =
          !done_.failed.contains(request.image.key) && begun_.find(turn.round, request.image.key).empty();
      if (turn.round < first || turn.round >= last || !is_open) continue;
      rounds[turn.round].push_back(request);
      rounds[turn.round].back().round = turn.round;
    }
    std::vector<BenchRound> missing;
    for (auto& [number, round] : rounds) missing.push_back(std::move(round));
    if (!missing.empty()) effects_.ahead(missing);
  }

  void need_units(const std::vector<BenchRun>& runs) {
    for (const BenchRun& run : runs) {
      const std::string& unit = units_.emplace(run.workload, run.unit).first->second;
      if (run.unit == unit) continue;
      throw Error(ExitCode::images_failed,
                  fmt::format("the workload '{}' measured {} in {}, and {} before", run.workload, run.unit,
                              run.name, unit),
                  "speeds of two units do not compare");
    }
  }

  const BenchWork& work_;
  BegunComparison& begun_;
  const TurnEffects& effects_;
  TurnsDone done_;
  std::map<std::string, std::string> units_;  // by the workload, or its metric
  bool changed_ = true;                       // since the last record
  std::vector<BenchRun> gone_;                // of images that failed
};

}  // namespace

TurnsDone take_turns(const BenchWork& work, std::vector<BenchRequest>& requests, BegunComparison& begun,
                     const TurnEffects& effects) {
  return Turns(work, begun, effects).run(requests);
}

SpeedsByName known_speeds(const std::vector<Measurement>& history, const MeasuredWorkload& place,
                          const std::set<std::string>& left_out) {
  SpeedsByName latest;
  for (const Measurement& one : history)
    if (is_speed_of(one.workload, place.workload, place.ranks, place.with_data) &&
        one.host.model == place.host.model && one.host.cores == place.host.cores &&
        !left_out.contains(one.session) && (one.workload_files.empty() || one.workload_files == place.files))
      latest[one.workload] = one;
  return latest;
}

std::vector<BenchRow> rows_of(const BenchedImage& image, const std::vector<BenchRun>& counting,
                              const SpeedsByName& before) {
  std::map<std::string, std::vector<BenchRun>> fresh;
  for (const BenchRun& run : counting)
    if (run.key == image.key) fresh[speed_name(run)].push_back(run);
  SpeedsByName speeds;
  for (const auto& [speed, runs] : fresh) speeds.emplace(speed, measurement_of(runs));
  const bool is_fresh = !fresh.empty();
  if (!is_fresh) speeds = before;
  std::vector<BenchRow> rows;
  for (const std::string& name : image.names)
    for (const auto& [speed, measurement] : speeds)
      rows.push_back(
          {name, measurement, is_fresh, is_fresh ? fresh.at(speed) : std::vector<BenchRun>(), image.history});
  return rows;
}

std::vector<std::optional<GainOver>> gains_of(const std::vector<BenchRow>& rows) {
  std::map<std::string, const BenchRow*> first;
  for (bool fresh : {true, false})
    for (const BenchRow& row : rows)
      if (row.fresh == fresh) first.emplace(row.measurement.workload, &row);
  std::vector<std::optional<GainOver>> found;
  for (const BenchRow& row : rows) {
    const BenchRow& over = *first.at(row.measurement.workload);
    found.push_back(row.measurement.key == over.measurement.key
                        ? std::nullopt
                        : gain_over(row.history, over.history, row.measurement));
  }
  return found;
}

std::string doubts_of(const BenchRow& row) {
  std::set<std::string> marks;
  for (const BenchRun& run : row.runs) marks.insert(run.conditions.marks.begin(), run.conditions.marks.end());
  const std::string doubt = doubt_about(row.measurement);
  return doubt + (doubt.empty() || marks.empty() ? "" : "; ") + fmt::format("{}", fmt::join(marks, ", "));
}

}  // namespace kiln
