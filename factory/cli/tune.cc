// kiln tune: searches the environment variables with which a workload is fastest in the image of a document.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>

#include "factory/app/tuning.h"
#include "factory/base/quantity.h"
#include "factory/base/reading.h"
#include "factory/base/text.h"
#include "factory/cli/bench.h"
#include "factory/cli/invocation.h"
#include "factory/cli/options.h"
#include "factory/cli/print.h"
#include "factory/cli/question.h"
#include "factory/cli/state_lock.h"
#include "factory/record/host_description.h"
#include "factory/record/tuned_record.h"
#include "factory/run/kept_files.h"
#include "factory/run/tuning_run.h"

namespace kiln {
namespace {

// What is tuned, how long, and by whom.
struct TuneWork {
  std::string workload;  // component of the recipes
  std::string metric;    // of several, "" of its only one
  WorkloadWishes wishes;
  TuningTerms terms;
  std::int64_t seed = 1;
  SearchSpace space;
  bool again = false;  // begin anew
};

struct TuneResult {
  TunedRecord record;
  TuningJournal journal;
};

class ImageTuning {
 public:
  // REQUIRES: all outlive this; the state folder is locked. Throws Error(tool_missing) without Optuna.
  ImageTuning(const Catalogue& catalogue, const StepSetup& setup, TuningSearch search,
              Invocation& invocation);

  // Runs what is left of it, keeps the result in the state folder and returns it. `record`: of the image in
  // the index, `image`: the same in the plan. Throws as next_step(), run_trial() and TuningFile do; then the
  // same call goes on.
  TuneResult run(const TuneWork& work, const ImageSpec& image, const ImageRecord& record);

 private:
  struct Course;
  void search(Course& course, const NextTuningStep& next);
  void compare(Course& course, const NextTuningStep& next);

  const Catalogue& catalogue_;
  const StepSetup& setup_;
  TuningSearch search_;
  Invocation& invocation_;
};

struct ImageTuning::Course {
  const TuneWork& work;
  TuningHead head;
  BenchRequest request;
  TuningFile file;
  TuningJournal journal;

  void add(TuningTrial trial) {
    file.add(to_json(trial, journal.trials.size()));
    journal.trials.push_back(std::move(trial));
  }
  void add(TuningTurn turn) {
    file.add(to_json(turn));
    journal.turns.push_back(std::move(turn));
  }
};

TuningHead head_of(const TuneWork& work, const ImageSpec& image, const ReadyWorkload& workload,
                   HostDescription host) {
  host.features.clear();  // a hundred words that no comparison goes by
  return {image.repository + ":" + image.tag,
          image.key,
          metric_name(work.workload, work.metric),
          workload.sum().hex(),
          std::move(host),
          work.wishes.steps,
          work.wishes.data.string(),
          work.seed,
          work.space};
}

ImageTuning::ImageTuning(const Catalogue& catalogue, const StepSetup& setup, TuningSearch search,
                         Invocation& invocation)
    : catalogue_(catalogue), setup_(setup), search_(std::move(search)), invocation_(invocation) {
  search_.check();
}

TuneResult ImageTuning::run(const TuneWork& work, const ImageSpec& image, const ImageRecord& record) {
  ReadyWorkload workload(catalogue_.recipes, work.workload, invocation_.files);
  TuningHead head = head_of(work, image, workload, detect_host(invocation_.files, invocation_.cpus()));
  TuningFile file(head, setup_.state, invocation_.files);
  if (work.again) file.remove();
  TuningJournal journal = file.begin();
  if (ended_with_the_budget(journal)) {
    file.remove();
    journal = file.begin();
  }
  if (!journal.trials.empty())
    invocation_.note(
        fmt::format("tune  goes on after {} and {}", counted(journal.trials.size(), "trial"),
                    counted(journal.turns.size(), "run of the comparison", "runs of the comparison")));
  BenchRequest request{image,
                       record.manifest,
                       workload.recipe,
                       work.wishes,
                       is_stock(image, catalogue_.recipes),
                       head.host,
                       measured_by(catalogue_.recipes, invocation_),
                       0,
                       "",
                       rfc3339(setup_.clock.unix_seconds()),
                       head.workload_files};
  Course course{work, std::move(head), request, std::move(file), std::move(journal)};
  for (NextTuningStep next = next_step(work.terms, course.journal); next.step != TuningStep::end;
       next = next_step(work.terms, course.journal)) {
    if (next.step == TuningStep::compare)
      compare(course, next);
    else
      search(course, next);
  }
  TuneResult result{
      tuned_record(course.head, course.journal,
                   {course.request.manifest, course.request.kiln, rfc3339(setup_.clock.unix_seconds())}),
      course.journal};
  invocation_.files.write(setup_.state.tuned(result.record.sum()), to_json(result.record).dump(2) + "\n");
  return result;
}

void ImageTuning::search(Course& course, const NextTuningStep& next) {
  const double start = setup_.clock.monotonic_seconds();
  TuningSetting setting;
  if (next.step == TuningStep::search) setting = search_.propose(course.file.path());
  if (next.step == TuningStep::try_rival) setting = rival_setting();
  const double proposing = setup_.clock.monotonic_seconds() - start;
  const std::size_t number = course.journal.trials.size();
  const auto known = course.journal.trial_with(setting);
  TuningTrial trial = known ? trial_again(course.journal, *known)
                            : run_trial(course.request, setting, next.patience, course.work.metric, setup_);
  trial.seconds += proposing;
  course.add(std::move(trial));
  invocation_.note(fmt::format("tune  trial {}: {}: {}", number, trial_name(setting),
                               text_of(course.journal.trials.back())));
}

void ImageTuning::compare(Course& course, const NextTuningStep& next) {
  const TuningSetting& setting = course.journal.best()->setting;
  const TuningTrial* rival = course.journal.rival();
  const bool with_rival = rival != nullptr && rival->end == TrialEnd::complete;
  invocation_.note(fmt::format("tune  comparison of the best trial with the default{}, run {} of {}",
                               with_rival ? " and run_cpu" : "", course.journal.turns.size() + 1,
                               (with_rival ? 3 : 2) * course.work.terms.rounds));
  try {
    course.add(run_turn(course.request, setting, next, course.work.metric, setup_));
  } catch (const Error& error) {
    if (next.side == TuningSide::standard || error.code() != ExitCode::images_failed) throw;
    const bool without_rival = next.side == TuningSide::rival;
    (without_rival ? course.journal.rival_failed : course.journal.failed) = error.message();
    course.file.add(failed_comparison(next.side, error.message()));
    if (without_rival) invocation_.note("tune  the comparison goes on without run_cpu: " + error.message());
  }
}

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

void print_tuned(const TuneResult& result, const std::string& format) {
  if (format == "json") {
    Json json = to_json(result.record);
    json["trials"] = Json::array();
    for (std::size_t i = 0; i < result.journal.trials.size(); ++i)
      json["trials"].push_back(to_json(result.journal.trials[i], i));
    return print_json(json);
  }
  const std::vector<const TuningTrial*> trials = by_cost(result.journal);
  constexpr std::size_t kShown = 10;
  Table table({"MEDIAN", "UNIT", "SETTING"});
  for (std::size_t i = 0; i < std::min(trials.size(), kShown); ++i)
    table.add({fmt::format("{:.4g}", trials[i]->median), trials[i]->unit, trial_name(trials[i]->setting)});
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
  if (const std::string& data = options.work.wishes.data; !data.empty() && !invocation.files.exists(data))
    throw Error(ExitCode::input, fmt::format("--data: there is no file or folder '{}'", data));
  invocation.need_root_or_namespace();
  ImageQuery query;
  const ImageRecord record =
      image_of(read_written_document(options.dsl, invocation.files), query, invocation);
  const std::string workload = options.workload.empty() ? query.workload : options.workload;
  if (workload.empty()) throw Error(ExitCode::usage, "the document names no workload", "--workload names it");
  invocation.workloads.push_back(workload.substr(0, workload.find('.')));
  const Catalogue catalogue = invocation.load(options.matrix);
  const NamedMetric measured = split_metric(workload, catalogue.recipes.names(Kind::workload));
  options.work.workload = measured.workload;
  options.work.metric = measured.metric;
  const ImageSpec image = planned_image(catalogue, record, options.matrix);
  options.work.space = space_of(options, image, invocation);
  options.work.terms.points = options.work.space.points();
  options.work.terms.rival = has_rival(run_axes(image));
  const StatePaths state = invocation.state();
  const Site site = invocation.site();
  const WriterLock lock = lock_state(invocation, "kiln tune of " + record.name());
  const StepSetup setup = invocation.step_setup(site, state);
  ImageTuning tuning(catalogue, setup, tuning_search(invocation), invocation);
  const TuneResult result = tuning.run(options.work, image, record);
  Index(invocation.index(Index::Mode::write)).record(result.record);
  print_tuned(result, options.format);
}

void add_search_options(CLI::App& command, TuneOptions& options) {
  add_value(command, "--space", options.space, "FILE",
            "variables and their values from this file (kiln schema space)");
  add_value(command, "--budget", options.budget, "TIME",
            "time for trials and comparison, those of an interrupted tuning included: 90s, 30m, 2h")
      ->capture_default_str();
  add_value(command, "--trials", options.trials, "N", "trials at most, the default's included")
      ->check(CLI::Range(1, 100'000))
      ->capture_default_str();
  add_value(command, "--seed", options.work.seed, "N", "the same seed and measurements give the same trials")
      ->check(CLI::Range(std::int64_t{0}, std::int64_t{1'000'000'000}))
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
  CLI::App* command =
      add_below(app, "tune", "Search the environment variables with which a workload is fastest in an image",
                "kiln tune -f matrix/demo.json --dsl job.json --budget 30m\n"
                "kiln tune -f matrix/demo.json --dsl job.json --space space.json --seed 2\n"
                "kiln tune --list");
  add_value(*command, "--dsl", options->dsl, "FILE",
            "DSL document, - for stdin: it chooses the image and the workload");
  add_value(*command, "-f,--file", options->matrix, "MATRIX", "matrix that the image was built from")
      ->envname("KILN_FILE");
  add_value(*command, "--workload", options->workload, "WORKLOAD",
            "workload component (default: the document's)");
  add_search_options(*command, *options);
  add_value(*command, "--steps", options->work.wishes.steps, "N",
            "timed steps of each run (default: the workload's)")
      ->check(CLI::Range(1, 1'000'000));
  add_value(*command, "--data", options->work.wishes.data, "PATH",
            "real input for the workload, mounted read-only (default: synthetic)");
  command->add_flag("--list", options->list, "print the results of earlier tunings of this state folder");
  add_wait_option(*command, invocation.options);
  add_format_option(*command, options->format);
  command->callback([options, &invocation] { run_tune(*options, invocation); });
  return command;
}

}  // namespace kiln
