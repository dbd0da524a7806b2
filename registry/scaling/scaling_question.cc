#include "registry/scaling/scaling_question.h"

#include <fmt/format.h>

#include "factory/base/error.h"
#include "factory/base/text.h"

namespace kiln {
namespace {

constexpr double kMostNumber = 1e15;  // samples, bytes: sums of them stay exact

double positive(const std::string& text, std::string_view what, double most = kMostNumber) {
  const double value = read_positive(text, what);
  if (value > most) throw Error(ExitCode::input, fmt::format("{}: {} is over {:g}", what, text, most));
  return value;
}

std::int64_t whole(const std::string& text, std::string_view what, double most) {
  const double value = positive(text, what, most);
  if (value < 1 || value != static_cast<double>(static_cast<std::int64_t>(value)))
    throw Error(ExitCode::input, fmt::format("{}: '{}' is not a whole number from 1 on", what, text));
  return static_cast<std::int64_t>(value);
}

std::vector<Parallelism> read_kinds(const std::vector<std::string>& names) {
  std::vector<Parallelism> kinds;
  for (const auto& [kind, name] : kParallelisms.rows)
    if (names.empty() || contains(names, name)) kinds.push_back(kind);
  return kinds;
}

std::optional<double> read_efficiency(const std::string& text, const AskedScaling& document) {
  if (text.empty()) return document.efficiency;
  return positive(text, "--efficiency", 1);
}

// The times measure what one rank does, and how well the links carry the gradients.
void use_times(ScalingQuestion& question, const std::string& text) {
  const auto runs = read_timed_runs(text, "--times");
  Network& network = *question.network;
  set_seconds(network, runs.front().seconds / static_cast<double>(question.terms.batch));
  network.measured = "--times";
  question.terms.links =
      fit_links(question.terms.links, runs, network.weights() * question.terms.number_bytes);
}

void use_network(ScalingQuestion& question, Network used, const ScalingWords& words) {
  if (!words.model.empty())
    throw Error(ExitCode::usage, "--model and a network do not go together",
                "a model is of any program; --network computes with the network's layers");
  question.network = std::move(used);
  Network& network = *question.network;
  TrainingTerms& terms = question.terms;
  terms.samples = words.samples.empty() ? network.samples : whole(words.samples, "--samples", kMostNumber);
  terms.batch = words.batch.empty() ? network.batch : whole(words.batch, "--batch", 1e9);
  if (!words.global_batch.empty()) terms.global_batch = whole(words.global_batch, "--global-batch", 1e9);
  if (!words.group.empty()) terms.group = read_ranks(words.group, "--group");
  if (!words.segments.empty()) terms.segments = whole(words.segments, "--segments", 1e9);
  if (!words.memory.empty()) terms.memory = positive(words.memory, "--memory");
  if (!words.update.empty()) terms.update = positive(words.update, "--update", 1e6);
  if (!words.links.empty()) terms.links = read_links(words.links, "--links");
  if (!words.seconds.empty()) {
    if (!words.times.empty())
      throw Error(ExitCode::usage, "--seconds and --times do not go together", "both say how fast a rank is");
    set_seconds(network, positive(words.seconds, "--seconds", 1e6));
    network.measured = "--seconds";
  }
  if (!words.times.empty()) use_times(question, words.times);
  if (!(network.seconds() > 0))
    throw Error(ExitCode::input, fmt::format("how long {} computes is not known", network.name),
                "\"seconds\" in its file, --seconds or --times gives the time of a sample");
  question.kinds = read_kinds(words.strategies);
}

// Words about a network, where there is none.
void refuse_network_words(const ScalingWords& words) {
  const std::pair<const std::string*, const char*> of_networks[] = {
      {&words.links, "--links"},     {&words.batch, "--batch"},   {&words.global_batch, "--global-batch"},
      {&words.samples, "--samples"}, {&words.memory, "--memory"}, {&words.seconds, "--seconds"},
      {&words.update, "--update"},   {&words.group, "--group"},   {&words.segments, "--segments"}};
  for (const auto& [text, option] : of_networks)
    if (!text->empty())
      throw Error(ExitCode::usage, fmt::format("{} is of a network", option), "--network names one");
  if (!words.strategies.empty())
    throw Error(ExitCode::usage, "--strategy is of a network", "--network names one");
}

void read_model(ScalingQuestion& question, const ScalingWords& words) {
  refuse_network_words(words);
  if (words.times.empty()) {
    question.model = read_speedup_model(words.model);
    return;
  }
  const auto law = kSpeedupLaws.find(words.model.empty() ? "amdahl" : words.model);
  if (law != SpeedupLaw::amdahl && law != SpeedupLaw::gustafson)
    throw Error(ExitCode::usage, fmt::format("--times cannot be fitted by the model '{}'", words.model),
                "--model amdahl and --model gustafson can, without a value");
  question.fit = fit_speedup(*law, read_timed_runs(words.times, "--times"));
  question.model = question.fit->model;
}

}  // namespace

ScalingQuestion read_scaling_question(const ScalingWords& words, const AskedScaling& document) {
  ScalingQuestion question;
  const bool own = !words.model.empty() || (words.network.empty() && !words.times.empty());
  const std::string& network = words.network.empty() && !own ? document.workload : words.network;
  if (network.empty() && words.model.empty() && words.times.empty())
    throw Error(ExitCode::usage, "neither a network nor a model is named",
                fmt::format("--network {}, --model amdahl:0.9 or --times 1:142.24,2:104.44,4:87.12; or a "
                            "document with optimisation.workload",
                            fmt::join(network_names(), "|")));
  question.efficiency = read_efficiency(words.efficiency, document);
  if (words.ranks.empty() && document.ranks)
    question.ranks = read_rank_list(fmt::format("1..{}", *document.ranks), "mpi_ranks");
  else
    question.ranks = read_rank_list(words.ranks.empty() ? "1..512" : words.ranks, "--ranks");
  if (network.empty())
    read_model(question, words);
  else
    use_network(question, document.network ? *document.network : network_named(network), words);
  return question;
}

RankChoice choose_ranks(const ScalingQuestion& question) {
  const std::int64_t asked = question.ranks.back();
  RankChoice choice;
  choice.ranks = choice.low = choice.high = choose_ranks(question.model, asked, question.least());
  if (!question.fit) return choice;
  SpeedupModel other = question.model;
  other.parallel = question.fit->low;
  choice.low = choose_ranks(other, asked, question.least());
  other.parallel = question.fit->high;
  choice.high = choose_ranks(other, asked, question.least());
  return choice;
}

}  // namespace kiln
