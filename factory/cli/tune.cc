// kiln tune: searches the environment variables with which a workload is fastest in the image of a document.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "factory/base/quantity.h"
#include "factory/base/reading.h"
#include "factory/base/text.h"
#include "factory/cli/installation.h"
#include "factory/cli/invocation.h"
#include "factory/cli/print.h"
#include "factory/cli/select_host.h"
#include "factory/cli/select_question.h"
#include "factory/cli/state_lock.h"
#include "factory/cli/table.h"
#include "factory/cli/tune_image.h"

namespace kiln {
namespace {

struct TuneOptions {
  std::string dsl;
  std::string matrix;
  std::string workload;  // "" = the document's
  std::string space;
  std::string budget = "30m";
  std::string format = "table";
  std::size_t trials = 200;
  bool list = false;
  TuneWork work;
};

double budget_of(const std::string& text) {
  const auto budget = duration_of(text);
  if (!budget)
    throw Error(ExitCode::usage, fmt::format("--budget: expected a time, found '{}'", text),
                "such as 30m or 2h");
  if (budget->count() == 0)
    throw Error(ExitCode::usage, "--budget: a budget of nothing allows no trial", "such as 30m");
  return static_cast<double>(budget->count());
}

// The image that the document's question has on this machine.
ImageRecord image_of(const WrittenDocument& document, ImageQuery& query, Invocation& invocation) {
  const Index index = invocation.index(Index::Mode::read);
  Question question = read_asked(document, {}, &index, {}, invocation);
  for (const DslNote& note : question.reading.notes) invocation.note(text_of(note));
  question.host = choose_host("here", question.reading.query, invocation);
  const Answer answer = ask(&index, question, true, invocation.cpus());
  query = question.reading.query;
  if (!answer.selection.winner)
    throw no_match(answer, question, "", "the index is empty: run `kiln publish`");
  return answer.selection.winner->entry->image;
}

ImageSpec planned_image(const Catalogue& catalogue, const ImageRecord& record, const std::string& matrix) {
  for (std::size_t i = 0; i < catalogue.plan.size(); ++i)
    if (catalogue.plan.image(i).key() == record.key) return catalogue.plan.image(i).spec();
  throw Error(ExitCode::no_match, fmt::format("{} is not a cell of {} as it is now", record.name(), matrix),
              "name the matrix that it was built from, or build and publish it anew");
}

// "language-model.decode" of the workload `language-model`.
void read_workload(const std::string& named, const RecipeBook& recipes, TuneWork& work) {
  const std::size_t dot = named.find('.');
  work.workload = named;
  if (recipes.find(Kind::workload, named) != nullptr || dot == named.npos) return;
  work.workload = named.substr(0, dot);
  work.metric = named.substr(dot + 1);
}

SearchSpace space_of(const TuneOptions& options, const ImageSpec& image, Invocation& invocation) {
  if (!options.space.empty())
    return search_space_from_json(read_document(invocation.files, options.space).root());
  const HostDescription host = detect_host(invocation.files, invocation.cpus());
  return default_space(run_axes(image), host.cores, image.environment);
}

// The Python that has Optuna: named, of the checkout, or any.
TuningSearch tuning_search(Invocation& invocation) {
  fs::path python = shared_folder() / ".cache" / "venv" / "bin" / "python3";
  if (const auto named = invocation.environment.find("KILN_PYTHON"); named != invocation.environment.end())
    python = named->second;
  else if (!invocation.files.exists(python))
    python = "python3";
  return {python, invocation.runner, invocation.child_environment()};
}

TunedRecord read_tuned(const fs::path& file, const FileSystem& files) {
  try {
    return tuned_record_from_json(read_document(files, file).root());
  } catch (const Error& error) {
    throw Error(ExitCode::store, "a result is damaged: " + error.format(""), "remove the file");
  }
}

void print_tuned(const TuneResult& result, const std::string& format) {
  if (format == "json") {
    Json json = to_json(result.record);
    json["trials"] = Json::array();
    for (std::size_t i = 0; i < result.journal.trials.size(); ++i)
      json["trials"].push_back(to_json(result.journal.trials[i], i));
    return print_json(json);
  }
  std::vector<const TuningTrial*> trials;
  for (const TuningTrial& trial : result.journal.trials)
    if (trial.end == TrialEnd::complete) trials.push_back(&trial);
  std::stable_sort(trials.begin(), trials.end(),
                   [](const TuningTrial* a, const TuningTrial* b) { return a->cost < b->cost; });
  constexpr std::size_t kShown = 10;
  Table table({"MEDIAN", "UNIT", "SETTING"});
  for (std::size_t i = 0; i < std::min(trials.size(), kShown); ++i)
    table.add({fmt::format("{:.4g}", trials[i]->median), trials[i]->unit, text_of(trials[i]->setting)});
  table.print();
  say("{} in {}: {}\n", result.record.workload, result.record.image, result.record.text);
  if (!result.record.recommended) return;
  for (const auto& [name, value] : result.record.settings) say("  {}={}\n", name, value);
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

void run_tune(TuneOptions& options, Invocation& invocation) {
  if (options.list) return list_tuned(options.format, invocation);
  if (options.dsl.empty() || options.matrix.empty())
    throw Error(ExitCode::usage, "kiln tune needs --dsl FILE and -f MATRIX",
                "kiln tune -f MATRIX --dsl FILE, or kiln tune --list");
  options.work.terms.budget = budget_of(options.budget);
  options.work.terms.trials = options.trials;
  if (!options.work.wishes.data.empty()) invocation.need_file(options.work.wishes.data);
  invocation.need_root_or_namespace();
  ImageQuery query;
  const ImageRecord record =
      image_of(read_written_document(options.dsl, invocation.files), query, invocation);
  const std::string workload = options.workload.empty() ? query.workload : options.workload;
  if (workload.empty()) throw Error(ExitCode::usage, "the document names no workload", "--workload names it");
  invocation.workloads.push_back(workload.substr(0, workload.find('.')));
  const Catalogue catalogue = invocation.load(options.matrix);
  read_workload(workload, catalogue.recipes, options.work);
  const ImageSpec image = planned_image(catalogue, record, options.matrix);
  options.work.space = space_of(options, image, invocation);
  options.work.terms.points = options.work.space.points();
  const StatePaths state = invocation.state();
  const Site site = invocation.site();
  const WriterLock lock = lock_state(invocation, "kiln tune of " + record.name());
  const StepSetup setup = invocation.step_setup(site, state);
  ImageTuning tuning(catalogue, setup, tuning_search(invocation), invocation);
  print_tuned(tuning.run(options.work, image, record), options.format);
}

void add_search_options(CLI::App& command, TuneOptions& options) {
  command
      .add_option("--space", options.space, "variables and their values from this file (kiln schema space)")
      ->type_name("FILE");
  command
      .add_option("--budget", options.budget,
                  "time for trials and comparison, those of an interrupted tuning included: 90s, 30m, 2h")
      ->type_name("TIME")
      ->capture_default_str();
  command.add_option("--trials", options.trials, "trials at most, the default's included")
      ->check(CLI::Range(1, 100'000))
      ->type_name("N")
      ->capture_default_str();
  command.add_option("--seed", options.work.seed, "the same seed and measurements give the same trials")
      ->check(CLI::Range(std::int64_t{0}, std::int64_t{1'000'000'000}))
      ->type_name("N")
      ->capture_default_str();
  options.work.terms.rounds = kProvingRounds;
  command
      .add_option("--rounds", options.work.terms.rounds,
                  "starts of the best setting and of the default in the comparison")
      ->check(CLI::Range(kProvingRounds, 1000))
      ->capture_default_str();
  command.add_flag("--again", options.work.again, "begin anew instead of going on");
}

}  // namespace

CLI::App* add_tune(CLI::App& app, Invocation& invocation) {
  auto options = std::make_shared<TuneOptions>();
  CLI::App* command = app.add_subcommand(
      "tune", "Search the environment variables with which a workload is fastest in an image");
  command
      ->add_option("--dsl", options->dsl, "DSL document, - for stdin: it chooses the image and the workload")
      ->type_name("FILE");
  command->add_option("-f,--file", options->matrix, "matrix that the image was built from")
      ->type_name("MATRIX")
      ->envname("KILN_FILE");
  command->add_option("--workload", options->workload, "workload component (default: the document's)")
      ->type_name("WORKLOAD");
  add_search_options(*command, *options);
  command
      ->add_option("--steps", options->work.wishes.steps, "timed steps of each run (default: the workload's)")
      ->check(CLI::Range(1, 1'000'000))
      ->type_name("N");
  command
      ->add_option("--data", options->work.wishes.data,
                   "real input for the workload, mounted read-only (default: synthetic)")
      ->type_name("PATH");
  command->add_flag("--list", options->list, "print the results of earlier tunings of this state folder");
  add_wait_option(*command, invocation.options);
  command->add_option("--format", options->format, "table or json")
      ->check(CLI::IsMember({"table", "json"}))
      ->capture_default_str();
  command->footer(
      "kiln tune -f matrix/demo.json --dsl job.json --budget 30m\n"
      "kiln tune -f matrix/demo.json --dsl job.json --space space.json --seed 2\n"
      "kiln tune --list");
  command->callback([options, &invocation] { run_tune(*options, invocation); });
  return command;
}

}  // namespace kiln
