#include "factory/cli/bench_images.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <set>

#include "factory/base/text.h"
#include "factory/cli/print.h"
#include "factory/cli/temporary_folder.h"
#include "factory/engine/architecture.h"
#include "factory/record/host.h"
#include "factory/run/kept_runs.h"
#include "factory/sbom/recipe_origin.h"

namespace kiln {
namespace {

// The latest on this host.
const Measurement* known(const IndexEntry& entry, const std::string& workload, const HostDescription& host) {
  const Measurement* latest = nullptr;
  for (const Measurement& measurement : entry.measurements)
    if (measurement.workload == workload && measurement.host.model == host.model &&
        measurement.host.cores == host.cores)
      latest = &measurement;
  return latest;
}

// A workload with its files laid out, ready to be mounted.
struct ReadyWorkload {
  ReadyWorkload(const RecipeBook& recipes, const std::string& name, FileSystem& files) {
    const Recipe* found = recipes.find(Kind::workload, name);
    if (found == nullptr)
      throw Error(ExitCode::usage, "there is no workload '" + name + "'",
                  did_you_mean(name, recipes.names(Kind::workload)));
    recipe = *found;
    for (const auto& [path, file] : recipe.files) files.write_output(folder.path() / path, file.bytes);
    recipe.folder = folder.path();
  }

  Digest sum() const {
    Hasher hasher;
    for (const auto& [path, file] : recipe.files) hasher.update(path + "\n" + Digest::of(file.bytes).hex());
    return hasher.finish();
  }

  TemporaryFolder folder;  // of the workload's files, shared ones among them
  Recipe recipe;
};

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
      index_(index),
      invocation_(invocation),
      host_(detect_host(invocation.files, invocation.cpus())) {
  host_.features.clear();  // a hundred words beside each measurement, which compares by model and name
  for (IndexEntry& entry : index.entries()) published_.emplace(entry.image.key, std::move(entry));
}

std::vector<ImageBench::Candidate> ImageBench::candidates(const ImageNumbers& images) const {
  std::vector<Candidate> found;
  std::map<std::string, std::size_t> places;  // by the bits
  for (std::uint32_t number : images) {
    const std::string architecture = architecture_of(catalogue_.plan.image(number));
    ImageSpec image = catalogue_.plan.image(number).spec();
    const std::string name = image.repository + ":" + image.tag;
    if (architecture != own_architecture()) {
      invocation_.note(fmt::format("bench  {} {}: passed over, as an emulator's speed is nobody's", name,
                                   why_not_here(architecture)));
      continue;
    }
    if (!published_.contains(image.key))
      throw Error(ExitCode::no_match, name + " is not in the index",
                  "run `kiln build` and `kiln publish` first");
    auto [place, is_new] = places.emplace(image.key, found.size());
    if (is_new) found.push_back({std::move(image), {}});
    found[place->second].names.push_back(name);
  }
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

  // `requests`: one for each image, without its round. `begun` has what is done already.
  void run(std::vector<BenchRequest>& requests, BegunComparison& begun) {
    const std::vector<Turn> turns = interleaved(requests.size(), work_.rounds);
    Pace pace(turns.size(), work_.runs_after, setup_.clock);
    for (const Turn& turn : turns) {
      BenchRequest& request = requests[turn.image];
      request.round = turn.round;
      const std::string& key = request.image.key;
      if (failed_.contains(key)) {
        pace.skip();
      } else if (auto done = begun.find(turn.round, key)) {
        pace.skip();
        add(*std::move(done));
      } else {
        note(request, pace.next(turn.round, work_.rounds));
        run_one(request, begun);
        pace.did_one();
      }
    }
  }

  const std::vector<BenchRun>* runs_of(const std::string& key) const {
    auto found = runs_.find(key);
    return found == runs_.end() ? nullptr : &found->second;
  }
  const std::vector<Error>& errors() const { return errors_; }

 private:
  static std::string name_of(const BenchRequest& request) {
    return request.image.repository + ":" + request.image.tag;
  }

  void note(const BenchRequest& request, const std::string& how_far) const {
    invocation_.note(fmt::format("bench  {} in {} ({})", work_.workload, name_of(request), how_far));
  }

  void run_one(const BenchRequest& request, BegunComparison& begun) {
    try {
      BenchRun run = undisturbed(request);
      need_unit(run);
      begun.add(run);
      add(std::move(run));
    } catch (const Error& error) {
      if (error.code() != ExitCode::images_failed) throw;
      errors_.push_back(error);
      failed_.insert(request.image.key);
      runs_.erase(request.image.key);
      begun.forget(request.image.key);
    }
  }

  // Of several, the one that others disturbed least: that says nothing of how fast it was.
  BenchRun undisturbed(const BenchRequest& request) const {
    BenchRun best = run_workload(request, setup_);
    for (int again = 0; again < work_.repeats && was_disturbed(best); ++again) {
      invocation_.note(fmt::format("bench  others kept {:.1f} processors busy: again", best.conditions.busy));
      BenchRun run = run_workload(request, setup_);
      if (run.conditions.busy < best.conditions.busy) best = std::move(run);
    }
    return best;
  }

  void need_unit(const BenchRun& run) {
    if (unit_.empty()) unit_ = run.unit;
    if (run.unit == unit_) return;
    throw Error(ExitCode::images_failed,
                fmt::format("the workload '{}' measured {} in {}, and {} before", run.workload, run.unit,
                            run.name, unit_),
                "speeds of two units do not compare");
  }

  void add(BenchRun run) {
    if (unit_.empty()) unit_ = run.unit;
    runs_[run.key].push_back(std::move(run));
  }

  const BenchWork& work_;
  const StepSetup& setup_;
  Invocation& invocation_;
  std::string unit_;
  std::map<std::string, std::vector<BenchRun>> runs_;  // by the bits
  std::set<std::string> failed_;
  std::vector<Error> errors_;
};

// All that makes two commands one comparison.
Json identity(const BenchWork& work, const ReadyWorkload& workload, const HostDescription& host,
              const std::vector<std::string>& keys) {
  return {{"workload", workload.recipe.name},
          {"files", workload.sum().hex()},
          {"images", keys},
          {"rounds", work.rounds},
          {"steps", work.wishes.steps},
          {"ranks", work.wishes.ranks},
          {"data", work.wishes.data.string()},
          {"again", work.again},
          {"host", {{"cpu", host.cpu}, {"model", host.model}, {"cores", host.cores}}}};
}

// Who measured: our version, and the commit that recipes and workloads are of ("with changes" where they
// differ from it), where git knows. Figures without it cannot be made again.
std::string measured_by(const RecipeBook& recipes, Invocation& invocation) {
  std::string by = KILN_VERSION;
  const auto origin = sbom::find_origin(recipes, invocation.runner, invocation.child_environment());
  for (const sbom::RecipeRepository& repository : origin.repositories)
    by += fmt::format(", recipes of {}{}", repository.commit.substr(0, 12),
                      repository.modified ? " with changes" : "");
  return by;
}

}  // namespace

std::vector<BenchRow> ImageBench::run(const BenchWork& work, const ImageNumbers& images) {
  const ReadyWorkload workload(catalogue_.recipes, work.workload, invocation_.files);
  if (!work.wishes.data.empty() && !invocation_.files.exists(work.wishes.data))
    invocation_.need_file(work.wishes.data);
  const std::vector<Candidate> all = candidates(images);
  std::vector<std::string> keys;
  std::vector<BenchRequest> requests;
  const std::string by = measured_by(catalogue_.recipes, invocation_);
  for (const Candidate& one : all) {
    keys.push_back(one.image.key);
    if (known_before(one, work) != nullptr) continue;
    requests.push_back({one.image, published_.at(one.image.key).image.manifest, workload.recipe, work.wishes,
                        is_stock(one.image, catalogue_.recipes), host_, by, 0, place_name(requests.size())});
  }
  KeptRuns kept(setup_.state, setup_.files, setup_.clock.unix_seconds());
  BegunComparison begun(identity(work, workload, host_, keys), kept, setup_.state, setup_.files);
  if (begun.done() > 0)
    invocation_.note(fmt::format("bench  goes on: {} were done before", counted(begun.done(), "run")));
  if (!requests.empty() && requests.size() < all.size())
    invocation_.note("bench  some were measured before, not side by side with these; --again measures all");
  InterleavedRuns runs(work, setup_, invocation_);
  runs.run(requests, begun);
  std::vector<BenchRow> rows;
  for (const Candidate& one : all) {
    const std::vector<BenchRun>* own = runs.runs_of(one.image.key);
    add_rows(one, own, own == nullptr ? known_before(one, work) : nullptr, rows);
  }
  begun.end();
  if (rows.empty() && runs.errors().size() == 1) throw runs.errors().front();
  for (const Error& error : runs.errors()) tell(error.format());
  if (!runs.errors().empty()) invocation_.exit_code = ExitCode::images_failed;
  return rows;
}

const Measurement* ImageBench::known_before(const Candidate& one, const BenchWork& work) const {
  if (work.again) return nullptr;
  const std::string name = speed_name(work.workload, work.wishes.ranks, !work.wishes.data.empty());
  return known(published_.at(one.image.key), name, host_);
}

void ImageBench::add_rows(const Candidate& one, const std::vector<BenchRun>* runs, const Measurement* before,
                          std::vector<BenchRow>& rows) {
  BenchRow row;
  if (runs != nullptr) {
    row.measurement = measurement_of(*runs);
    row.fresh = true;
    row.runs = *runs;
    index_.record(row.measurement);
  } else if (before != nullptr) {
    row.measurement = *before;
  } else {
    return;  // it failed
  }
  for (const std::string& name : one.names) {
    row.image = name;
    rows.push_back(row);
  }
}

}  // namespace kiln
