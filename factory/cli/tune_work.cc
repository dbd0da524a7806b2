#include "factory/cli/tune_work.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "factory/base/text.h"
#include "factory/cli/print.h"
#include "factory/cli/question.h"
#include "factory/plan/plan_json.h"
#include "factory/run/trial_files.h"

namespace kiln {
namespace {

// The Python that has Optuna: named, of the checkout, or any.
TuningSearch tuning_search(Invocation& invocation) {
  fs::path python = shared_folder() / ".cache" / "venv" / "bin" / "python3";
  if (const auto named = invocation.environment.find("KILN_PYTHON"); named != invocation.environment.end())
    python = named->second;
  else if (!invocation.files.exists(python))
    python = "python3";
  return {python, invocation.runner, invocation.child_environment()};
}

ReadyWorkload ready_program(const TunedProgram& program, const TuneOptions& options,
                            const RecipeBook& recipes, Invocation& invocation) {
  constexpr std::uint64_t kMostOfScript = 16u << 20;
  if (!program.is_script) return {recipes, program.name, invocation.files};
  return {recipe_of_script(program.name, invocation.files.read(options.script, kMostOfScript).value_or("")),
          invocation.files};
}

// The starts of a course, here or as jobs. REQUIRES: all outlive it; the state folder is locked.
TuningStarter starter(const MeasuringPlace& place, const TuningSubject& subject, const TrialFiles& files,
                      const std::string& plan, const StepSetup& setup) {
  if (place.in_jobs()) {
    files.write(subject, plan);
    return [&place, &files, &setup](const std::vector<TuningJob>& jobs) {
      const JobSetup of_jobs = place.job_setup(setup);
      return run_trial_jobs(jobs, files, place.jobs(of_jobs));
    };
  }
  return [&subject, &setup](const std::vector<TuningJob>& jobs) {
    std::vector<std::vector<TuningAnswer>> answers;
    answers.reserve(jobs.size());
    for (const TuningJob& job : jobs) answers.push_back(run_starts(subject, job, setup));
    return answers;
  };
}

}  // namespace

// The image that the document's question has on the machines that are measured.
TunedImage image_of(const std::string& dsl, MeasuringPlace& place, Invocation& invocation) {
  const WrittenDocument document = read_written_document(dsl, invocation.files);
  const Index index = invocation.index(Index::Mode::read);
  Question question = read_asked(document, {}, &index, {}, invocation);
  for (const DslNote& note : question.reading.notes) invocation.note(text_of(note));
  TunedImage found;
  found.workload = question.reading.query.workload;
  found.machine = place.machine();
  question.host =
      place.in_jobs()
          ? described_host(JsonDocument::parse(to_json(found.machine).dump(), "the node's answer"),
                           {invocation.files, invocation.cpus()})
          : choose_host("here", question.reading.query, invocation);
  const Answer answer = ask(&index, question, true, invocation.cpus());
  if (!answer.selection.winner)
    throw no_match(answer, question, "", "the index is empty: run `kiln publish`");
  found.record = answer.selection.winner->entry->image;
  return found;
}

Tuning::Tuning(const TuneOptions& options, const TunedProgram& program, const Catalogue& catalogue,
               const TunedImage& image, const StepSetup& setup, Invocation& invocation)
    : options_(options),
      program_(program),
      catalogue_(catalogue),
      tuned_(image),
      number_(planned_number(catalogue.plan, image.record, options.matrix)),
      image_(catalogue.plan.image(number_).spec()),
      workload_(ready_program(program, options, catalogue.recipes, invocation)),
      setup_(setup),
      search_(tuning_search(invocation)),
      invocation_(invocation),
      head_(head()),
      file_(head_, setup.state, invocation.files) {
  search_.check();
}

bool Tuning::more_is_better(const TuningJournal& journal) const {
  return kiln::more_is_better(program_, head_.space, journal);
}

TuningJournal Tuning::run(MeasuringPlace& place) {
  const TuningSubject subject{request(), program_.metric, program_.is_script};
  const TrialFiles trials(file_.folder(), invocation_.files);
  TuningJournal journal =
      begin_tuning(file_, options_.again, [this](const std::string& text) { invocation_.note(text); });
  ChosenCells cell;
  cell.images = {number_};
  const TuningCourse course{
      terms_of(options_.terms, head_.space, place.at_once(), program_, run_axes(image_)),
      head_.space.maximises,
      file_,
      search_,
      setup_.clock,
      starter(place, subject, trials, plan_text(catalogue_.plan, cell), setup_),
      [this](const std::string& text) { invocation_.note("tune  " + text); }};
  journal = run_course(course, std::move(journal));
  invocation_.files.remove_all(file_.folder());
  return journal;
}

TunedRecord Tuning::record(const TuningJournal& journal) const {
  return tuned_record(head_, journal,
                      {tuned_.record.manifest, measured_by(catalogue_.recipes, invocation_),
                       rfc3339(setup_.clock.unix_seconds())});
}

TuningHead Tuning::head() const {
  return {image_.repository + ":" + image_.tag,
          image_.key,
          metric_name(program_.name, program_.metric),
          workload_.sum().hex(),
          tuned_.machine,
          options_.wishes.steps,
          options_.wishes.data.string(),
          options_.seed,
          options_.read_space ? *options_.read_space : space_of(image_, tuned_.machine.cores)};
}

BenchRequest Tuning::request() const {
  return {image_,
          tuned_.record.manifest,
          workload_.recipe,
          options_.wishes,
          is_stock(image_, catalogue_.recipes),
          head_.host,
          measured_by(catalogue_.recipes, invocation_),
          0,
          "",
          rfc3339(setup_.clock.unix_seconds()),
          head_.workload_files};
}

}  // namespace kiln
