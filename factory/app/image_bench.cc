#include "factory/app/image_bench.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "factory/base/reading.h"
#include "factory/base/text.h"
#include "factory/bench/session.h"
#include "factory/bench/workload_output.h"
#include "factory/engine/architecture.h"
#include "factory/plan/plan_json.h"

namespace kiln {

namespace {

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

void need_data(const fs::path& data, const FileSystem& files) {
  if (data.empty() || files.exists(data)) return;
  MissingFile missing = describe_missing(files, data);
  throw Error(ExitCode::input, std::move(missing.message), std::move(missing.hint));
}

}  // namespace

ImageBench::ImageBench(ImageBenchSetup setup, Index& index, ImageBenchEffects effects)
    : setup_(std::move(setup)), records_(index), effects_(std::move(effects)) {}

std::vector<ImageBench::Candidate> ImageBench::candidates(const ImageNumbers& images) const {
  std::vector<Candidate> found;
  std::map<std::string, std::size_t> places;  // by the bits
  std::string unpublished;
  for (std::uint32_t number : images) {
    const std::string architecture = architecture_of(setup_.catalogue.plan.image(number));
    ImageSpec image = setup_.catalogue.plan.image(number).spec();
    const std::string name = image.repository + ":" + image.tag;
    if (architecture != setup_.architecture) {
      effects_.note(fmt::format("bench  {} {}: passed over, as it would run in an emulator", name,
                                why_not_here(architecture)));
      continue;
    }
    if (records_.find(image.key) == nullptr) {
      effects_.note(fmt::format("bench  {}: passed over, as it is not in the index", name));
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

void ImageBench::find_known(std::vector<Candidate>& all, const BenchWork& work, const ReadyWorkload& workload,
                            const KeptRuns& kept, const std::string& session) const {
  std::set<std::string> left_out = unfinished_sessions(kept, setup_.state, setup_.files);
  left_out.insert(session);
  const MeasuredWorkload place{work.workload, work.wishes.ranks, !work.wishes.data.empty(),
                               workload.sum().hex(), setup_.host};
  for (Candidate& one : all) one.known = known_speeds(one.history, place, left_out);
}

ImageBenchDone ImageBench::run(const BenchWork& work, const ImageNumbers& images) {
  const ReadyWorkload workload(setup_.catalogue.recipes, work.workload, setup_.files);
  need_data(work.wishes.data, setup_.files);
  std::vector<Candidate> all = candidates(images);
  std::vector<std::string> keys;
  for (const Candidate& one : all) keys.push_back(one.key);
  KeptRuns kept(setup_.state, setup_.files);
  const Json what = identity(work, workload, setup_.host, keys);
  BegunComparison begun(what, kept, setup_.state, setup_.files);
  if (begun.done() > 0)
    effects_.note(fmt::format("bench  goes on: {} {} done before", counted(begun.done(), "run"),
                              begun.done() == 1 ? "was" : "were"));
  std::string session = begun.session();
  if (session.empty())
    session = rfc3339(setup_.clock.unix_seconds()) + "-" + Digest::of(what.dump()).hex().substr(0, 8);
  if (!work.again) find_known(all, work, workload, kept, session);
  std::vector<BenchRequest> requests = requests_of(all, work, workload, session);
  if (!requests.empty() && requests.size() < all.size())
    effects_.note("bench  some were measured before, not in turns with these; --again measures all");
  TurnsDone turns;
  if (!requests.empty())
    turns = effects_.jobs ? turns_in_jobs(work, requests, begun, images) : turns_here(work, requests, begun);
  const std::vector<BenchRun> counting = runs_that_count(begun.runs());
  ImageBenchDone done;
  for (Candidate& one : all) {
    one.history = records_.find(one.key)->measurements;
    const auto before = turns.failed.contains(one.key) ? SpeedsByName() : one.known;
    for (BenchRow& row : rows_of(one, counting, before)) done.rows.push_back(std::move(row));
  }
  if (turns.is_complete) begun.end();
  done.errors = std::move(turns.errors);
  if (done.rows.empty() && done.errors.size() == 1) throw Error(done.errors.front());
  return done;
}

TurnsDone ImageBench::turns_here(const BenchWork& work, std::vector<BenchRequest>& requests,
                                 BegunComparison& begun) {
  return take_turns(work, requests, begun,
                    {effects_.start, [this](const auto& runs, const auto& gone) { records_.put(runs, gone); },
                     effects_.note, setup_.clock});
}

// Jobs repeat their disturbed runs themselves, and tell how far they are.
TurnsDone ImageBench::turns_in_jobs(BenchWork work, std::vector<BenchRequest>& requests,
                                    BegunComparison& begun, const ImageNumbers& images) {
  const int repeats = std::exchange(work.repeats, 0);
  const RoundFiles folder(begun.folder(), setup_.files);
  ChosenCells cells;
  cells.images = images;
  folder.write_program(requests.front().workload, plan_text(setup_.catalogue.plan, cells));
  RoundAnswers answers;
  TurnEffects effects{[&](const BenchRequest& request) { return answers.take(request); },
                      [this](const auto& runs, const auto& gone) { records_.put(runs, gone); },
                      [](const std::string&) {}, setup_.clock};
  effects.rounds_ahead = effects_.at_once;
  effects.ahead = [&](const std::vector<BenchRound>& rounds) {
    answers.add(rounds, effects_.jobs(rounds, repeats, folder));
  };
  TurnsDone done = take_turns(work, requests, begun, effects);
  if (done.is_complete) setup_.files.remove_all(folder.folder());
  return done;
}

std::vector<BenchRequest> ImageBench::requests_of(const std::vector<Candidate>& all, const BenchWork& work,
                                                  const ReadyWorkload& workload,
                                                  const std::string& session) const {
  std::vector<BenchRequest> requests;
  const std::string by = effects_.measured_by();
  bool has_known = false;
  for (const Candidate& one : all) {
    has_known = has_known || !one.known.empty();
    if (!one.known.empty() || !has_layers(one)) continue;
    requests.push_back({one.image, records_.find(one.key)->image.manifest, workload.recipe, work.wishes,
                        is_stock(one.image, setup_.catalogue.recipes), setup_.host, by, 0,
                        place_name(requests.size()), session, workload.sum().hex(), setup_.settings});
  }
  if (requests.empty() && !has_known && !all.empty())
    throw Error(ExitCode::no_match, all.front().names.front() + " is not built in this state folder",
                "run `kiln build` first");
  return requests;
}

bool ImageBench::has_layers(const Candidate& one) const {
  if (setup_.files.exists(setup_.state.step(one.image.last_step().key))) return true;
  effects_.note(
      fmt::format("bench  {}: passed over, as it is not built in this state folder", one.names.front()));
  return false;
}

}  // namespace kiln
