#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "factory/base/text.h"
#include "factory/bench/session.h"
#include "factory/cli/bench.h"
#include "factory/cli/print.h"
#include "factory/engine/architecture.h"
#include "factory/os/processors.h"
#include "factory/plan/plan_json.h"
#include "factory/record/host_description.h"
#include "factory/run/kept_runs.h"
#include "factory/sbom/provenance.h"

namespace kiln {

namespace {

const Recipe& workload_named(const RecipeBook& recipes, const std::string& name) {
  if (const Recipe* found = recipes.find(Kind::workload, name)) return *found;
  throw Error(ExitCode::usage, "there is no workload '" + name + "'",
              did_you_mean(name, recipes.names(Kind::workload)));
}

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

ReadyWorkload::ReadyWorkload(const RecipeBook& recipes, const std::string& name, FileSystem& files)
    : ReadyWorkload(workload_named(recipes, name), files) {}

ReadyWorkload::ReadyWorkload(Recipe made, FileSystem& files) : recipe(std::move(made)) {
  for (const auto& [path, file] : recipe.files) files.write_output(folder.path() / path, file.bytes);
  recipe.folder = folder.path();
}

Digest workload_sum(const Recipe& workload) {
  Hasher hasher;
  for (const auto& [path, file] : workload.files) hasher.update(path + "\n" + Digest::of(file.bytes).hex());
  return hasher.finish();
}

std::string measured_by(const RecipeBook& recipes, Invocation& invocation) {
  std::string by = KILN_VERSION;
  const auto origin = sbom::find_origin(recipes, invocation.runner, invocation.child_environment());
  for (const sbom::RecipeRepository& repository : origin.repositories)
    by += fmt::format(", recipes of {}{}", repository.commit.substr(0, 12),
                      repository.modified ? " with changes" : "");
  return by;
}

ImageBench::ImageBench(const Catalogue& catalogue, const StepSetup& setup, Index& index,
                       MeasuringPlace& place, Invocation& invocation, const Restriction& restriction)
    : catalogue_(catalogue),
      setup_(setup),
      place_(place),
      records_(index),
      invocation_(invocation),
      host_(place.machine()),
      settings_(restricting_variables(restriction)) {
  if (restriction.empty()) return;
  if (place.in_jobs())
    throw Error(ExitCode::usage, "--restrict restricts this machine, and the site's measurements are jobs",
                "--here measures on this machine");
  host_ = restricted_host(detect_host(invocation.files, invocation.cpus()), restriction, invocation.cpus());
  host_.features.clear();  // a hundred words beside each run, which compares by model and name
  if (restriction.cores > 0) keep_to_processors(static_cast<unsigned>(restriction.cores));
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
    if (is_new) {
      const std::string key = image.key;
      found.push_back({{key, {}, records_.find(key)->measurements}, std::move(image), {}});
    }
    found[place->second].names.push_back(name);
  }
  if (found.empty() && !unpublished.empty())
    throw Error(ExitCode::no_match, unpublished + " is not in the index",
                "run `kiln build` and `kiln publish` first");
  if (found.empty() && !images.empty())
    throw Error(ExitCode::no_match, "none of the images is for machines such as this one",
                "run `kiln bench` on a machine that the images are for");
  return found;
}

std::vector<BenchRow> ImageBench::run(const BenchWork& work, const ImageNumbers& images) {
  const ReadyWorkload workload(catalogue_.recipes, work.workload, invocation_.files);
  if (!work.wishes.data.empty() && !invocation_.files.exists(work.wishes.data))
    invocation_.need_file(work.wishes.data);
  std::vector<Candidate> all = candidates(images);
  std::vector<std::string> keys;
  for (const Candidate& one : all) keys.push_back(one.key);
  KeptRuns kept(setup_.state, setup_.files);
  const Json what = identity(work, workload, host_, keys);
  BegunComparison begun(what, kept, setup_.state, setup_.files);
  if (begun.done() > 0)
    invocation_.note(fmt::format("bench  goes on: {} {} done before", counted(begun.done(), "run"),
                                 begun.done() == 1 ? "was" : "were"));
  std::string session = begun.session();
  if (session.empty())
    session = rfc3339(setup_.clock.unix_seconds()) + "-" + Digest::of(what.dump()).hex().substr(0, 8);
  std::set<std::string> left_out = unfinished_sessions(kept, setup_.state, setup_.files);
  left_out.insert(session);
  const MeasuredWorkload place{work.workload, work.wishes.ranks, !work.wishes.data.empty(),
                               workload.sum().hex(), host_};
  if (!work.again)
    for (Candidate& one : all) one.known = known_speeds(one.history, place, left_out);
  std::vector<BenchRequest> requests = requests_of(all, work, workload, session);
  if (!requests.empty() && requests.size() < all.size())
    invocation_.note("bench  some were measured before, not in turns with these; --again measures all");
  TurnsDone done;
  if (!requests.empty())
    done =
        place_.in_jobs() ? turns_in_jobs(work, requests, begun, images) : turns_here(work, requests, begun);
  const std::vector<BenchRun> counting = runs_that_count(begun.runs());
  std::vector<BenchRow> rows;
  for (Candidate& one : all) {
    one.history = records_.find(one.key)->measurements;
    const auto before = done.failed.contains(one.key) ? SpeedsByName() : one.known;
    for (BenchRow& row : rows_of(one, counting, before)) rows.push_back(std::move(row));
  }
  if (done.is_complete) begun.end();
  if (rows.empty() && done.errors.size() == 1) throw done.errors.front();
  for (const Error& error : done.errors) tell(error.format());
  if (!done.errors.empty()) invocation_.exit_code = ExitCode::images_failed;
  return rows;
}

TurnsDone ImageBench::turns_here(const BenchWork& work, std::vector<BenchRequest>& requests,
                                 BegunComparison& begun) {
  return take_turns(work, requests, begun,
                    {[this](const BenchRequest& request) { return run_workload(request, setup_); },
                     [this](const auto& runs, const auto& gone) { records_.put(runs, gone); },
                     [this](const std::string& line) { invocation_.note(line); }, setup_.clock});
}

// Jobs repeat their disturbed runs themselves, and tell how far they are.
TurnsDone ImageBench::turns_in_jobs(BenchWork work, std::vector<BenchRequest>& requests,
                                    BegunComparison& begun, const ImageNumbers& images) {
  const int repeats = std::exchange(work.repeats, 0);
  const RoundFiles folder(begun.folder(), invocation_.files);
  ChosenCells cells;
  cells.images = images;
  folder.write_program(requests.front().workload, plan_text(catalogue_.plan, cells));
  const JobSetup jobs = place_.job_setup(setup_);
  RoundAnswers answers;
  TurnEffects effects{[&](const BenchRequest& request) { return answers.take(request); },
                      [this](const auto& runs, const auto& gone) { records_.put(runs, gone); },
                      [](const std::string&) {}, setup_.clock};
  effects.rounds_ahead = static_cast<int>(place_.at_once());
  effects.ahead = [&](const std::vector<BenchRound>& rounds) {
    answers.add(rounds, run_round_jobs(rounds, repeats, folder, place_.jobs(jobs)));
  };
  TurnsDone done = take_turns(work, requests, begun, effects);
  if (done.is_complete) invocation_.files.remove_all(folder.folder());
  return done;
}

std::vector<BenchRequest> ImageBench::requests_of(const std::vector<Candidate>& all, const BenchWork& work,
                                                  const ReadyWorkload& workload,
                                                  const std::string& session) const {
  std::vector<BenchRequest> requests;
  const std::string by = measured_by(catalogue_.recipes, invocation_);
  bool has_known = false;
  for (const Candidate& one : all) {
    has_known = has_known || !one.known.empty();
    if (!one.known.empty() || !has_layers(one)) continue;
    requests.push_back({one.image, records_.find(one.key)->image.manifest, workload.recipe, work.wishes,
                        is_stock(one.image, catalogue_.recipes), host_, by, 0, place_name(requests.size()),
                        session, workload.sum().hex(), settings_});
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

}  // namespace kiln
