#include "factory/run/bench_rounds.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "factory/base/json_put.h"
#include "factory/base/reading.h"
#include "factory/record/record_fields.h"

namespace kiln {
namespace {

constexpr std::int64_t kMostSteps = 1'000'000, kMostRanks = 1 << 20, kMostRounds = 1000, kMostRepeats = 100;

template <typename Read>
auto read_round_file(const fs::path& file, const Read& read) {
  return read_node_file(file, "a comparison", "measure again", read);
}

Json json_of(const BenchRound& round, int repeats) {
  const BenchRequest& first = round.front();
  Json images = Json::array();
  for (const BenchRequest& one : round)
    images.push_back({{"cell", one.image.request.id},
                      {"manifest", one.manifest.text()},
                      {"stock", one.stock},
                      {"place", one.place}});
  Json json{{"format", 1},
            {"workload", first.workload.name},
            {"start", first.workload.methods.front().script},
            {"steps", first.wishes.steps},
            {"ranks", first.wishes.ranks},
            {"host", to_json(first.host)},
            {"kiln", first.kiln},
            {"session", first.session},
            {"workload_files", first.workload_files},
            {"round", first.round},
            {"repeats", repeats},
            {"images", std::move(images)}};
  if (!first.wishes.data.empty()) json["data"] = fs::absolute(first.wishes.data).string();
  return json;
}

Json to_json(const BenchAnswer& answer) {
  Json json{{"key", answer.key}, {"runs", Json::array()}};
  for (const BenchRun& run : answer.runs) json["runs"].push_back(to_json(run));
  put(json, "why", answer.why);
  put(json, "hint", answer.hint);
  return json;
}

BenchAnswer answer_of(const JsonNode& node) {
  node.allow_only({"key", "runs", "why", "hint"});
  BenchAnswer answer{node.at("key").string(), {}, text_at(node, "why"), text_at(node, "hint")};
  for (const JsonNode& run : node.at("runs").items())
    answer.runs.push_back(bench_run_from_json(run, kAnyDate));
  if (answer.runs.empty() && answer.why.empty()) node.fail("neither runs nor a reason");
  return answer;
}

// What the command that reads the answer calls its session.
void adopt(BenchAnswer& answer, const BenchRequest& request) {
  for (BenchRun& run : answer.runs) {
    run.session = request.session;
    run.round = request.round;
    run.place = request.place;
  }
}

}  // namespace

std::vector<BenchRun> least_disturbed(const std::function<std::vector<BenchRun>()>& start, int repeats,
                                      const std::function<void(double busy)>& again) {
  std::vector<BenchRun> best = start();
  auto busy = [](const std::vector<BenchRun>& runs) { return runs.front().conditions.busy; };
  for (int i = 0; i < repeats && was_disturbed(best.front()); ++i) {
    again(busy(best));
    std::vector<BenchRun> runs = start();
    if (busy(runs) < busy(best)) best = std::move(runs);
  }
  return best;
}

std::string RoundFiles::key_of(const BenchRound& round) const {
  std::string text = fmt::format("{}\n{}", folder().filename().string(), round.front().round);
  for (const BenchRequest& one : round) text += "\n" + one.image.key;
  return Digest::of(text).hex();
}

void RoundFiles::write(const std::string& key, const BenchRound& round, int repeats) const {
  files().write(task(key), json_of(round, repeats).dump(2) + "\n");
}

std::optional<std::vector<BenchAnswer>> RoundFiles::answers(const std::string& key,
                                                            const BenchRound& round) const {
  const fs::path file = answer(key);
  if (!files().exists(file)) return std::nullopt;
  return read_round_file(file, [&] {
    const JsonDocument document = read_document(files(), file);
    const JsonNode all = document.root().at("answers");
    std::vector<BenchAnswer> answers;
    for (const JsonNode& node : all.items()) {
      BenchAnswer one = answer_of(node);
      const std::size_t number = answers.size();
      if (number >= round.size() || round[number].image.key != one.key) node.fail("not of this round");
      adopt(one, round[number]);
      answers.push_back(std::move(one));
    }
    if (answers.size() != round.size()) all.fail("not every image of the round");
    return answers;
  });
}

void RoundAnswers::add(const std::vector<BenchRound>& rounds, std::vector<std::vector<BenchAnswer>> answers) {
  for (std::size_t i = 0; i < rounds.size(); ++i)
    for (BenchAnswer& one : answers[i]) {
      const std::pair place(rounds[i].front().round, one.key);
      answers_[place] = std::move(one);
    }
}

std::vector<BenchRun> RoundAnswers::take(const BenchRequest& request) {
  const auto found = answers_.find({request.round, request.image.key});
  if (found == answers_.end()) throw Error(ExitCode::internal, "a round was not measured before its turn");
  BenchAnswer answer = std::move(found->second);
  answers_.erase(found);
  if (answer.runs.empty()) throw Error(ExitCode::images_failed, answer.why, answer.hint);
  return std::move(answer.runs);
}

NodeRound::NodeRound(const fs::path& task, FileSystem& files)
    : key_(task.stem().string()), round_files_(task.parent_path(), files), files_(files) {
  read_round_file(task, [&] {
    const JsonDocument document = read_document(files, task);
    const JsonNode node = document.root();
    workload_ = program_in(round_files_, node.at("workload").string(), node.at("start").string());
    repeats_ = static_cast<int>(node.at("repeats").integer(0, kMostRepeats));
    WorkloadWishes wishes;
    wishes.steps = static_cast<int>(node.at("steps").integer(0, kMostSteps));
    wishes.ranks = static_cast<int>(node.at("ranks").integer(0, kMostRanks));
    wishes.data = text_at(node, "data");
    for (const JsonNode& image : node.at("images").items()) {
      images_.push_back(std::make_unique<ImageSpec>(planned_image(round_files_, image.at("cell"), files)));
      round_.push_back({*images_.back(), Digest::parse(image.at("manifest").string()), workload_, wishes,
                        image.at("stock").boolean(), host_from_json(node.at("host")),
                        node.at("kiln").string(), static_cast<int>(node.at("round").integer(0, kMostRounds)),
                        image.at("place").string(), node.at("session").string(),
                        node.at("workload_files").string()});
    }
    if (round_.empty()) node.at("images").fail("no image");
  });
}

void NodeRound::run(const HostDescription& here, const StepSetup& setup) {
  if (const auto refusal = refusal_of(round_.front().host, here))
    return files_.write(round_files_.refusal(key_), *refusal);
  Json answers = Json::array();
  for (const BenchRequest& request : round_) {
    BenchAnswer answer{request.image.key, {}};
    try {
      answer.runs = least_disturbed([&] { return run_workload(request, setup); }, repeats_, [](double) {});
    } catch (const Error& error) {
      if (error.code() != ExitCode::images_failed) throw;
      answer.why = error.message();
      answer.hint = error.hint();
    }
    answers.push_back(to_json(answer));
  }
  files_.write(round_files_.answer(key_),
               Json{{"format", 1}, {"answers", std::move(answers)}}.dump(2) + "\n");
}

}  // namespace kiln
