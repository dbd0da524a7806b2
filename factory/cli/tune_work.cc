#include "factory/cli/tune_work.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "factory/base/text.h"
#include "factory/base/unique_name.h"
#include "factory/cli/question.h"
#include "factory/cluster/compute_node.h"
#include "factory/cluster/job_request.h"
#include "factory/cluster/trial_jobs.h"
#include "factory/plan/plan_json.h"
#include "factory/run/tuning_run.h"
#include "factory/state/access.h"

namespace kiln {
namespace {

// Nodes that a tuning may take by default; more make the search blinder, as each trial knows fewer others.
constexpr std::size_t kUsualJobs = 4;

HostDescription without_features(HostDescription host) {
  host.features.clear();  // a hundred words that no comparison goes by
  return host;
}

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

TunePlace::TunePlace(const Site& site, const TuneOffers& offers, Invocation& invocation)
    : site_(site), invocation_(invocation) {
  const bool in_jobs = site.launcher.slurm && !offers.here;
  if (in_jobs) at_once_ = offers.jobs.value_or(kUsualJobs);
  if (!in_jobs && offers.jobs)
    throw Error(ExitCode::usage, "--jobs: trials on one machine run one after the other",
                R"("launcher": {"slurm": {…}} in the site file makes them jobs)");
}

SlurmPartition TunePlace::partition() const {
  const SlurmSite& slurm = *site_.launcher.slurm;
  const std::string& asked = site_.launcher.asked;
  return asked.empty() ? slurm.standard : partition_named(slurm, asked);
}

std::vector<std::string> TunePlace::node_command(const char* subcommand) const {
  std::vector<std::string> words = {fs::read_symlink("/proc/self/exe").string(), subcommand, "--state",
                                    invocation_.state().root().string()};
  if (!site_.file.empty()) words.insert(words.end(), {"--site", fs::absolute(site_.file).string()});
  if (!invocation_.options.engine.empty())
    words.insert(words.end(), {"--engine", invocation_.options.engine});
  return words;
}

HostDescription TunePlace::machine() {
  if (!in_jobs()) return without_features(detect_host(invocation_.files, invocation_.cpus()));
  SlurmPartition whole = partition();
  whole.arguments.insert(whole.arguments.end(), kWholeNode.begin(), kWholeNode.end());
  const SlurmPrograms programs{invocation_.runner, invocation_.clock,
                               slurm_environment(invocation_.child_environment())};
  invocation_.note("tune  a job asks a node what it is");
  const NodeAnswer answer = answer_of_node(node_command("host"), *site_.launcher.slurm, whole,
                                           invocation_.state().jobs(), invocation_.files, programs);
  if (answer.status != 0)
    throw Error(ExitCode::images_failed, "no node said what it is: " + answer.output,
                "`kiln doctor --node` looks for the cause");
  return without_features(
      read_host(JsonDocument::parse(answer.output, "the node's answer").root(), invocation_.cpus()));
}

TuningStarter TunePlace::starter(const TuningSubject& subject, const TrialFiles& files,
                                 const std::string& plan, const StepSetup& setup) {
  if (!in_jobs())
    return [&subject, &setup](const std::vector<TuningJob>& jobs) {
      std::vector<std::vector<TuningAnswer>> answers;
      answers.reserve(jobs.size());
      for (const TuningJob& job : jobs) answers.push_back(run_starts(subject, job, setup));
      return answers;
    };
  files.write(subject, plan);
  std::vector<std::string> command = node_command("tune");
  command.emplace_back("--in-job");
  return [this, &files, &setup, command](const std::vector<TuningJob>& jobs) {
    const JobSetup job_setup{site_,         setup.state, setup.files,
                             setup.runner,  setup.clock, invocation_.child_environment(),
                             unique_name(), 0,           {}};
    const TrialJobs terms{job_setup, partition(),
                          files,     command,
                          at_once_,  [this](const std::string& text) { invocation_.note("tune  " + text); }};
    return run_trial_jobs(jobs, terms);
  };
}

void run_node_trial(const std::string& starts, Invocation& invocation) {
  invocation.need_root_or_namespace();
  const StatePaths state = invocation.state();
  follow_permissions(state);
  const Site site = invocation.site();
  StepSetup setup = invocation.step_setup(site, state);
  setup.is_alone = true;
  NodeTrial(starts, invocation.files).run(detect_host(invocation.files, invocation.cpus()), setup);
}

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
