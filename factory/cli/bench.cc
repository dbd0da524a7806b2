// kiln bench: measures workloads in published images and records the figures in the index.
#include "factory/cli/bench.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "factory/app/bench_parts.h"
#include "factory/base/reading.h"
#include "factory/bench/suite.h"
#include "factory/cli/named_files.h"
#include "factory/cli/print.h"
#include "factory/cli/state_lock.h"
#include "registry/select/gain.h"

namespace kiln {
namespace {

Json gain_json(const GainOver& found) {
  const MeasuredGain& gain = found.gain;
  return {{"a", found.over->median}, {"b", found.of->median}, {"ratio", gain.ratio},
          {"low", gain.low},         {"high", gain.high},     {"different", gain.different()}};
}

Json to_json(const BenchRow& row, const std::optional<GainOver>& gain) {
  Json item = to_json(row.measurement);
  item["name"] = row.image;
  item["measured_now"] = row.fresh;
  item["doubtful"] = doubts_of(row);
  if (!row.runs.empty()) {
    item["runs"] = row.runs.size();
    item["stock"] = row.runs.back().stock;
  }
  item.erase("gains");  // over all others of the session, by their keys
  if (gain) item["against_first"] = gain_json(*gain);
  return item;
}

// As a table, or as JSON. Rows of one workload are compared with the first of them that was measured now.
void print_bench_rows(const std::vector<BenchRow>& rows, const std::string& format) {
  const std::vector<std::optional<GainOver>> gains = gains_of(rows);
  if (format == "json") {
    Json all = Json::array();
    for (std::size_t i = 0; i < rows.size(); ++i) all.push_back(to_json(rows[i], gains[i]));
    return print_json(all);
  }
  Table table({"IMAGE", "WORKLOAD", "MEDIAN", "QUARTILES", "UNIT", "SAMPLES", "AGAINST THE FIRST", "MEASURED",
               "DOUBTFUL"});
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const BenchRow& row = rows[i];
    const Measurement& measured = row.measurement;
    table.add({row.image, measured.workload, fmt::format("{:.1f}", measured.median),
               fmt::format("{:.1f} to {:.1f}", measured.low, measured.high), measured.unit,
               std::to_string(measured.samples), gains[i] ? gain_text(gains[i]->gain) : "",
               row.fresh ? "now" : measured.taken, doubts_of(row)});
  }
  print_text(table.text());
}

struct BenchOptions : CellOptions {
  BenchWork work;
  std::string ranks;  // with commas
  std::vector<std::string> restrictions;
  std::string suite;
  std::string export_file;
  std::string as;
  std::string in_job;  // file of a job's round: this is that job
  PlaceOffers offers;
  std::string format = "table";
  bool search = false;
  SearchTerms terms;  // of the search
};

// The works of all parts, and for each the cells that it runs in.
struct BenchParts {
  std::vector<BenchWork> works;
  std::vector<CellOptions> cells;
};

BenchParts parts_of_options(const BenchOptions& options) {
  BenchParts parts{works_of_ranks(options.work, options.ranks), {}};
  parts.cells.assign(parts.works.size(), options);
  return parts;
}

BenchParts parts_of_suite(const BenchOptions& options, Invocation& invocation) {
  const Suite suite = suite_from_json(read_document(invocation.files, options.suite).root());
  BenchParts parts;
  for (const SuiteWorkload& workload : suite.workloads) {
    parts.works.push_back(work_of(options.work, workload));
    parts.cells.push_back(options);
    parts.cells.back().cells = workload.cells;
    parts.cells.back().exclude = workload.exclude;
  }
  return parts;
}

// All that can be wrong with what is asked is said before anything is run.
std::vector<ImageNumbers> choose_all(const BenchParts& parts, const Catalogue& catalogue,
                                     Invocation& invocation) {
  std::vector<ImageNumbers> chosen;
  for (std::size_t i = 0; i < parts.works.size(); ++i) {
    chosen.push_back(choose_whole_cells(catalogue.plan.resolution(), parts.cells[i], invocation).images);
    workload_named(catalogue.recipes, parts.works[i].workload);
  }
  return chosen;
}

BenchParts parts_of(const BenchOptions& options, Invocation& invocation) {
  BenchParts parts = options.suite.empty() ? parts_of_options(options) : parts_of_suite(options, invocation);
  for (const BenchWork& work : parts.works) invocation.workloads.push_back(work.workload);
  return parts;
}

std::vector<BenchRow> measure_parts(const BenchOptions& options, Invocation& invocation) {
  (void)read_restriction(options.restrictions);  // what is wrong is said first
  const Site site = invocation.site();
  MeasuringPlace place(site, options.offers, "bench", invocation);
  if (!place.in_jobs()) invocation.need_root_or_namespace();
  BenchParts parts = parts_of(options, invocation);
  std::vector<BenchWork>& works = parts.works;
  const Catalogue catalogue = invocation.load(options.matrix);
  const std::vector<ImageNumbers> chosen = choose_all(parts, catalogue, invocation);
  std::vector<std::size_t> counts;
  for (const ImageNumbers& images : chosen) counts.push_back(images.size());
  count_what_follows(works, counts);
  const StatePaths state = invocation.state();
  const WriterLock lock = lock_state(invocation, "kiln bench of " + catalogue.plan.name());
  Index index = invocation.index(Index::Mode::write);
  const StepSetup setup = invocation.step_setup(site, state);
  ImageBench bench =
      image_bench(catalogue, setup, index, place, invocation, read_restriction(options.restrictions));
  std::vector<BenchRow> rows;
  for (std::size_t i = 0; i < works.size(); ++i) {
    if (works.size() > 1)
      invocation.note(fmt::format("bench  part {} of {}: {}", i + 1, works.size(), works[i].workload));
    for (BenchRow& row : bench_images(bench, works[i], chosen[i], invocation)) rows.push_back(std::move(row));
  }
  return rows;
}

// A search needs as many rounds as prove a gain.
void search(const BenchOptions& options, Invocation& invocation) {
  const Site site = invocation.site();
  MeasuringPlace place(site, options.offers, "bench", invocation);
  if (!place.in_jobs()) invocation.need_root_or_namespace();
  const BenchParts parts = parts_of(options, invocation);
  if (!options.terms.into.empty()) invocation.need_file(options.terms.into);
  const Catalogue catalogue = invocation.load(options.matrix);
  const std::vector<ImageNumbers> chosen = choose_all(parts, catalogue, invocation);
  const WriterLock lock = lock_state(invocation, "kiln bench --search of " + catalogue.plan.name());
  std::vector<SearchPart> search;
  for (std::size_t i = 0; i < chosen.size(); ++i) search.push_back({proving(parts.works[i]), chosen[i]});
  SearchTerms terms = options.terms;
  terms.matrix = options.matrix;
  terms.format = options.format;
  search_parts(catalogue, search, terms, site, place, invocation);
}

void run_bench(const BenchOptions& options, Invocation& invocation) {
  if (!options.in_job.empty()) return run_node_task<NodeRound>(options.in_job, invocation);
  if (options.matrix.empty()) {
    if (options.export_file.empty())
      throw Error(ExitCode::usage, "--file is required", "kiln bench -f MATRIX CELLS --workload WORKLOAD");
    return export_runs(
        options.export_file, options.as, [](const BenchRun&) { return true; }, invocation);
  }
  if (options.work.workload.empty() && options.suite.empty())
    throw Error(ExitCode::usage, "--workload or --suite is required",
                "which workload components there are: recipes/workload/");
  if (options.search) return search(options, invocation);
  if (!options.export_file.empty()) run_format(options.export_file, options.as);
  const std::vector<BenchRow> rows = measure_parts(options, invocation);
  print_bench_rows(rows, options.format);
  if (options.export_file.empty()) return;
  std::set<std::pair<std::string, std::string>> shown;
  for (const BenchRow& row : rows) shown.emplace(row.measurement.key, row.measurement.workload);
  export_runs(
      options.export_file, options.as,
      [&](const BenchRun& run) {
        return shown.contains({run.key, speed_name(run)});
      },
      invocation);
}

void add_work_options(CLI::App& command, BenchOptions& options) {
  BenchWork& work = options.work;
  add_value(command, "--workload", work.workload, "WORKLOAD", "workload component of the recipes");
  add_value(command, "--suite", options.suite, "FILE",
            "workloads and their cells from this file (kiln schema suite)");
  add_number(command, "--rounds", work.rounds, "N",
             "starts of the workload in each image, in turns: A B, B A, A B; those of an interrupted "
             "bench count",
             1, 1000);
  add_number(command, "--repeat", work.repeats, "N", "most repetitions of a run that other programs disturb",
             0, 100);
  add_number(command, "--steps", work.wishes.steps, "N", "timed steps of each run (default: the workload's)",
             1, 1'000'000);
  add_value(command, "--ranks", options.ranks, "N",
            "processes that work together, if the workload supports it: one number, or several such as 1,2");
  add_list(command, "--restrict", options.restrictions, "WHAT",
           "measure as a lesser machine: x86_64_v2, x86_64_v3 or cores=N; may be repeated");
  add_value(command, "--data", work.wishes.data, "PATH",
            "real input for the workload, mounted read-only (default: synthetic)");
  command.add_flag("--again", work.again,
                   "measure existing results of this host again; the new figures replace the old ones");
}

void add_search_options(CLI::App& command, BenchOptions& options) {
  CLI::Option* search = command.add_flag(
      "--search", options.search,
      "find the libraries, graph compilers and runtimes that gain: add one at a time to the stock cell, keep "
      "the best that is proven in seven rounds, go on from there, and print a patch of the matrix");
  command
      .add_flag("--build-if-missing", options.terms.build,
                "with --search: build and publish the cells that it tries")
      ->needs(search);
  add_value(command, "--into", options.terms.into, "FILE",
            "with --search: patch this matrix to include the cells that are worth keeping (default: "
            "patch the matrix of -f to exclude those that are not)")
      ->needs(search);
  add_value(command, "--patch", options.terms.patch, "FILE",
            "with --search: also write the patch to this file")
      ->needs(search);
}

}  // namespace

CLI::App* add_bench(CLI::App& app, Invocation& invocation) {
  auto options = std::make_shared<BenchOptions>();
  CLI::App* command = add_below(
      app, "bench", "Measure workloads in published images, in turns, and compare the runs",
      "kiln bench -f matrix/demo.json framework=pytorch --workload mnist-cnn\n"
      "kiln bench -f matrix/demo.json --suite suite.json --export runs.json\n"
      "kiln bench -f search.json --suite suite.json --search --build-if-missing --into matrix/site.json\n"
      "kiln bench compare stock=yes stock=no");
  add_cell_options(*command, *options);
  command->get_option("--file")->required(false);  // compare, import and discard need none
  add_work_options(*command, *options);
  add_search_options(*command, *options);
  add_value(*command, "--export", options->export_file, "FILE",
            "write the runs of these images to this file; without -f, all kept runs");
  add_run_format(*command, options->as);
  add_place_options(*command, options->offers, options->in_job, invocation,
                    "measure on this machine even if the site file has Slurm",
                    "rounds as jobs of Slurm at the same time, each with a node to itself (default: 4)");
  add_wait_option(*command, invocation.options);
  add_format_option(*command, options->format);
  add_bench_records(*command, invocation);
  command->require_subcommand(0, 1);
  command->callback([options, command, &invocation] {
    if (!command->get_subcommands().empty()) return;
    refuse_together(*command, "--suite", "--workload", "the suite names its workloads");
    refuse_together(*command, "--search", "--export", "a search prints its trials, and a patch");
    refuse_together(*command, "--search", "--restrict", "a search is for the machine as it is");
    refuse_together(*command, "--suite", "--steps", "the suite says how many");
    refuse_together(*command, "--suite", "--ranks", "the suite says how many");
    refuse_together(*command, "--suite", "--data", "the suite names it");
    refuse_folder(options->export_file, "--export");
    refuse_folder(options->terms.patch, "--patch");
    run_bench(*options, invocation);
  });
  return command;
}

}  // namespace kiln
