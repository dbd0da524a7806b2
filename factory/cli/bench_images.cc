#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "factory/base/text.h"
#include "factory/bench/session.h"
#include "factory/cli/bench.h"
#include "factory/cli/print.h"
#include "factory/cli/ready_workload.h"
#include "factory/engine/architecture.h"
#include "factory/record/host.h"
#include "factory/run/kept_runs.h"

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

  std::string next(int round, int rounds) {
    ++number_;
    std::string text;
    if (rounds > 1) text = fmt::format("round {} of {}, ", round + 1, rounds);
    text += fmt::format("run {} of {}", number_, runs_);
    if (done_ == 0) return text;
    const double each = (clock_.monotonic_seconds() - start_) / static_cast<double>(done_);
    return text + ", " + about(each * static_cast<double>(runs_ - number_ + 1 + after_)) + " left";
  }

  void did_one() { ++done_; }

 private:
  std::size_t runs_;
  std::size_t after_;
  const Clock& clock_;
  double start_;
  std::size_t number_ = 0;
  std::size_t done_ = 0;
};

}  // namespace

ImageBench::ImageBench(const Catalogue& catalogue, const StepSetup& setup, Index& index,
                       Invocation& invocation)
    : catalogue_(catalogue),
      setup_(setup),
      records_(index),
      invocation_(invocation),
      host_(detect_host(invocation.files, invocation.cpus())) {
  host_.features.clear();  // a hundred words beside each run, which compares by model and name
}

std::vector<ImageBench::Candidate> ImageBench::candidates(const ImageNumbers& images) const {
  std::vector<Candidate> found;
  std::map<std::string, std::size_t> places;  // by the bits
  std::string unpublished;
  for (std::uint32_t number : images) {
    const std::string architecture = architecture_of(catalogue_.plan.image(number));
    ImageSpec image = catalogue_.plan.image(number).spec();
    const std::string name = image.repository + ":" + image.tag;
    if (architecture != own_architecture()) {
      invocation_.note(fmt::format("bench  {} {}: passed over, as it would run in an emulator", name,
                                   why_not_here(architecture)));
      continue;
    }
    if (records_.find(image.key) == nullptr) {
      invocation_.note(fmt::format("bench  {}: passed over, as it is not in the index", name));
      if (unpublished.empty()) unpublished = name;
      continue;
    }
    auto [place, is_new] = places.emplace(image.key, found.size());
    if (is_new) found.push_back({std::move(image), {}});
    found[place->second].names.push_back(name);
  }
  if (found.empty() && !unpublished.empty())
    throw Error(ExitCode::no_match, unpublished + " is not in the index",
                "run `kiln build` and `kiln publish` first");
  if (found.empty() && !images.empty())
    throw Error(ExitCode::no_match, "none of the images is for machines such as this one",
                "speeds are measured where the images shall run");
  return found;
}

namespace {

// The runs of one workload in several images.
class InterleavedRuns {
 public:
  InterleavedRuns(const BenchWork& work, const StepSetup& setup, Invocation& invocation)
      : work_(work), setup_(setup), invocation_(invocation) {}

  // `requests`: one for each image, without its round. `begun` has what is done already. The figures of each
  // round are recorded at its end, so that a kill in the next one leaves them.
  // False: rounds are left, as work's end has come.
  bool run(std::vector<BenchRequest>& requests, BegunComparison& begun, SessionRecords& records) {
    const std::vector<Turn> turns = interleaved(requests.size(), work_.rounds);
    Pace pace(turns.size(), work_.runs_after, setup_.clock);
    int round = 0;
    for (const Turn& turn : turns) {
      if (turn.round != std::exchange(round, turn.round)) {
        put(begun, records);
        if (is_late()) return false;
      }
      BenchRequest& request = requests[turn.image];
      request.round = turn.round;
      const std::string& key = request.image.key;
      if (failed_.contains(key)) {
        pace.skip();
      } else if (const auto done = begun.find(turn.round, key); !done.empty()) {
        pace.skip();
        need_units(done);
      } else {
        note(request, pace.next(turn.round, work_.rounds));
        run_one(request, begun);
        pace.did_one();
      }
    }
    put(begun, records);
    return true;
  }

  bool failed(const std::string& key) const { return failed_.contains(key); }
  const std::vector<Error>& errors() const { return errors_; }

 private:
  bool is_late() const {
    return work_.no_round_after != 0 && setup_.clock.unix_seconds() >= work_.no_round_after;
  }

  static std::string name_of(const BenchRequest& request) {
    return request.image.repository + ":" + request.image.tag;
  }

  void note(const BenchRequest& request, const std::string& how_far) const {
    invocation_.note(fmt::format("bench  {} in {} ({})", work_.workload, name_of(request), how_far));
  }

  void run_one(const BenchRequest& request, BegunComparison& begun) {
    try {
      const std::vector<BenchRun> runs = undisturbed(request);
      need_units(runs);
      begun.add(runs);
      changed_ = true;
    } catch (const Error& error) {
      if (error.code() != ExitCode::images_failed) throw;
      errors_.push_back(error);
      failed_.insert(request.image.key);
      for (BenchRun& run : begun.forget(request.image.key)) gone_.push_back(std::move(run));
      changed_ = true;
    }
  }

  void put(const BegunComparison& begun, SessionRecords& records) {
    if (!std::exchange(changed_, false)) return;
    records.put(begun.runs(), gone_);
    gone_.clear();
  }

  // Of several, the one that others disturbed least: that says nothing of how fast it was.
  std::vector<BenchRun> undisturbed(const BenchRequest& request) const {
    std::vector<BenchRun> best = run_workload(request, setup_);
    auto busy = [](const std::vector<BenchRun>& runs) { return runs.front().conditions.busy; };
    for (int again = 0; again < work_.repeats && was_disturbed(best.front()); ++again) {
      invocation_.note(fmt::format("bench  others kept {:.1f} processors busy: again", busy(best)));
      std::vector<BenchRun> runs = run_workload(request, setup_);
      if (busy(runs) < busy(best)) best = std::move(runs);
    }
    return best;
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
  const StepSetup& setup_;
  Invocation& invocation_;
  std::map<std::string, std::string> units_;  // by the workload, or its metric
  bool changed_ = true;                       // since the last record
  std::vector<BenchRun> gone_;                // of images that failed
  std::set<std::string> failed_;
  std::vector<Error> errors_;
};

// All that makes two commands one comparison. The number of rounds is not part of it: a command that asks for
// fewer or more goes on with those that are done.
Json identity(const BenchWork& work, const ReadyWorkload& workload, const HostDescription& host,
              const std::vector<std::string>& keys) {
  return {{"workload", workload.recipe.name},
          {"files", workload.sum().hex()},
          {"images", keys},
          {"steps", work.wishes.steps},
          {"ranks", work.wishes.ranks},
          {"data", work.wishes.data.string()},
          {"again", work.again},
          {"host", {{"cpu", host.cpu}, {"model", host.model}, {"cores", host.cores}}}};
}

}  // namespace

struct ImageBench::Session {
  std::string id;
  std::string files;
  const Recipe& recipe;              // its files are laid out
  std::set<std::string> unfinished;  // sessions that were interrupted
};

std::vector<BenchRow> ImageBench::run(const BenchWork& work, const ImageNumbers& images) {
  const ReadyWorkload workload(catalogue_.recipes, work.workload, invocation_.files);
  if (!work.wishes.data.empty() && !invocation_.files.exists(work.wishes.data))
    invocation_.need_file(work.wishes.data);
  const std::vector<Candidate> all = candidates(images);
  std::vector<std::string> keys;
  for (const Candidate& one : all) keys.push_back(one.image.key);
  KeptRuns kept(setup_.state, setup_.files);
  const Json what = identity(work, workload, host_, keys);
  BegunComparison begun(what, kept, setup_.state, setup_.files);
  if (begun.done() > 0)
    invocation_.note(fmt::format("bench  goes on: {} {} done before", counted(begun.done(), "run"),
                                 begun.done() == 1 ? "was" : "were"));
  Session session{begun.session(), workload.sum().hex(), workload.recipe,
                  unfinished_sessions(kept, setup_.state, setup_.files)};
  if (session.id.empty())
    session.id = rfc3339(setup_.clock.unix_seconds()) + "-" + Digest::of(what.dump()).hex().substr(0, 8);
  std::vector<BenchRequest> requests = requests_of(all, work, session);
  if (!requests.empty() && requests.size() < all.size())
    invocation_.note("bench  some were measured before, not in turns with these; --again measures all");
  InterleavedRuns runs(work, setup_, invocation_);
  const bool is_complete = requests.empty() || runs.run(requests, begun, records_);
  const std::vector<BenchRun> counting = runs_that_count(begun.runs());
  std::vector<BenchRow> rows;
  for (const Candidate& one : all) {
    const auto before = runs.failed(one.image.key) ? SpeedsByName() : known_before(one, work, session);
    for (BenchRow& row : rows_of(one, counting, before)) rows.push_back(std::move(row));
  }
  if (is_complete) begun.end();
  if (rows.empty() && runs.errors().size() == 1) throw runs.errors().front();
  for (const Error& error : runs.errors()) tell(error.format());
  if (!runs.errors().empty()) invocation_.exit_code = ExitCode::images_failed;
  return rows;
}

std::vector<BenchRequest> ImageBench::requests_of(const std::vector<Candidate>& all, const BenchWork& work,
                                                  const Session& session) const {
  std::vector<BenchRequest> requests;
  const std::string by = measured_by(catalogue_.recipes, invocation_);
  bool has_known = false;
  for (const Candidate& one : all) {
    const bool known = !known_before(one, work, session).empty();
    has_known = has_known || known;
    if (known || !has_layers(one)) continue;
    requests.push_back({one.image, records_.find(one.image.key)->image.manifest, session.recipe, work.wishes,
                        is_stock(one.image, catalogue_.recipes), host_, by, 0, place_name(requests.size()),
                        session.id, session.files});
  }
  if (requests.empty() && !has_known && !all.empty())
    throw Error(ExitCode::no_match, all.front().names.front() + " is not built in this state folder",
                "run `kiln build` first");
  return requests;
}

bool ImageBench::has_layers(const Candidate& one) const {
  if (setup_.files.exists(setup_.state.step(one.image.last_step().key))) return true;
  invocation_.note(
      fmt::format("bench  {}: passed over, as it is not built in this state folder", one.names.front()));
  return false;
}

SpeedsByName ImageBench::known_before(const Candidate& one, const BenchWork& work,
                                      const Session& session) const {
  SpeedsByName latest;
  if (work.again) return latest;
  for (const Measurement& measurement : records_.find(one.image.key)->measurements) {
    const bool is_of_version =
        measurement.workload_files.empty() || measurement.workload_files == session.files;
    if (is_speed_of(measurement.workload, work.workload, work.wishes.ranks, !work.wishes.data.empty()) &&
        measurement.host.model == host_.model && measurement.host.cores == host_.cores &&
        measurement.session != session.id && !session.unfinished.contains(measurement.session) &&
        is_of_version)
      latest[measurement.workload] = measurement;
  }
  return latest;
}

std::vector<BenchRow> ImageBench::rows_of(const Candidate& one, const std::vector<BenchRun>& counting,
                                          const SpeedsByName& before) const {
  std::map<std::string, std::vector<BenchRun>> fresh;
  for (const BenchRun& run : counting)
    if (run.key == one.image.key) fresh[speed_name(run)].push_back(run);
  SpeedsByName speeds;
  for (const auto& [speed, runs] : fresh) speeds.emplace(speed, measurement_of(runs));
  const bool is_fresh = !fresh.empty();
  if (!is_fresh) speeds = before;
  std::vector<BenchRow> rows;
  for (const std::string& name : one.names)
    for (const auto& [speed, measurement] : speeds)
      rows.push_back({name, measurement, is_fresh, is_fresh ? fresh.at(speed) : std::vector<BenchRun>(),
                      records_.find(one.image.key)->measurements});
  return rows;
}

}  // namespace kiln
