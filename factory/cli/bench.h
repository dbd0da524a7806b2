// `kiln bench`: a workload in images of a catalogue, interleaved; the search for parts that gain; the runs
// that are kept.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "factory/bench/exchange.h"
#include "factory/cli/invocation.h"
#include "factory/cli/options.h"
#include "factory/plan/cell_patterns.h"
#include "factory/run/bench.h"
#include "factory/run/session_records.h"

namespace kiln {

// What is to be measured, and how often.
struct BenchWork {
  std::string workload;
  WorkloadWishes wishes;
  int rounds = 3;
  int repeats = 1;                  // of a run that others disturbed
  bool again = false;               // what was measured on this host before, too
  std::int64_t no_round_after = 0;  // Unix seconds; 0: no end. Later rounds are left for the same call
  std::size_t runs_after = 0;       // at the most, in what follows this: for the time that is left
};

struct BenchRow {
  std::string image;  // repository:tag
  Measurement measurement;
  bool fresh = false;                // measured now
  std::vector<BenchRun> runs;        // of which the measurement is; empty where it is not fresh
  std::vector<Measurement> history;  // all measurements of the image, by their time
};

using SpeedsByName = std::map<std::string, Measurement>;  // by Measurement::workload

class ImageBench {
 public:
  // Takes index and host. REQUIRES: all outlive this; the state folder is locked. Throws Error(usage) when
  // there is no such folder of recipes.
  ImageBench(const Catalogue& catalogue, const StepSetup& setup, Index& index, Invocation& invocation);

  // An image that is not built or not in the index is passed over, with a line on stderr. Throws
  // Error(no_match) when none is left, before anything is run; Error(usage) when there is no such workload;
  // interrupted, and then the same call goes on with what is left. An image in which the workload fails is
  // told on stderr and not in the answer, has nothing recorded, and makes the exit code images_failed; the
  // error itself where it is the only one.
  std::vector<BenchRow> run(const BenchWork& work, const ImageNumbers& images);
  const HostDescription& host() const { return host_; }

 private:
  struct Candidate {
    ImageSpec image;
    std::vector<std::string> names;  // of all that have these bits
  };
  std::vector<Candidate> candidates(const ImageNumbers& images) const;
  struct Session;  // the one that a call of run() begins, or goes on with
  // The last of each metric on this host, with this version of the workload, of other sessions.
  SpeedsByName known_before(const Candidate& one, const BenchWork& work, const Session& session) const;
  bool has_layers(const Candidate& one) const;  // else it says so
  std::vector<BenchRequest> requests_of(const std::vector<Candidate>& all, const BenchWork& work,
                                        const Session& session) const;
  // A row for each name and metric; none where there are neither runs that count nor an earlier measurement.
  std::vector<BenchRow> rows_of(const Candidate& one, const std::vector<BenchRun>& counting,
                                const SpeedsByName& before) const;

  const Catalogue& catalogue_;
  const StepSetup& setup_;
  SessionRecords records_;
  Invocation& invocation_;
  HostDescription host_;
};

// A workload, and the cells among which its parts are searched.
struct SearchPart {
  BenchWork work;
  ImageNumbers images;
};

struct SearchTerms {
  std::string matrix;  // -f
  std::string into;    // the patch includes cells in this matrix; "": it excludes cells from the matrix of -f
  std::string patch;   // file that gets the patch; "": stdout alone
  std::string format;  // table or json
  bool build = false;  // build and publish cells that are not in the index
};

// Begins with each stock cell, measures all cells with one part more in turns with it, keeps the best that is
// proven, and goes on from there. Prints what was tried and the patch (RFC 6902), whose operations have a
// "reason" each. Throws as ImageBench::run(); Error(no_match) without a stock cell that is built. REQUIRES:
// the state folder is locked.
void search_parts(const Catalogue& catalogue, const std::vector<SearchPart>& parts, const SearchTerms& terms,
                  Invocation& invocation);

// Adds `compare`, `import` and `discard` to the command bench.
void add_bench_records(CLI::App& bench, Invocation& invocation);

// Of a file: what `asked` names, else by its ending. Throws Error(usage) where neither tells.
RunFormat run_format(const std::string& file, const std::string& asked);
// Adds --as.
void add_run_format(CLI::App& command, std::string& asked);

// Writes the kept runs that `wanted` takes. Throws Error(no_match) when there is none.
void export_runs(const std::string& file, const std::string& format,
                 const std::function<bool(const BenchRun&)>& wanted, Invocation& invocation);

}  // namespace kiln
