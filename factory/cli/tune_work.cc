#include "factory/cli/tune_work.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "factory/base/text.h"
#include "factory/cli/print.h"
#include "factory/cli/question.h"
#include "factory/plan/plan_json.h"
#include "factory/run/trial_files.h"
#include "factory/run/tuning_course.h"

namespace kiln {
namespace {

std::uint32_t planned_number(const Catalogue& catalogue, const ImageRecord& record,
                             const std::string& matrix) {
  for (std::uint32_t i = 0; i < catalogue.plan.size(); ++i)
    if (catalogue.plan.image(i).key() == record.key) return i;
  throw Error(ExitCode::no_match, fmt::format("{} is not a cell of {} as it is now", record.name(), matrix),
              "name the matrix that it was built from, or build and publish it anew");
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

std::string mpi_of(const ImageSpec& image) {
  for (const ComponentUse& use : image.components)
    if (use.kind == Kind::distributed && (use.name == "openmpi" || use.name == "mpich")) return use.name;
  return "";
}

ReadyWorkload ready_program(const TunedProgram& program, const TuneOptions& options,
                            const RecipeBook& recipes, Invocation& invocation) {
  constexpr std::uint64_t kMostOfScript = 16u << 20;
  if (!program.is_script) return {recipes, program.name, invocation.files};
  return {recipe_of_script(program.name, invocation.files.read(options.script, kMostOfScript).value_or("")),
          invocation.files};
}

}  // namespace

// The image that the document's question has on the machines that are measured.
TunedImage image_of(const std::string& dsl, TunePlace& place, Invocation& invocation) {
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

TunedProgram program_of(const TuneOptions& options, const std::string& of_document,
                        const RecipeBook& recipes) {
  if (!options.script.empty()) return {fs::path(options.script).filename().string(), "", true};
  const std::string named = options.workload.empty() ? of_document : options.workload;
  if (named.empty())
    throw Error(ExitCode::usage, "the document names no workload", "--workload names it, or --script FILE");
  const NamedMetric measured = split_metric(named, recipes.names(Kind::workload));
  return {measured.workload, measured.metric, false};
}

Tuning::Tuning(const TuneOptions& options, const TunedProgram& program, const Catalogue& catalogue,
               const TunedImage& image, const StepSetup& setup, Invocation& invocation)
    : options_(options),
      program_(program),
      catalogue_(catalogue),
      tuned_(image),
      number_(planned_number(catalogue, image.record, options.matrix)),
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
  return program_.is_script ? head_.space.maximises : kiln::more_is_better(journal.trials.front().unit);
}

TuningJournal Tuning::run(TunePlace& place) {
  const TuningSubject subject{request(), program_.metric, program_.is_script};
  const TrialFiles trials(file_.folder(), invocation_.files);
  TuningJournal journal = begin();
  ChosenCells cell;
  cell.images = {number_};
  const TuningCourse course{terms(place),
                            head_.space.maximises,
                            file_,
                            search_,
                            setup_.clock,
                            place.starter(subject, trials, plan_text(catalogue_.plan, cell), setup_),
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
          options_.read_space
              ? *options_.read_space
              : default_space({run_axes(image_), tuned_.machine.cores, image_.environment, mpi_of(image_)})};
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

TuningTerms Tuning::terms(const TunePlace& place) const {
  TuningTerms terms = options_.terms;
  terms.points = head_.space.points();
  terms.at_once = place.at_once();
  terms.rival = !program_.is_script && has_rival(run_axes(image_));
  if (program_.is_script) terms.rounds = 0;
  return terms;
}

TuningJournal Tuning::begin() {
  if (options_.again) file_.remove();
  TuningJournal journal = file_.begin();
  if (ended_with_the_budget(journal)) {
    file_.remove();
    journal = file_.begin();
  }
  if (!journal.trials.empty())
    invocation_.note(
        fmt::format("tune  goes on after {} and {}", counted(journal.trials.size(), "trial"),
                    counted(journal.turns.size(), "run of the comparison", "runs of the comparison")));
  return journal;
}

}  // namespace kiln
