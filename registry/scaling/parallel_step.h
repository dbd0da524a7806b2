// The oracle: compute, communication and memory of a step of parallel training, after Kahira and others, "An
// Oracle for Guiding Large-Scale Model/Hybrid Parallel Training of Convolutional Neural Networks" (HPDC 2021,
// arXiv 2104.09075), table 3. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "factory/base/enum_names.h"
#include "factory/base/json.h"
#include "registry/scaling/links.h"
#include "registry/scaling/network.h"

namespace kiln {

// The work that is divided among the ranks. A hybrid has replicas of the data, and divides each among a
// group.
enum class Parallelism {
  data,
  spatial,
  pipeline,
  filter,
  channel,
  data_spatial,
  data_pipeline,
  data_filter,
  data_channel
};
inline constexpr auto kParallelisms = enum_names<Parallelism>({{Parallelism::data, "data"},
                                                               {Parallelism::spatial, "spatial"},
                                                               {Parallelism::pipeline, "pipeline"},
                                                               {Parallelism::filter, "filter"},
                                                               {Parallelism::channel, "channel"},
                                                               {Parallelism::data_spatial, "data+spatial"},
                                                               {Parallelism::data_pipeline, "data+pipeline"},
                                                               {Parallelism::data_filter, "data+filter"},
                                                               {Parallelism::data_channel, "data+channel"}});

struct TrainingTerms {
  std::int64_t samples = 0;       // of an epoch
  std::int64_t batch = 0;         // of each replica
  std::int64_t global_batch = 0;  // of all replicas together; 0: `batch` times the replicas
  std::int64_t group = 4;         // ranks of a replica of a hybrid
  std::int64_t segments = 0;      // of a pipeline's batch; 0: as many as it has stages
  double number_bytes = 4;
  double update = 0;     // seconds in which one rank updates all weights
  double memory = 16e9;  // bytes of a rank
  Links links = abci_links();
};

// Of one rank, which waits for the others: seconds of a step.
struct ParallelStep {
  Parallelism kind = Parallelism::data;
  std::int64_t ranks = 1;
  double batch = 0;           // samples of a step, of all ranks together
  double steps = 0;           // of an epoch: the last one may have fewer samples
  double share = 0;           // samples of an epoch over those of a step
  double compute = 0;         // with the pipeline's bubble
  double update = 0;          // of the weights
  double bubble = 0;          // of the pipeline: stages without work
  MessageCost gradients;      // exchange of weights' gradients
  MessageCost activations;    // exchange of activations and their gradients
  double gradient_bytes = 0;  // of the weights that one exchange sums up
  double memory = 0;          // bytes of a rank
  double efficiency = 0;      // samples a second of each rank, over those of one rank alone
  bool fits = true;           // the memory
  std::string refusal;        // why there is no such step; nothing else is set then

  double communication() const { return gradients.seconds() + activations.seconds(); }
  double seconds() const { return compute + update + communication(); }
  double epoch() const { return share * compute + steps * (update + communication()); }
};

// REQUIRES: terms.samples, batch and group are at least 1; ranks too.
ParallelStep parallel_step(const Network& network, const TrainingTerms& terms, Parallelism kind,
                           std::int64_t ranks);

// The largest part of the step, in words: "the latency of the gradients' exchange (62 %)".
std::string bottleneck(const ParallelStep& step, const TrainingTerms& terms);

// Each kind of parallelism over the numbers of ranks, and which is the best. Pure.
struct ParallelOutlook {
  Parallelism kind = Parallelism::data;
  std::vector<ParallelStep> steps;  // one for each number of ranks
  // The most ranks whose step fits and is as efficient as was asked for; nullopt: none is.
  std::optional<std::int64_t> worth;
  // The ranks of the shortest epoch that fits; nullopt: none fits.
  std::optional<std::int64_t> fastest;
  std::string end;  // why it is not worth more ranks, or none
};

// Ranked: by the time of an epoch at the most ranks, those that fit the memory first, and those that have no
// such step last. `least`: the efficiency below which ranks are not worth it. REQUIRES: ranks ascends and is
// not empty, as is kinds.
std::vector<ParallelOutlook> parallel_outlooks(const Network& network, const TrainingTerms& terms,
                                               std::span<const std::int64_t> ranks,
                                               std::span<const Parallelism> kinds, double least);

// The step of the shortest epoch that fits the memory and is as efficient as `least`; nullptr: there is none.
const ParallelStep* best_step(std::span<const ParallelOutlook> outlooks, double least);

Json to_json(const ParallelStep& step, const TrainingTerms& terms);
Json to_json(const ParallelOutlook& outlook, const TrainingTerms& terms);

}  // namespace kiln
