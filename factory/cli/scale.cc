// kiln scale: how far ranks help, by the oracle of parallel training or by a law of speedup.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "factory/base/reading.h"
#include "factory/cli/invocation.h"
#include "factory/cli/named_files.h"
#include "factory/cli/options.h"
#include "factory/cli/print.h"
#include "factory/cli/question.h"
#include "factory/figures/line_chart.h"
#include "registry/deploy/job_request.h"
#include "registry/scaling/network.h"
#include "registry/scaling/scaling_question.h"

namespace kiln {
namespace {

struct ScaleRequest {
  ScalingWords words;
  std::string dsl;
  std::string picture;
  bool json = false;
};

std::string memory_of(double bytes) { return fmt::format("{:.2f} GB", bytes / 1e9); }
std::string count_of(const std::optional<std::int64_t>& ranks) {
  return ranks ? fmt::format("{}", *ranks) : "none";
}

std::string choice_line(const ScalingQuestion& question, const ParallelStep* best) {
  if (best == nullptr)
    return fmt::format("no number of ranks fits the memory with an efficiency of {:g} or more",
                       question.least());
  return fmt::format("best: {} ranks, {}: an epoch of {:.1f} s, efficiency {:.2f} (at least {:g})",
                     best->ranks, kParallelisms.of(best->kind), best->epoch(), best->efficiency,
                     question.least());
}

void print_ranking(const ScalingQuestion& question, std::span<const ParallelOutlook> outlooks) {
  say("At {} ranks:\n", question.ranks.back());
  Table table({"STRATEGY", "EPOCH", "EFFICIENCY", "MEMORY", "WORTH", "FASTEST", "BOTTLENECK"});
  for (const ParallelOutlook& outlook : outlooks) {
    const ParallelStep& step = outlook.steps.back();
    const bool is = step.refusal.empty();
    table.add({kParallelisms.of(outlook.kind), is ? fmt::format("{:.1f} s", step.epoch()) : "",
               is ? fmt::format("{:.2f}", step.efficiency) : "", is ? memory_of(step.memory) : "",
               count_of(outlook.worth), count_of(outlook.fastest), bottleneck(step, question.terms)});
  }
  table.print();
}

void print_steps(const ScalingQuestion& question, const ParallelOutlook& outlook) {
  say("\n{}:\n", kParallelisms.of(outlook.kind));
  Table table({"RANKS", "BATCH", "COMPUTE", "COMMUNICATION", "EPOCH", "EFFICIENCY", "MEMORY", "BOTTLENECK"});
  for (const ParallelStep& step : outlook.steps) {
    const std::string ranks = fmt::format("{}", step.ranks), why = bottleneck(step, question.terms);
    if (step.refusal.empty())
      table.add({ranks, fmt::format("{:.0f}", step.batch),
                 fmt::format("{:.2f} ms", 1000 * (step.compute + step.update)),
                 fmt::format("{:.2f} ms", 1000 * step.communication()), fmt::format("{:.1f} s", step.epoch()),
                 fmt::format("{:.2f}", step.efficiency), memory_of(step.memory), why});
    else
      table.add({ranks, "", "", "", "", "", "", why});
  }
  table.print();
  if (!outlook.end.empty()) say("not worth more: {}\n", outlook.end);
}

void answer_network(const ScalingQuestion& question, const ScaleRequest& request, Invocation& invocation) {
  const auto outlooks =
      parallel_outlooks(*question.network, question.terms, question.ranks, question.kinds, question.least());
  const ParallelStep* best = best_step(outlooks, question.least());
  if (!request.picture.empty())
    write_named(request.picture, scaling_picture(*question.network, question.terms, outlooks),
                invocation.files);
  if (request.json) {
    Json json{{"network", question.network->name}, {"strategies", Json::array()}};
    for (const ParallelOutlook& outlook : outlooks)
      json["strategies"].push_back(to_json(outlook, question.terms));
    if (best != nullptr) json["best"] = {{"ranks", best->ranks}, {"strategy", kParallelisms.of(best->kind)}};
    return print_json(json);
  }
  print_ranking(question, outlooks);
  if (outlooks.size() == 1 || !request.words.strategies.empty())
    for (const ParallelOutlook& outlook : outlooks) print_steps(question, outlook);
  else
    print_steps(question, outlooks.front());
  say("{}\n", choice_line(question, best));
}

void answer_model(const ScalingQuestion& question, const ScaleRequest& request) {
  const RankChoice choice = choose_ranks(question);
  const std::string_view law = kSpeedupLaws.of(question.model.law);
  if (request.json) {
    Json json{{"model", law}, {"ranks", choice.ranks}, {"asked", question.ranks.back()}};
    if (question.fit)
      json["fit"] = {{"parallel", question.model.parallel}, {"low", question.fit->low},
                     {"high", question.fit->high},          {"error", question.fit->error},
                     {"least_ranks", choice.low},           {"most_ranks", choice.high}};
    for (const std::int64_t ranks : question.ranks)
      json["efficiencies"].push_back(
          {{"ranks", ranks}, {"efficiency", efficiency_of(question.model, ranks)}});
    return print_json(json);
  }
  if (question.fit)
    say("{} fitted: {:.4f} of the work is parallel ({:.4f} to {:.4f}); efficiencies err by up to {:.3f}\n",
        law, question.model.parallel, question.fit->low, question.fit->high, question.fit->error);
  Table table({"RANKS", "SPEEDUP", "EFFICIENCY"});
  for (const std::int64_t ranks : question.ranks) {
    const double efficiency = efficiency_of(question.model, ranks);
    table.add({fmt::format("{}", ranks), fmt::format("{:.2f}", efficiency * static_cast<double>(ranks)),
               fmt::format("{:.4f}", efficiency)});
  }
  table.print();
  say("chosen: {} of {} ranks{}\n", choice.ranks, question.ranks.back(),
      choice.low == choice.high ? "" : fmt::format(" ({} to {})", choice.low, choice.high));
}

// No network that kiln knows has such a name.
bool is_file_name(std::string_view network) {
  return network.ends_with(".json") || network.find('/') != network.npos;
}

void run_scale(const ScaleRequest& request, Invocation& invocation) {
  refuse_folder(request.picture, "--svg");
  AskedScaling asked;
  if (!request.dsl.empty()) {
    const JobRequest job = read_job_request(read_written_document(request.dsl, invocation.files).document);
    asked = {job.workload, job.ranks, job.efficiency, {}};
  }
  if (is_file_name(request.words.network))
    asked.network = read_network(read_document(invocation.files, request.words.network).root());
  const ScalingQuestion question = read_scaling_question(request.words, asked);
  if (question.network) return answer_network(question, request, invocation);
  if (!request.picture.empty()) throw Error(ExitCode::usage, "--svg draws a network", "--network names one");
  answer_model(question, request);
}

void add_network_options(CLI::App& command, ScalingWords& words) {
  auto add = [&](const char* name, std::string& value, const char* type, const char* text) {
    add_value(command, name, value, type, text);
  };
  add_list(command, "--strategy", words.strategies, "STRATEGY",
           "only these kinds of parallelism; may be repeated (default: all)")
      ->check(CLI::IsMember(kParallelisms.all()));
  add("--batch", words.batch, "N", "samples of a step for each replica (default: the network's)");
  add("--global-batch", words.global_batch, "N", "samples of a step for all ranks together, instead");
  add("--samples", words.samples, "N", "samples of an epoch (default: 1,280,000)");
  add("--seconds", words.seconds, "S",
      "a sample's forward and backward pass on one rank (default: a V100's)");
  add("--update", words.update, "S", "one rank's update of all weights (default: none)");
  add("--links", words.links, "LIST", "RANKS:SECONDS:BYTES_PER_SECOND,... (default: those of ABCI)");
  add("--memory", words.memory, "BYTES", "memory of a rank (default: 16e9)");
  add("--group", words.group, "N", "ranks of a replica of a hybrid strategy (default: 4)");
  add("--segments", words.segments, "N", "segments of a pipeline's batch (default: its stages)");
}

}  // namespace

CLI::App* add_scale(CLI::App& app, Invocation& invocation) {
  auto request = std::make_shared<ScaleRequest>();
  CLI::App* command = add_below(
      app, "scale", "Predict how far more ranks help: compute, communication, memory and efficiency",
      "kiln scale --network vgg16 --ranks 1..512\n"
      "kiln scale --network resnet50 --strategy data --strategy data+filter --svg scaling.svg\n"
      "kiln scale --times 1:142.24,2:104.44,4:87.12,6:73.03 --efficiency 0.4\n"
      "kiln scale --dsl job.json --model amdahl:0.999");
  add_value(*command, "--dsl", request->dsl, "FILE",
            "DSL document (- for stdin): its workload, mpi_ranks and minimal_efficiency");
  add_value(*command, "--network", request->words.network, "NAME|FILE",
            "resnet50, vgg16, alexnet, or a JSON file of another network");
  add_value(*command, "--model", request->words.model, "MODEL",
            "a law instead of a network: noop, max:64, amdahl:0.9 or gustafson:0.9");
  add_value(*command, "--times", request->words.times, "LIST",
            "measured RANKS:SECONDS,...: fit the law, or with a network its steps and links");
  add_value(*command, "--ranks", request->words.ranks, "RANKS",
            "1..512 doubles, 1..64:4 adds 4, 1,2,24 lists");
  add_value(*command, "--efficiency", request->words.efficiency, "SHARE",
            "the least that is worth it (default: 0.5)");
  add_network_options(*command, request->words);
  add_value(*command, "--svg", request->picture, "FILE",
            "write a picture of efficiency, time and memory over ranks");
  command->add_flag("--json", request->json, "print JSON");
  command->callback([request, &invocation] { run_scale(*request, invocation); });
  return command;
}

}  // namespace kiln
