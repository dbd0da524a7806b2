#include "factory/run/tuning_run.h"

#include <fmt/format.h>

#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>

#include "factory/base/durable_file.h"
#include "factory/base/error.h"
#include "factory/base/text.h"

namespace kiln {

// factory/run/tuning_search.py, made by kiln_embed.
std::map<std::string_view, std::string_view> embedded_tuning_search();

namespace {

constexpr std::chrono::seconds kJournalPatience{10};
constexpr std::chrono::seconds kProposalLimit{120};

// The run of the metric that is tuned for.
BenchRun run_of_metric(std::vector<BenchRun> runs, const std::string& workload, const std::string& metric) {
  if (metric.empty() && runs.size() == 1) return std::move(runs.front());
  std::string known;
  for (BenchRun& run : runs) {
    if (!metric.empty() && run.workload == metric_name(workload, metric)) return std::move(run);
    known += (known.empty() ? "" : ", ") + run.workload;
  }
  throw Error(ExitCode::usage,
              fmt::format("the workload '{}' measures {}, and a tuning needs one of them", workload, known),
              "--workload names it");
}

Error search_failed(const CommandResult& result) {
  if (result.end == CommandEnd::interrupted) return Error(ExitCode::interrupted, "interrupted");
  return Error(ExitCode::internal, "the search failed: " + last_lines(result.tail, 5),
               "the same command goes on");
}

}  // namespace

TuningFile::TuningFile(const TuningHead& head, const StatePaths& state, FileSystem& files)
    : head_(to_json(head).dump()), path_(state.tuning(Digest::of(head_).hex())), files_(files) {}

TuningJournal TuningFile::begin() {
  std::string text = files_.read(path_).value_or("");
  const std::size_t end = text.rfind('\n');
  if (end == text.npos)
    text = head_ + "\n";
  else
    text.resize(end + 1);
  files_.write(path_, text);
  return read_tuning_journal(text, path_.string());
}

void TuningFile::add(const Json& line) {
  LineFile file(path_, kJournalPatience);
  if (file.is_open() && file.append(line.dump() + "\n") && file.sync()) return;
  const int why = errno;
  throw Error(ExitCode::store, fmt::format("cannot write {}: {}", path_.string(), std::strerror(why)),
              hint_for(why));
}

void TuningSearch::check() const {
  Command command;
  command.argv = {python.string(), "-I", "-c", "import optuna"};
  command.environment = environment;
  command.limits.wall = kProposalLimit;
  const CommandResult result = runner.run(command);
  if (result.end == CommandEnd::interrupted) throw Error(ExitCode::interrupted, "interrupted");
  if (!result.ok())
    throw Error(ExitCode::tool_missing,
                fmt::format("{} has no Optuna: {}", python.string(), last_lines(result.tail, 1)),
                "install it with `python3 -m pip install optuna` in a virtual environment, and name its "
                "python3 in $KILN_PYTHON");
}

TuningSetting TuningSearch::propose(const fs::path& journal) const {
  Command command;
  command.argv = {python.string(), "-I", "-c", std::string(embedded_tuning_search().begin()->second),
                  journal.string()};
  command.environment = environment;
  command.limits.wall = kProposalLimit;
  command.capture_stdout = true;
  const CommandResult result = runner.run(command);
  if (!result.ok()) throw search_failed(result);
  const Json answer = Json::parse(result.output, nullptr, false);
  if (!answer.is_object() || !answer.contains("set") || !answer["set"].is_object())
    throw search_failed(result);
  return answer["set"].get<TuningSetting>();
}

TuningTrial run_trial(BenchRequest request, TuningSetting setting, double patience, const std::string& metric,
                      const StepSetup& setup) {
  request.settings = setting;
  request.wall = std::chrono::seconds(static_cast<std::int64_t>(std::ceil(patience)));
  const double start = setup.clock.monotonic_seconds();
  auto took = [&] { return setup.clock.monotonic_seconds() - start; };
  TuningTrial trial;
  try {
    const BenchRun run = run_of_metric(run_workload(request, setup), request.workload.name, metric);
    return complete_trial(std::move(setting), run, took());
  } catch (const Error& error) {
    if (error.code() != ExitCode::images_failed && error.code() != ExitCode::timeout) throw;
    trial.end = error.code() == ExitCode::timeout ? TrialEnd::stopped : TrialEnd::failed;
    trial.why = error.message();
  }
  trial.setting = std::move(setting);
  trial.seconds = took();
  return trial;
}

TuningTurn run_turn(BenchRequest request, const TuningSetting& setting, const NextTuningStep& next,
                    const std::string& metric, const StepSetup& setup) {
  request.settings = next.side == TuningSide::tuned   ? setting
                     : next.side == TuningSide::rival ? rival_setting()
                                                      : TuningSetting{};
  request.round = next.round;
  request.place = next.side == TuningSide::tuned ? "B" : next.side == TuningSide::rival ? "R" : "A";
  const double start = setup.clock.monotonic_seconds();
  TuningTurn turn{next.round, next.side, 0,
                  run_of_metric(run_workload(request, setup), request.workload.name, metric)};
  turn.seconds = setup.clock.monotonic_seconds() - start;
  return turn;
}

}  // namespace kiln
