// kiln tune: searches the environment variables with which a workload is fastest in the image of a document.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>

#include "factory/base/reading.h"
#include "factory/base/text.h"
#include "factory/cli/named_files.h"
#include "factory/cli/options.h"
#include "factory/cli/print.h"
#include "factory/cli/state_lock.h"
#include "factory/cli/tune_work.h"
#include "factory/figures/line_chart.h"
#include "factory/record/tuned_record.h"
#include "factory/run/kept_files.h"

namespace kiln {
namespace {

double budget_of(const std::string& text) {
  const auto budget = duration_of(text);
  if (!budget)
    throw Error(ExitCode::usage, fmt::format("--budget: expected a time, found '{}'", text),
                "for example 30m or 2h");
  if (budget->count() == 0)
    throw Error(ExitCode::usage, "--budget: a budget of nothing allows no trial", "for example 30m");
  return static_cast<double>(budget->count());
}

void print_trials(const TuningJournal& journal, std::initializer_list<std::string_view> heading) {
  const std::vector<const TuningTrial*> trials = by_cost(journal);
  constexpr std::size_t kShown = 10;
  Table table(heading);
  for (std::size_t i = 0; i < std::min(trials.size(), kShown); ++i) {
    const std::string value = fmt::format("{:.4g}", trials[i]->median), name = trial_name(trials[i]->setting);
    if (trials[i]->unit.empty())
      table.add({value, name});
    else
      table.add({value, trials[i]->unit, name});
  }
  table.print();
}

Json trials_json(const TuningJournal& journal) {
  Json trials = Json::array();
  for (std::size_t i = 0; i < journal.trials.size(); ++i) trials.push_back(to_json(journal.trials[i], i));
  return trials;
}

void print_tuned(const TunedRecord& record, const TuningJournal& journal, const std::string& format) {
  if (format == "json") {
    Json json = to_json(record);
    json["trials"] = trials_json(journal);
    return print_json(json);
  }
  print_trials(journal, {"MEDIAN", "UNIT", "SETTING"});
  say("{} in {}: {}\n", record.workload, record.image, record.text);
  if (!record.recommended) return;
  for (const auto& [name, value] : record.settings) say("  {}={}\n", name, value);
}

// Of a script. The best of many trials is a lucky one, and nothing is compared: the words say so.
void print_found(const TuningHead& head, const TuningJournal& journal, const std::string& format) {
  const TuningTrial& best = *journal.best();
  if (format == "json")
    return print_json({{"script", head.workload},
                       {"image", head.image},
                       {"best", to_json(best, static_cast<std::size_t>(&best - journal.trials.data()))},
                       {"trials", trials_json(journal)}});
  print_trials(journal, {"OBJECTIVE", "SETTING"});
  say("{} in {}: {:.4g} is the best of {}; the script's own settings gave {:.4g}\n", head.workload,
      head.image, best.median, counted(journal.trials.size(), "trial"), journal.trials.front().median);
  for (const auto& [name, value] : best.setting) say("  {}={}\n", name, value);
}

// The results that the state folder has. Throws Error(store) for a file that kiln did not write.
void list_tuned(const std::string& format, const Invocation& invocation) {
  const fs::path folder = invocation.state().tuned_folder();
  Json list = Json::array();
  Table table({"WORKLOAD", "IMAGE", "HOST", "RESULT", "SETTING"});
  for (const std::string& name : invocation.files.list(folder)) {
    const TunedRecord record = read_tuned(folder / name, invocation.files);
    list.push_back(to_json(record));
    table.add({record.workload, record.image, fmt::format("{} x {}", record.host.model, record.host.cores),
               record.text, text_of(record.settings)});
  }
  if (format == "json") return print_json(list);
  if (table.empty()) throw Error(ExitCode::no_match, "nothing was tuned in this state folder");
  table.print();
}

void write_picture(const TuneOptions& options, const Tuning& tuning, const TuningJournal& journal,
                   Invocation& invocation) {
  if (options.picture.empty()) return;
  const TuningHead& head = tuning.what();
  const std::string& unit = journal.trials.front().unit;
  const TuningTitle title{head.workload + " in " + head.image, unit.empty() ? "objective" : unit};
  write_named(options.picture, tuning_picture(journal, title, tuning.more_is_better(journal)),
              invocation.files);
}

void check_options(TuneOptions& options, const Invocation& invocation) {
  if (options.dsl.empty() || options.matrix.empty())
    throw Error(ExitCode::usage, "kiln tune needs --dsl FILE and -f MATRIX",
                "kiln tune -f MATRIX --dsl FILE, or kiln tune --list");
  if (!options.script.empty() && options.space.empty())
    throw Error(ExitCode::usage, "--script needs --space FILE", "kiln does not know the options of a script");
  options.terms.budget = budget_of(options.budget);
  if (!options.space.empty())
    options.read_space = search_space_from_json(read_document(invocation.files, options.space).root());
  if (options.script.empty() && options.read_space) need_space_of_workload(*options.read_space);
  if (!options.script.empty()) invocation.need_file(options.script);
  refuse_folder(options.picture, "--svg");
  if (const std::string& data = options.wishes.data; !data.empty() && !invocation.files.exists(data))
    throw Error(ExitCode::input, fmt::format("--data: there is no file or folder '{}'", data));
}

void run_tune(TuneOptions& options, Invocation& invocation) {
  if (!options.in_job.empty()) return run_node_task<NodeTrial>(options.in_job, invocation);
  if (options.list) return list_tuned(options.format, invocation);
  check_options(options, invocation);
  const Site site = invocation.site();
  MeasuringPlace place(site, options.offers, "tune", invocation);
  if (!place.in_jobs()) invocation.need_root_or_namespace();
  const TunedImage image = image_of(options.dsl, place, invocation);
  const std::string& named = options.workload.empty() ? image.workload : options.workload;
  if (options.script.empty()) invocation.workloads.push_back(named.substr(0, named.find('.')));
  const Catalogue catalogue = invocation.load(options.matrix);
  const TunedProgram program = tuned_program(options.script, options.workload, image.workload,
                                             catalogue.recipes.names(Kind::workload));
  const StatePaths state = invocation.state();
  const WriterLock lock = lock_state(invocation, "kiln tune of " + image.record.name());
  const StepSetup setup = invocation.step_setup(site, state);
  Tuning tuning(options, program, catalogue, image, setup, invocation);
  const TuningJournal journal = tuning.run(place);
  if (program.is_script) {
    print_found(tuning.what(), journal, options.format);
  } else {
    const TunedRecord record = tuning.record(journal);
    invocation.files.write(state.tuned(record.sum()), to_json(record).dump(2) + "\n");
    Index(invocation.index(Index::Mode::write)).record(record);
    print_tuned(record, journal, options.format);
  }
  write_picture(options, tuning, journal, invocation);
}

void add_search_options(CLI::App& command, TuneOptions& options) {
  add_value(command, "--space", options.space, "FILE",
            "variables and their values from this file (kiln schema space)");
  add_value(command, "--budget", options.budget, "TIME",
            "time for trials and comparison, those of an interrupted tuning included: 90s, 30m, 2h")
      ->capture_default_str();
  constexpr std::size_t kUsualTrials = 200;
  options.terms.trials = kUsualTrials;
  add_number(command, "--trials", options.terms.trials, "N", "trials at most, the default's included", 1,
             100'000);
  add_number(command, "--seed", options.seed, "N", "the same seed and measurements give the same trials", 0,
             1'000'000'000);
  options.terms.rounds = kProvingRounds;
  add_number(command, "--rounds", options.terms.rounds, "N",
             "starts of the best setting and of the default in the comparison", kProvingRounds, 1000);
  command.add_flag("--again", options.again, "begin anew instead of going on");
}

void add_script_options(CLI::App& command, TuneOptions& options) {
  auto* script = add_value(command, "--script", options.script, "FILE",
                           "tune a training script of yours instead, by the objective that it prints");
  script->excludes("--workload");
  add_value(command, "--svg", options.picture, "FILE", "write a picture of the trials");
}

}  // namespace

CLI::App* add_tune(CLI::App& app, Invocation& invocation) {
  auto options = std::make_shared<TuneOptions>();
  CLI::App* command = add_below(
      app, "tune", "Search the environment variables with which a workload is fastest in an image",
      "kiln tune -f matrix/demo.json --dsl job.json --budget 30m\n"
      "kiln tune -f matrix/demo.json --dsl job.json --space space.json --seed 2\n"
      "kiln tune -f matrix/demo.json --dsl job.json --script train.py --space rates.json --svg trials.svg\n"
      "kiln tune --list");
  add_value(*command, "--dsl", options->dsl, "FILE",
            "DSL document, - for stdin: it chooses the image and the workload");
  add_value(*command, "-f,--file", options->matrix, "MATRIX", "matrix that the image was built from")
      ->envname("KILN_FILE");
  add_value(*command, "--workload", options->workload, "WORKLOAD",
            "workload component (default: the document's)");
  add_script_options(*command, *options);
  add_search_options(*command, *options);
  add_place_options(*command, options->offers, options->in_job, invocation,
                    "start the trials on this machine even if the site file has Slurm",
                    "jobs of Slurm at the same time; another number draws other trials (default: 4)");
  add_number(*command, "--steps", options->wishes.steps, "N",
             "timed steps of each run (default: the workload's)", 1, 1'000'000);
  add_value(*command, "--data", options->wishes.data, "PATH",
            "real input for the workload, mounted read-only (default: synthetic)");
  command->add_flag("--list", options->list, "print the results of earlier tunings of this state folder");
  add_wait_option(*command, invocation.options);
  add_format_option(*command, options->format);
  command->callback([options, &invocation] { run_tune(*options, invocation); });
  return command;
}

}  // namespace kiln
