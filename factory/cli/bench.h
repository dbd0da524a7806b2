// `kiln bench`: a workload in images of a catalogue, interleaved; the search for parts that gain; the runs
// that are kept.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "factory/app/benching.h"
#include "factory/bench/exchange.h"
#include "factory/bench/external_table.h"
#include "factory/bench/restriction.h"
#include "factory/cli/invocation.h"
#include "factory/cli/measuring_place.h"
#include "factory/cli/options.h"
#include "factory/cli/temporary_folder.h"
#include "factory/run/kept_runs.h"

namespace kiln {

// Digest of the workload's files: BenchRun::workload_files.
Digest workload_sum(const Recipe& workload);

// With its files, shared ones among them, in a folder that goes with it.
struct ReadyWorkload {
  // Throws Error(usage) when there is no such workload.
  ReadyWorkload(const RecipeBook& recipes, const std::string& name, FileSystem& files);
  ReadyWorkload(Recipe made, FileSystem& files);
  Digest sum() const { return workload_sum(recipe); }  // of its files

  TemporaryFolder folder;
  Recipe recipe;
};

// kiln's version, and the commit of recipes and workloads ("with changes" if they differ from it), if git
// knows it. Figures without it cannot be made again.
std::string measured_by(const RecipeBook& recipes, Invocation& invocation);

class ImageBench {
 public:
  // Takes index and host; with a restriction, this process keeps to so many processors from now on. REQUIRES:
  // all outlive this; the state folder is locked. Throws Error(usage) for a restriction that restricts
  // nothing, and for one of jobs; and as MeasuringPlace::machine().
  ImageBench(const Catalogue& catalogue, const StepSetup& setup, Index& index, MeasuringPlace& place,
             Invocation& invocation, const Restriction& restriction = {});

  // An image that is not built or not in the index is passed over, with a line on stderr. Throws
  // Error(no_match) when none is left, before anything is run; Error(usage) when there is no such workload;
  // interrupted, after which the same call continues with the rest. An image in which the workload fails is
  // reported on stderr and not in the answer, gets no record, and makes the exit code images_failed; if it is
  // the only one, throws its error.
  std::vector<BenchRow> run(const BenchWork& work, const ImageNumbers& images);
  const HostDescription& host() const { return host_; }

 private:
  struct Candidate : BenchedImage {
    ImageSpec image;
    SpeedsByName known;  // before this session
  };
  std::vector<Candidate> candidates(const ImageNumbers& images) const;
  bool has_layers(const Candidate& one) const;  // else it says so
  std::vector<BenchRequest> requests_of(const std::vector<Candidate>& all, const BenchWork& work,
                                        const ReadyWorkload& workload, const std::string& session) const;

  TurnsDone turns_here(const BenchWork& work, std::vector<BenchRequest>& requests, BegunComparison& begun);
  TurnsDone turns_in_jobs(BenchWork work, std::vector<BenchRequest>& requests, BegunComparison& begun,
                          const ImageNumbers& images);

  const Catalogue& catalogue_;
  const StepSetup& setup_;
  MeasuringPlace& place_;
  SessionRecords records_;
  Invocation& invocation_;
  HostDescription host_;
  std::map<std::string, std::string> settings_;  // that restrict the workloads
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

// Begins with each stock cell, measures all cells with one more part in turns with it, keeps the best proven
// one, and repeats this from there. Prints what was tried and the patch (RFC 6902), whose operations have a
// "reason" each. Throws as ImageBench::run(); Error(no_match) without a stock cell that is built. REQUIRES:
// the state folder is locked.
void search_parts(const Catalogue& catalogue, const std::vector<SearchPart>& parts, const SearchTerms& terms,
                  const Site& site, MeasuringPlace& place, Invocation& invocation);

// Adds `compare`, `import`, `tables` and `discard` to the command bench.
void add_bench_records(CLI::App& bench, Invocation& invocation);
void add_bench_tables(CLI::App& bench, Invocation& invocation);

// Keeps the results of another project (bench/external_table.h) for the performance model; `facts`:
// "host=ours", … Throws as the project's reader, and Error(usage) for a fact without a value.
void import_tables(const std::string& file, TableProject project, const std::vector<std::string>& facts,
                   Invocation& invocation);

// Of these files of `kiln bench --export`, each run once; without any, of the state folder.
std::vector<BenchRun> read_runs_of(const std::vector<std::string>& files, Invocation& invocation);

// Format of a file: as `asked` names it, else by the file's ending. Throws Error(usage) if neither is known.
RunFormat run_format(const std::string& file, const std::string& asked);
// Adds --as.
void add_run_format(CLI::App& command, std::string& asked);

// Writes the kept runs for which `wanted` returns true. Throws Error(no_match) if it returns true for none.
void export_runs(const std::string& file, const std::string& format,
                 const std::function<bool(const BenchRun&)>& wanted, Invocation& invocation);

}  // namespace kiln
