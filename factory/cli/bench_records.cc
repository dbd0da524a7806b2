#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <set>

#include "factory/app/run_records.h"
#include "factory/base/reading.h"
#include "factory/base/text.h"
#include "factory/bench/groups.h"
#include "factory/cli/bench.h"
#include "factory/cli/named_files.h"
#include "factory/cli/options.h"
#include "factory/cli/print.h"
#include "factory/cli/state_lock.h"
#include "factory/run/kept_runs.h"

namespace kiln {
namespace {

struct CompareOptions {
  std::string a;
  std::string b;
  std::vector<std::string> by;
  std::string format = "table";
};

struct DiscardOptions {
  std::string runs;
  bool restore = false;
};

struct ImportRunsOptions {
  std::string file;
  std::string as;
  std::vector<std::string> facts;
};

KeptRuns kept_runs(const StatePaths& state, Invocation& invocation) { return {state, invocation.files}; }

std::vector<BenchRun> runs_of_file(const std::string& file, const std::string& as, Invocation& invocation) {
  invocation.need_file(file);
  const RunFormat format = run_format(file, as);
  return read_runs(invocation.files.read(file).value_or(""), file, format, invocation.clock.unix_seconds());
}

// Those of `runs` that the choice takes, by their images of its snapshot too.
std::vector<BenchRun> chosen_of(std::vector<BenchRun> runs, const RunChoice& choice,
                                const Invocation& invocation) {
  std::set<std::string> keys;
  if (choice.snapshot != 0)
    for (const IndexEntry& entry : invocation.index(Index::Mode::read).entries(choice.snapshot))
      keys.insert(entry.image.key);
  return chosen_runs(std::move(runs), choice, keys);
}

// One side: a file, or a choice of the runs that the state folder keeps. Of both, only what counts.
struct Side {
  RunChoice choice;
  std::vector<BenchRun> runs;
  bool is_file = false;
};

Side read_side(const std::string& text, Invocation& invocation) {
  Side side;
  if (invocation.files.exists(text) || (format_of_file(text) && text.find('=') == std::string::npos)) {
    side.runs = runs_that_count(runs_of_file(text, "", invocation));
    side.is_file = true;
  } else {
    side.choice = parse_run_choice(text);
    const StatePaths state = invocation.state();
    side.runs = chosen_of(runs_that_count(kept_runs(state, invocation).all()), side.choice, invocation);
  }
  if (side.runs.empty())
    throw Error(ExitCode::no_match, "there is no run of " + text,
                "`kiln bench` makes them; `kiln bench import` takes others'");
  return side;
}

void print_groups(const GroupComparison& found, const CompareOptions& options) {
  Table table({"GROUP", "A", "B", "UNIT", "B AGAINST A", "RUNS", "MARKS"});
  for (const ComparedPair& pair : found.pairs)
    table.add({pair_name(found, pair), fmt::format("{:.2f}", pair.median_a),
               fmt::format("{:.2f}", pair.median_b), pair.unit, gain_text(pair.gain),
               fmt::format("{} and {}", pair.runs_a, pair.runs_b),
               fmt::format("{}", fmt::join(pair.marks, ", "))});
  say("A: {}\nB: {}\n", options.a, options.b);
  print_text(table.text());
  if (const auto mean = mean_gain(found))
    say("geometric mean of {}: {}\n", counted(found.pairs.size(), "group"), gain_text(*mean));
  for (const ComparedPair& pair : found.apart)
    say("not measured in turns: {} ({} and {})\n", pair_name(found, pair), pair.image_a, pair.image_b);
  for (const auto& values : found.only_a) say("only in A: {}\n", fmt::join(values, " "));
  for (const auto& values : found.only_b) say("only in B: {}\n", fmt::join(values, " "));
}

void run_compare(const CompareOptions& options, Invocation& invocation) {
  const Side a = read_side(options.a, invocation);
  const Side b = read_side(options.b, invocation);
  const bool apart = a.is_file || b.is_file || a.choice.names_session() || b.choice.names_session();
  const GroupComparison found =
      compare_groups(a.runs, b.runs, comparison_columns(options.by, a.choice, b.choice),
                     apart ? Apart::compare : Apart::refuse);
  need_pairs(found);
  if (options.format == "table") return print_groups(found, options);
  Json json = to_json(found);
  json["a"] = options.a;
  json["b"] = options.b;
  json["by"] = found.columns;
  print_json(json);
}

// Records the figures of the sessions of `touched` in the index: those that `kept` has by now.
std::size_t put_sessions(const std::vector<BenchRun>& kept, const std::vector<BenchRun>& touched,
                         Invocation& invocation) {
  if (!invocation.has_index()) return 0;
  Index index = invocation.index(Index::Mode::write);
  return SessionRecords(index).put(of_their_sessions(kept, touched), touched);
}

void run_import(const ImportRunsOptions& options, Invocation& invocation) {
  if (const auto project = kTableProjects.find(options.as))
    return import_tables(options.file, *project, options.facts, invocation);
  if (!options.facts.empty())
    throw Error(ExitCode::usage, "--set describes a table of results",
                "say --as timm or --as openvino as well");
  const std::vector<BenchRun> runs = runs_of_file(options.file, options.as, invocation);
  const StatePaths state = invocation.state();
  const WriterLock lock = lock_state(invocation, "kiln bench import of " + options.file);
  KeptRuns kept = kept_runs(state, invocation);
  need_known_units(runs, kept.all(), options.file);
  std::size_t fresh = 0;
  for (const BenchRun& run : runs) {
    if (kept.contains(KeptRuns::sum_of(run))) continue;
    kept.add(run);
    ++fresh;
  }
  const std::size_t recorded = put_sessions(kept.all(), runs, invocation);
  say("{} imported, {} there already; {} of images of the index\n", counted(fresh, "run"),
      runs.size() - fresh, counted(recorded, "measurement"));
}

void run_discard(const DiscardOptions& options, Invocation& invocation) {
  const RunChoice choice = parse_run_choice(options.runs);
  const StatePaths state = invocation.state();
  const WriterLock lock = lock_state(invocation, "kiln bench discard " + options.runs);
  KeptRuns kept = kept_runs(state, invocation);
  const std::vector<BenchRun> chosen =
      chosen_of(options.restore ? kept.discarded() : kept.all(), choice, invocation);
  if (chosen.empty())
    throw Error(ExitCode::no_match,
                fmt::format("there is no {}run of {}", options.restore ? "discarded " : "", options.runs));
  // The index first: a kill leaves the runs where they are, and the same command does it again.
  put_sessions(options.restore ? joined_runs(kept.all(), chosen) : without_runs(kept.all(), chosen), chosen,
               invocation);
  for (const BenchRun& run : chosen) {
    const std::string sum = KeptRuns::sum_of(run);
    if (options.restore)
      kept.restore(sum);
    else
      kept.discard(sum);
  }
  say("{} {}\n", counted(chosen.size(), "run"), options.restore ? "restored" : "discarded");
}

void add_bench_compare(CLI::App& bench, Invocation& invocation) {
  auto options = std::make_shared<CompareOptions>();
  CLI::App* command =
      add_below(bench, "compare", "Compare runs: two times, hosts, files, or groups of images",
                "kiln bench compare stock=yes stock=no\n"
                "kiln bench compare framework=tensorflow,compiler=none framework=tensorflow,compiler=xla\n"
                "kiln bench compare until=2026-11-01 since=2026-11-01\n"
                "kiln bench compare here.json there.json --by framework --by version");
  const char* what = "a file of runs, or COLUMN=GLOB,... of the runs that the state folder keeps";
  add_value(*command, "A", options->a, "RUNS", what)->required();
  add_value(*command, "B", options->b, "RUNS",
            "the runs to compare with A, in the same form: kiln prints how many times as fast they are")
      ->required();
  add_list(*command, "--by", options->by, "COLUMN",
           "a column that runs of A and B must share, in addition to the workload "
           "(default: every column that neither names); may be repeated");
  add_format_option(*command, options->format);
  call_alone(*command, [options, &invocation] { run_compare(*options, invocation); });
}

void add_bench_import(CLI::App& bench, Invocation& invocation) {
  auto options = std::make_shared<ImportRunsOptions>();
  CLI::App* command =
      add_below(bench, "import",
                "Import runs that were measured elsewhere, or by ReFrame, or results of timm or OpenVINO",
                "kiln bench import there.json\n"
                "kiln bench import benchmark-infer-fp32-nchw-pt240-cpu-i9_10940x-dynamo.csv --as timm\n"
                "kiln bench import OV-benchmark-data.csv --as openvino");
  add_value(*command, "file", options->file, "FILE",
            "a file that --export wrote, a run report of ReFrame, or a results table of timm or OpenVINO")
      ->required();
  std::vector<std::string> formats;
  for (const std::string_view name : kRunFormats.all()) formats.emplace_back(name);
  for (const std::string& name : kTableProjects.all()) formats.push_back(name);
  add_choice(*command, "--as", options->as, formats,
             "format of that file: json, csv, reframe, or timm or openvino, which only kiln model uses "
             "(default: by its suffix)")
      ->type_name("FORMAT");
  add_list(*command, "--set", options->facts, "NAME=VALUE",
           "with --as timm: host, device, version, compiler, layout, precision, source or licence, in place "
           "of the values in the file's name; with --as openvino: source or licence; may be repeated");
  add_wait_option(*command, invocation.options);
  call_alone(*command, [options, &invocation] { run_import(*options, invocation); });
}

void add_bench_discard(CLI::App& bench, Invocation& invocation) {
  auto options = std::make_shared<DiscardOptions>();
  CLI::App* command =
      add_below(bench, "discard",
                "Leave runs out of every figure; their rounds no longer count, and the index forgets them",
                "kiln bench discard 'mark=under load'\n"
                "kiln bench discard since=2026-11-20,until=2026-11-21\n"
                "kiln bench discard --restore since=2026-11-20");
  add_value(*command, "runs", options->runs, "RUNS",
            "COLUMN=GLOB,... of the runs that the state folder keeps")
      ->required();
  command->add_flag("--restore", options->restore, "take discarded runs back");
  add_wait_option(*command, invocation.options);
  call_alone(*command, [options, &invocation] { run_discard(*options, invocation); });
}

}  // namespace

std::vector<BenchRun> read_runs_of(const std::vector<std::string>& files, Invocation& invocation) {
  if (files.empty()) {
    const StatePaths state = invocation.state();
    return kept_runs(state, invocation).all();
  }
  constexpr JsonLimits kLimits{.bytes = 64u << 20, .members = 5'000'000};
  std::vector<BenchRun> runs;
  std::set<std::string> seen;  // files may share some
  for (const std::string& file : files)
    for (BenchRun& run : runs_from_json(read_document(invocation.files, file, kLimits).root(),
                                        invocation.clock.unix_seconds()))
      if (seen.insert(KeptRuns::sum_of(run)).second) runs.push_back(std::move(run));
  return runs;
}

RunFormat run_format(const std::string& file, const std::string& asked) {
  if (!asked.empty()) return *kRunFormats.find(asked);
  if (auto format = format_of_file(file)) return *format;
  throw Error(ExitCode::usage, "'" + file + "' does not say its format",
              "name it .json, .csv or .reframe.json, or say --as json, csv or reframe");
}

void add_run_format(CLI::App& command, std::string& asked) {
  add_choice(command, "--as", asked, kRunFormats.all(),
             "format of that file: json, csv or reframe (default: by its suffix)")
      ->type_name("FORMAT");
}

void export_runs(const std::string& file, const std::string& as,
                 const std::function<bool(const BenchRun&)>& wanted, Invocation& invocation) {
  const RunFormat format = run_format(file, as);
  const StatePaths state = invocation.state();
  std::vector<BenchRun> runs;
  for (BenchRun& run : kept_runs(state, invocation).all())
    if (wanted(run)) runs.push_back(std::move(run));
  if (runs.empty()) throw Error(ExitCode::no_match, "there is no run to export", "`kiln bench` makes them");
  write_named(file, write_runs(runs, format), invocation.files);
  invocation.note(fmt::format("wrote  {} ({})", file, counted(runs.size(), "run")));
}

void add_bench_records(CLI::App& bench, Invocation& invocation) {
  add_bench_compare(bench, invocation);
  add_bench_import(bench, invocation);
  add_bench_tables(bench, invocation);
  add_bench_discard(bench, invocation);
}

}  // namespace kiln
