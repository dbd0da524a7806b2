// select: ImageQuery + index entries + host → the best image, with reasons, as docs/selection.md says. Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "factory/base/json.h"
#include "factory/cpu/microarchitecture.h"
#include "factory/record/tuned_record.h"
#include "registry/index/index.h"
#include "registry/select/comparable.h"
#include "registry/select/dsl.h"

namespace kiln {

struct Candidate {
  const IndexEntry* entry = nullptr;
  // The first clause that failed, in the order of preference ("needs avx512f; host zen2 lacks it"); "" = it
  // qualifies.
  std::string failed;
  int clauses_met = 0;  // how many held before the first that failed; the nearest miss has most among those
                        // of the application
  const Measurement* measured = nullptr;      // the one that ranked it
  bool host_refuses = false;                  // the failed clause is about the host
  bool alone = false;                         // no other clause fails
  std::optional<PredictedSpeed> predicted{};  // of one that qualifies and is not measured
  std::string behind{};                       // of another that qualifies: why it stands after the winner
};

struct Selection {
  std::optional<Candidate> winner;   // nothing: no image matches
  std::vector<std::string> reasons;  // why it won, in the order of preference: "measured 185 ms/step
                                     // (mnist-cnn, …), 1.63x faster than …"
  std::optional<TunedRecord> tuned;  // setting of the winner that the question may use (tuned_setting.h)
  std::vector<Candidate> others;     // qualifying ones by rank, then misses, nearest first
  std::string nearest_miss;          // when nothing matched: one line
  bool host_refuses = false;         // … and it is the host that it does not run on
};

struct Host {
  HostDescription description;
  bool known = false;  // false: nothing is known of the host, so nothing is refused for it
  bool operator==(const Host&) const = default;
};

Selection select_image(const ImageQuery& query, const std::vector<IndexEntry>& entries, const Host& host,
                       const Microarchitectures& cpus, const Predictions& predictions = {});

// `limit`: no more than so many others that qualify, misses, and reasons of these; 0: all.
Json to_json(const Selection& selection, std::size_t limit = 0);
// The text of `--explain`.
std::string explain(const Selection& selection, std::size_t limit = 0);

}  // namespace kiln
