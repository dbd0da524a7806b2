// The question of `kiln scale`, read from words and checked before the computation. Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "registry/scaling/parallel_step.h"
#include "registry/scaling/speedup.h"

namespace kiln {

// As written; "" = not said.
struct ScalingWords {
  std::string network{}, model{}, times{}, ranks{}, links{}, batch{}, global_batch{}, samples{}, seconds{};
  std::string update{}, memory{}, group{}, segments{}, efficiency{};
  std::vector<std::string> strategies{};
};

// Of files.
struct AskedScaling {
  std::string workload;
  std::optional<int> ranks;
  std::optional<double> efficiency;
  std::optional<Network> network{};  // of the file that --network names
};

// A network under the oracle, or a program under a law of speedup.
struct ScalingQuestion {
  std::optional<Network> network;
  TrainingTerms terms;
  std::vector<Parallelism> kinds;
  SpeedupModel model;                                        // without a network
  std::optional<FittedSpeedup> fit;                          // of the model, from times
  std::vector<std::int64_t> ranks;                           // ascends
  std::optional<double> efficiency;                          // the least; nullopt: not said
  double least() const { return efficiency.value_or(0.5); }  // below half, most of the money waits
};

// Words come before the document. Throws Error(input) for a value that makes no sense, Error(usage) for words
// that do not go together or say neither a network nor a model.
ScalingQuestion read_scaling_question(const ScalingWords& words, const AskedScaling& document);

// The ranks that a law of speedup chooses, and the least and most of them that the fit allows.
struct RankChoice {
  std::int64_t ranks = 1, low = 1, high = 1;
};
RankChoice choose_ranks(const ScalingQuestion& question);  // REQUIRES: there is no network

}  // namespace kiln
