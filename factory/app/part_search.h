// The course of `kiln bench --search`: which additions it tries over which cell, whether a session answers
// already, what each try showed, and which cells are worth keeping. The steps of the search are in
// bench/search.h.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "factory/app/benching.h"
#include "factory/app/catalogue.h"
#include "factory/bench/search.h"
#include "factory/night/measuring.h"
#include "registry/index/index.h"

namespace kiln {

// The tries of one workload that began with one stock cell.
struct WorkloadSearch {
  std::string workload;
  const SearchCell* start;
  std::vector<SearchTry> tries{};
};

using Measurements = std::vector<Measurement>;  // of some bits, by their time

// Whether one session, with enough rounds to prove a gain, has all of these images: a search that was killed
// goes on where it was.
bool is_measured(const std::vector<const Measurements*>& images, const MeasuredWorkload& place);

// What the cell showed over `over`, and over the stock cell of the search. Of several metrics the one with
// the least gain.
SearchTry try_of(const SearchCell& cell, const SearchCell& over, const Measurements& of_cell,
                 const Measurements& of_over, const Measurements& of_stock, const MeasuredWorkload& place);

// "mnist-cnn: kept, 1.21 times as fast as pytorch:2.6.0 (1.17 to 1.25), …".
std::string reason_of(const WorkloadSearch& search, const SearchTry& one);

// Reasons by image. The ends of searches are worth keeping. A cell with a gain that no search ends with, and
// that none goes on from, is not.
struct SearchVerdicts {
  std::map<std::uint32_t, std::vector<std::string>> kept, refuted;
};
SearchVerdicts verdicts_of(const std::vector<WorkloadSearch>& searches);

// The image as a cell of a search: its library, graph compiler and runtime are the parts, all other axes the
// base.
SearchCell search_cell(const Catalogue& catalogue, std::uint32_t number);

struct PartSearchSetup {
  const Catalogue& catalogue;
  const StatePaths& state;
  const FileSystem& files;
};

// Effects of a search on index, containers and terminal.
struct PartSearchEffects {
  std::function<std::vector<IndexEntry>()> entries;                              // of the current snapshot
  std::function<HostDescription()> host;                                         // that is measured
  std::function<void(const BenchWork& work, const ImageNumbers& images)> bench;  // ImageBench::run()
  std::function<void(const std::string& line)> note;
  // Builds and publishes cells. Empty: the search passes over images that are not in the index.
  std::function<void(const ImageNumbers& images)> build{};
};

class PartSearch {
 public:
  // REQUIRES: what `setup` refers to outlives this.
  PartSearch(const PartSearchSetup& setup, PartSearchEffects effects);

  // In the order of their beginnings. `cells` outlives the answer.
  std::vector<WorkloadSearch> run(const BenchWork& work, const std::vector<SearchCell>& cells);

 private:
  // The cell that is kept; nullptr: no addition is proven better.
  const SearchCell* add_one(const BenchWork& work, const SearchCell& start, const SearchCell& over,
                            const std::vector<SearchCell>& cells, WorkloadSearch& search);
  std::string key_of(const SearchCell& cell) const;
  bool is_ready(const SearchCell& cell) const;
  // Those that are built and in the index; the others are made so first, if they can be.
  std::vector<const SearchCell*> ready(std::vector<const SearchCell*> cells);
  // Returns where, for the speeds that count.
  MeasuredWorkload measure(const BenchWork& work, const ImageNumbers& images);
  const Measurements& measurements_of(const std::string& key) const;
  void read_index();

  const PartSearchSetup setup_;
  const PartSearchEffects effects_;
  std::map<std::string, IndexEntry> entries_;  // by key
};

}  // namespace kiln
