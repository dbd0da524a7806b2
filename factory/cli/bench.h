// `kiln bench`: a workload in images of a catalogue, interleaved; the search for parts that gain; the runs
// that are kept.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "factory/app/benching.h"
#include "factory/app/image_bench.h"
#include "factory/bench/exchange.h"
#include "factory/bench/external_table.h"
#include "factory/bench/restriction.h"
#include "factory/cli/invocation.h"
#include "factory/cli/measuring_place.h"
#include "factory/cli/options.h"

namespace kiln {

// kiln's version, and the commit of recipes and workloads ("with changes" if they differ from it), if git
// knows it. Figures without it cannot be made again.
std::string measured_by(const RecipeBook& recipes, Invocation& invocation);

// Measures on this machine, or in jobs of the site's Slurm. With a restriction, this process keeps to so many
// processors from now on. REQUIRES: all but the restriction outlive the answer; the state folder is locked.
// Throws Error(usage) for a restriction that restricts nothing, and for one of jobs; and as
// MeasuringPlace::machine().
ImageBench image_bench(const Catalogue& catalogue, const StepSetup& setup, Index& index,
                       MeasuringPlace& place, Invocation& invocation, const Restriction& restriction = {});

// ImageBench::run(): reports each image in which the workload fails on stderr, and then sets the exit code
// images_failed.
std::vector<BenchRow> bench_images(ImageBench& bench, const BenchWork& work, const ImageNumbers& images,
                                   Invocation& invocation);

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
