#include "registry/scaling/parallel_step.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <tuple>
#include <utility>

namespace kiln {

namespace {

bool is_hybrid(Parallelism kind) { return kind >= Parallelism::data_spatial; }

// Within a replica: what of a hybrid is not the data.
Parallelism inner_kind(Parallelism kind) {
  switch (kind) {
    case Parallelism::data_spatial:
      return Parallelism::spatial;
    case Parallelism::data_pipeline:
      return Parallelism::pipeline;
    case Parallelism::data_filter:
      return Parallelism::filter;
    case Parallelism::data_channel:
      return Parallelism::channel;
    default:
      return kind;
  }
}

// The least of a property of layers that have it.
template <typename Property>
std::int64_t least_of(const Network& network, Property property) {
  std::int64_t least = std::numeric_limits<std::int64_t>::max();
  for (const NetworkLayer& layer : network.layers)
    if (const std::int64_t value = property(layer); value > 0) least = std::min(least, value);
  return least;
}

// The most ranks that one replica can be divided among, and by what.
std::pair<std::int64_t, std::string_view> most_ranks(const Network& network, Parallelism inner) {
  switch (inner) {
    case Parallelism::spatial:
      return {least_of(network, [](const NetworkLayer& layer) { return layer.width * layer.height; }),
              "places of the smallest layer"};
    case Parallelism::pipeline:
      return {static_cast<std::int64_t>(network.layers.size()), "layers"};
    case Parallelism::filter:
      return {least_of(network, [](const NetworkLayer& layer) { return layer.filters; }),
              "filters of the narrowest layer"};
    default: {
      bool first = true;  // the image's three colours are not divided
      return {least_of(network,
                       [&](const NetworkLayer& layer) {
                         return layer.channels > 0 && std::exchange(first, false) ? 0 : layer.channels;
                       }),
              "channels of the narrowest layer"};
    }
  }
}

// A stage of a pipeline: layers [first, last).
struct PipelineStage {
  std::size_t first = 0, last = 0;
};

// No stage takes longer than `longest`, but for the last one, which takes what is left.
std::vector<PipelineStage> cut_stages(const Network& network, std::size_t count, double longest) {
  const auto& layers = network.layers;
  std::vector<PipelineStage> stages{{0, 0}};
  double seconds = 0;
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const bool full = seconds + layers[i].seconds > longest;
    const bool one_each = layers.size() - i == count - stages.size();  // no stage is empty
    if (i > stages.back().first && stages.size() < count && (full || one_each)) {
      stages.push_back({i, i});
      seconds = 0;
    }
    stages.back().last = i + 1;
    seconds += layers[i].seconds;
  }
  return stages;
}

double seconds_of(const Network& network, const PipelineStage& stage) {
  double seconds = 0;
  for (std::size_t i = stage.first; i < stage.last; ++i) seconds += network.layers[i].seconds;
  return seconds;
}

// As equal in time as layers allow: the longest stage is as short as it can be. REQUIRES: no more stages than
// layers.
std::vector<PipelineStage> pipeline_stages(const Network& network, std::size_t count) {
  double low = 0, high = network.seconds();
  for (int step = 0; step < 60; ++step) {
    const double middle = (low + high) / 2;
    const auto stages = cut_stages(network, count, middle);
    const bool enough = std::ranges::all_of(
        stages, [&](const PipelineStage& stage) { return seconds_of(network, stage) <= middle; });
    (enough ? high : low) = middle;
  }
  return cut_stages(network, count, high);
}

// One replica with `batch` samples on `ranks` ranks, added to a step.
class ReplicaStep {
 public:
  ReplicaStep(const Network& network, const TrainingTerms& terms, std::int64_t ranks, double batch)
      : network_(network),
        terms_(terms),
        ranks_(ranks),
        count_(static_cast<double>(ranks)),
        batch_(batch),
        link_(link_for(terms.links, ranks)) {}

  void add(Parallelism inner, ParallelStep& step) const {
    if (inner == Parallelism::pipeline) return pipeline(step);
    step.compute = batch_ / count_ * network_.seconds();
    step.update = terms_.update;
    step.memory = 2 * terms_.number_bytes * (batch_ / count_ * numbers() + network_.weights());
    if (inner == Parallelism::spatial) spatial(step);
    if (inner == Parallelism::filter || inner == Parallelism::channel) filter(step);
  }

 private:
  // Of a sample, all layers' inputs and outputs.
  double numbers() const {
    double sum = 0;
    for (const NetworkLayer& layer : network_.layers) sum += layer.input + layer.output;
    return sum;
  }

  // Neighbours exchange the rims of what they hold, in both directions, forward and backward; then all sum up
  // the gradients.
  void spatial(ParallelStep& step) const {
    for (const NetworkLayer& layer : network_.layers)
      if (layer.input_halo > 0) {
        const double bytes = batch_ * (layer.input_halo + layer.output_halo) * terms_.number_bytes;
        step.activations += 2 * MessageCost{2 * link_.latency, bytes / link_.bandwidth};
      }
    step.gradient_bytes = network_.weights() * terms_.number_bytes;
    step.gradients += link_.all_reduce(ranks_, step.gradient_bytes);
  }

  // Forward each layer's output is gathered, backward its gradient is reduced (twice as much): the last
  // layer's stays where it is. The channels' order is the other way round, and costs the same.
  void filter(ParallelStep& step) const {
    step.update = terms_.update / count_;
    step.memory = 2 * terms_.number_bytes * (batch_ * numbers() + network_.weights() / count_);
    const NetworkLayer* last = nullptr;
    for (const NetworkLayer& layer : network_.layers) {
      if (layer.weights <= 0) continue;
      if (last != nullptr)
        step.activations += 3 * link_.all_gather(ranks_, batch_ * last->output * terms_.number_bytes);
      last = &layer;
    }
  }

  // Segments of the batch go from stage to stage; the slowest stage sets the beat.
  void pipeline(ParallelStep& step) const {
    const double segments = terms_.segments > 0 ? static_cast<double>(terms_.segments) : count_;
    double longest = 0, weights = 0;
    MessageCost message;
    const auto stages = pipeline_stages(network_, static_cast<std::size_t>(ranks_));
    for (const PipelineStage& stage : stages) {
      double kept = 0, own_weights = 0;
      for (std::size_t i = stage.first; i < stage.last; ++i) {
        const NetworkLayer& layer = network_.layers[i];
        own_weights += layer.weights;
        kept += batch_ * (layer.input + layer.output) + layer.weights;
      }
      longest = std::max(longest, seconds_of(network_, stage));
      weights = std::max(weights, own_weights);
      step.memory = std::max(step.memory, 2 * terms_.number_bytes * kept);
      if (stage.last == network_.layers.size()) continue;
      const double bytes = batch_ / segments * network_.layers[stage.last - 1].output * terms_.number_bytes;
      if (link_.send(bytes).seconds() > message.seconds()) message = link_.send(bytes);
    }
    step.bubble = batch_ * (count_ - 1) / segments * longest;
    step.compute = batch_ * longest + step.bubble;
    step.update = terms_.update * weights / network_.weights();
    if (ranks_ > 1) step.activations += 2 * (count_ + segments - 2) * message;
    step.gradient_bytes = weights * terms_.number_bytes;
  }

  const Network& network_;
  const TrainingTerms& terms_;
  std::int64_t ranks_;
  double count_, batch_;
  const Link& link_;
};

// Replicas sum up their gradients, each rank with those of the other replicas that hold the same weights.
void exchange_gradients(ParallelStep& step, const Network& network, const TrainingTerms& terms,
                        std::int64_t replicas, Parallelism inner) {
  if (replicas < 2) return;
  const double all = network.weights() * terms.number_bytes;
  if (inner == Parallelism::filter || inner == Parallelism::channel)
    step.gradient_bytes = all / static_cast<double>(terms.group);
  else if (inner != Parallelism::pipeline)
    step.gradient_bytes = all;
  step.gradients += link_for(terms.links, step.ranks).all_reduce(replicas, step.gradient_bytes);
}

std::string refusal(const Network& network, const TrainingTerms& terms, const ParallelStep& step,
                    std::int64_t replicas, std::int64_t ranks_of_replica) {
  if (is_hybrid(step.kind) && (step.ranks % terms.group != 0 || step.ranks < 2 * terms.group))
    return fmt::format("needs at least two groups of {} ranks, and whole ones", terms.group);
  if (static_cast<double>(replicas) > step.batch)
    return fmt::format("a batch of {:.0f} has less than one sample for each replica", step.batch);
  if (step.kind == Parallelism::data) return "";
  const Parallelism inner = inner_kind(step.kind);
  const auto [most, what] = most_ranks(network, inner);
  if (ranks_of_replica > most) return fmt::format("at most {} ranks: {} {}", most, most, what);
  const std::int64_t segments = terms.segments > 0 ? terms.segments : ranks_of_replica;
  if (inner == Parallelism::pipeline &&
      static_cast<double>(segments) > step.batch / static_cast<double>(replicas))
    return fmt::format("a replica's batch of {:.0f} has less than one sample for each of {} segments",
                       step.batch / static_cast<double>(replicas), segments);
  return "";
}

double efficiency(const ParallelStep& step, const Network& network, const TrainingTerms& terms) {
  const double batch = static_cast<double>(terms.global_batch > 0 ? terms.global_batch : terms.batch);
  const double alone = network.seconds() + terms.update / batch;
  return step.batch * alone / step.seconds() / static_cast<double>(step.ranks);
}

}  // namespace

ParallelStep parallel_step(const Network& network, const TrainingTerms& terms, Parallelism kind,
                           std::int64_t ranks) {
  ParallelStep step;
  step.kind = kind;
  step.ranks = ranks;
  const std::int64_t divided = is_hybrid(kind) ? terms.group : kind == Parallelism::data ? 1 : ranks;
  const std::int64_t replicas = std::max<std::int64_t>(1, ranks / divided);
  step.batch = static_cast<double>(terms.global_batch > 0 ? terms.global_batch : terms.batch * replicas);
  step.refusal = refusal(network, terms, step, replicas, divided);
  if (!step.refusal.empty()) return step;
  step.share = static_cast<double>(terms.samples) / step.batch;
  step.steps = std::ceil(step.share);
  const Parallelism inner = inner_kind(kind);
  ReplicaStep(network, terms, divided, step.batch / static_cast<double>(replicas)).add(inner, step);
  exchange_gradients(step, network, terms, replicas, inner);
  step.efficiency = efficiency(step, network, terms);
  step.fits = step.memory <= terms.memory;
  return step;
}

std::string bottleneck(const ParallelStep& step, const TrainingTerms& terms) {
  if (!step.refusal.empty()) return step.refusal;
  if (!step.fits)
    return fmt::format("memory: {:.1f} GB, and a rank has {:.1f} GB", step.memory / 1e9, terms.memory / 1e9);
  const std::array<std::pair<double, const char*>, 7> parts = {{
      {step.compute - step.bubble, "computation"},
      {step.update, "update of the weights"},
      {step.bubble, "stages of the pipeline that wait"},
      {step.gradients.latency, "latency of the gradients' exchange"},
      {step.gradients.transfer, "transfer of the gradients"},
      {step.activations.latency, "latency of the activations' exchange"},
      {step.activations.transfer, "transfer of the activations"},
  }};
  const auto most = std::ranges::max_element(parts);
  return fmt::format("{} ({:.0f} %)", most->second, 100 * most->first / step.seconds());
}

namespace {

// Why the outlook is not worth more ranks than it is.
std::string end_of(const ParallelOutlook& outlook, const TrainingTerms& terms, double least) {
  for (const ParallelStep& step : outlook.steps) {
    if (outlook.worth && step.ranks <= *outlook.worth) continue;
    const std::string why = bottleneck(step, terms);
    if (!step.refusal.empty() || !step.fits) return fmt::format("{} ranks: {}", step.ranks, why);
    return fmt::format("{} ranks: efficiency {:.2f}, below {:.2f}: {}", step.ranks, step.efficiency, least,
                       why);
  }
  return "";
}

void conclude(ParallelOutlook& outlook, const TrainingTerms& terms, double least) {
  double shortest = 0;
  for (const ParallelStep& step : outlook.steps) {
    if (!step.refusal.empty() || !step.fits) continue;
    if (step.efficiency >= least) outlook.worth = step.ranks;
    if (!outlook.fastest || step.epoch() < shortest) {
      outlook.fastest = step.ranks;
      shortest = step.epoch();
    }
  }
  outlook.end = end_of(outlook, terms, least);
}

}  // namespace

std::vector<ParallelOutlook> parallel_outlooks(const Network& network, const TrainingTerms& terms,
                                               std::span<const std::int64_t> ranks,
                                               std::span<const Parallelism> kinds, double least) {
  std::vector<ParallelOutlook> outlooks;
  for (const Parallelism kind : kinds) {
    ParallelOutlook outlook;
    outlook.kind = kind;
    for (const std::int64_t count : ranks)
      outlook.steps.push_back(parallel_step(network, terms, kind, count));
    conclude(outlook, terms, least);
    outlooks.push_back(std::move(outlook));
  }
  auto order = [](const ParallelOutlook& outlook) {
    const ParallelStep& step = outlook.steps.back();
    return std::make_tuple(!step.refusal.empty(), !step.fits, step.epoch());
  };
  std::ranges::stable_sort(outlooks, {}, order);
  return outlooks;
}

const ParallelStep* best_step(std::span<const ParallelOutlook> outlooks, double least) {
  const ParallelStep* best = nullptr;
  for (const ParallelOutlook& outlook : outlooks)
    for (const ParallelStep& step : outlook.steps)
      if (step.refusal.empty() && step.fits && step.efficiency >= least &&
          (best == nullptr || step.epoch() < best->epoch()))
        best = &step;
  return best;
}

Json to_json(const ParallelStep& step, const TrainingTerms& terms) {
  if (!step.refusal.empty()) return {{"ranks", step.ranks}, {"refused", step.refusal}};
  return {{"ranks", step.ranks},
          {"batch", step.batch},
          {"steps", step.steps},
          {"step_seconds", step.seconds()},
          {"compute_seconds", step.compute},
          {"update_seconds", step.update},
          {"bubble_seconds", step.bubble},
          {"gradients_seconds", step.gradients.seconds()},
          {"activations_seconds", step.activations.seconds()},
          {"epoch_seconds", step.epoch()},
          {"memory_bytes", step.memory},
          {"fits", step.fits},
          {"efficiency", step.efficiency},
          {"bottleneck", bottleneck(step, terms)}};
}

Json to_json(const ParallelOutlook& outlook, const TrainingTerms& terms) {
  Json json{{"strategy", kParallelisms.of(outlook.kind)}, {"steps", Json::array()}};
  for (const ParallelStep& step : outlook.steps) json["steps"].push_back(to_json(step, terms));
  if (outlook.worth) json["worth_ranks"] = *outlook.worth;
  if (outlook.fastest) json["fastest_ranks"] = *outlook.fastest;
  if (!outlook.end.empty()) json["end"] = outlook.end;
  return json;
}

}  // namespace kiln
