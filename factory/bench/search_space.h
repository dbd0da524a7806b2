// The search space of a tuning: environment variables of a workload, and also options of a training script,
// each with its values. Format: docs/formats/files.md, schema/space.schema.json. Pure.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "factory/base/json.h"
#include "factory/bench/run.h"

namespace kiln {

// Variables and their values. The image decides all other variables: {} is the default.
using TuningSetting = std::map<std::string, std::string>;

// Real numbers from `low` to `high`.
struct RealRange {
  double low = 0, high = 0;
};

// A list of values, of which the variable may also have none; or whole numbers from `from` to `to`; or real
// numbers.
struct SearchVariable {
  std::string name;                 // OMP_PROC_BIND; of a script's option "--rate"
  std::vector<std::string> values;  // none of them empty; without values it is a range
  std::int64_t from = 0, to = 0, step = 1;
  std::optional<RealRange> real{};  // in place of whole numbers
  bool logarithmic = false;         // numbers are drawn evenly by their logarithm

  double count() const;  // of its values, "not set" with a list included; infinite of real numbers
};

struct SearchSpace {
  std::vector<SearchVariable> variables;  // never empty, each name once
  bool maximises = false;                 // more of a script's objective is better
  double points() const;                  // all combinations
};

// The name is that of a script's option: "--rate".
bool is_option(std::string_view name);

// Throws Error(usage) for parts that only the space of a script may have: an option, an objective to
// maximise.
void need_space_of_workload(const SearchSpace& space);

// More points than this are a mistake: no budget sees a part of them.
inline constexpr double kMostPoints = 1e9;

// Throws Error(input) with the place of an empty range, a value that is empty, a name that is no variable's
// and no option's or one that kiln sets itself, and for more than kMostPoints combinations of lists and whole
// numbers.
SearchSpace search_space_from_json(const JsonNode& node);
Json to_json(const SearchSpace& space);

// Inputs of the default search space.
struct SpaceOrigin {
  RunAxes axes;  // of an image without a GPU
  int cores = 1;
  std::map<std::string, std::string> environment{};  // the image's, of which allocators are recognised
  std::string mpi{};                                 // openmpi or mpich; "": the image has none
};

// The default search space: threads and their places, the allocator and its pages, and the options of the
// framework, compilers and MPI that the image has.
SearchSpace default_space(const SpaceOrigin& origin);

// "OMP_NUM_THREADS=4 OMP_PROC_BIND=close"; "the default" of {}.
std::string text_of(const TuningSetting& setting);

}  // namespace kiln
