// kiln job: a DSL document in, a script for a scheduler out.
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "factory/app/application_inputs.h"
#include "factory/base/reading.h"
#include "factory/cli/derive.h"
#include "factory/cli/invocation.h"
#include "factory/cli/named_files.h"
#include "factory/cli/options.h"
#include "factory/cli/print.h"
#include "factory/cli/question.h"
#include "factory/cli/select_cells.h"
#include "factory/cli/site_documents.h"
#include "factory/derive/derivation.h"
#include "registry/deploy/deploy_site.h"
#include "registry/deploy/job_answer.h"

namespace kiln {
namespace {

constexpr const char* kInfrastructures = "matrix/infrastructures";

struct JobCommandOptions {
  std::string dsl;
  std::string infrastructure;
  std::string output;
  std::string host;
  std::string runtime;
  std::string scheduler;
  std::string scripts;
  std::vector<std::string> scaling_models;
  std::vector<std::string> matrices;
  bool build_if_missing = false;
  std::int64_t snapshot = 0;
  bool json = false;
  bool allow_failing = false;
  bool lenient = false;
};

// Infrastructures of a file, of the working folder and of the index, the first of a name first.
struct KnownMachines {
  std::vector<SiteDocument> documents;
  std::string asked;  // by --infrastructure; "" = by the document
};

bool is_file(const std::string& named, const Invocation& invocation) {
  return !named.empty() &&
         (named.find('/') != named.npos || named.ends_with(".json") || invocation.files.exists(named));
}

void add_file(const std::string& name, const fs::path& file, const Invocation& invocation,
              KnownMachines& known) {
  known.documents.push_back(
      read_site_document(SiteKind::infrastructure, read_document(invocation.files, file).root(), name));
  known.asked = known.documents.front().name;  // which may be another than that of the file
}

KnownMachines find_machines(const JobCommandOptions& options, const JobRequest& job,
                            const Invocation& invocation) {
  const std::string& named = options.infrastructure;
  const std::string& name = named.empty() ? job.infrastructure : named;
  KnownMachines known{{}, named};
  const fs::path file = fs::path(kInfrastructures) / (name + ".json");
  if (is_file(named, invocation))
    add_file(fs::path(named).stem().string(), named, invocation, known);
  else if (!name.empty() && name.find('/') == name.npos && invocation.files.exists(file))
    add_file(name, file, invocation, known);
  if (invocation.has_index()) {
    const auto snapshot = snapshot_of(options.snapshot);
    for (SiteDocument& one : invocation.index(Index::Mode::read).site_documents(snapshot))
      known.documents.push_back(std::move(one));
  }
  const bool is_known = std::ranges::any_of(known.documents, [&](const SiteDocument& one) {
    return one.kind == SiteKind::infrastructure && one.name == known.asked;
  });
  if (!known.asked.empty() && !is_known)
    throw Error(
        ExitCode::input,
        fmt::format("--infrastructure '{}' is no file, there is no {}, and the index does not have it", named,
                    file.string()),
        "`kiln infrastructure list` shows those of the index");
  return known;
}

QuestionHost host_for(const JobCommandOptions& options, const ChooserQuestion& asked, const ImageQuery& query,
                      Invocation& invocation) {
  if (!options.host.empty()) return choose_host(options.host, query, invocation);
  const HostBook book{invocation.files, invocation.cpus()};
  if (!asked.host.empty()) return named_host(asked.host, {"infrastructure", 0, 0, ""}, book);
  return host_of_question(query, asked.unsaid, book);
}

// The index of the state folder, and matrices with a cell for what it lacks. The first question of a job is
// counted.
class JobIndex {
 public:
  JobIndex(const WrittenDocument& document, const JobCommandOptions& options, Invocation& invocation)
      : document_(document), options_(options), invocation_(invocation) {}

  ChooserReply ask(const ChooserQuestion& asked) {
    Asking asking = read_asking(document_, asked.terms, options_.matrices, invocation_);
    asking.question.host = host_for(options_, asked, asking.question.reading.query, invocation_);
    format_ = asking.question.reading.query.format;
    const bool is_first = !std::exchange(was_asked_, true);
    std::optional<SelectCells> cells;
    const Answer answer = answer_or_build(
        asking, false, {options_.matrices, options_.build_if_missing, is_first}, cells, invocation_);
    ChooserReply reply;
    if (is_first) tell(asking.question, reply);
    if (answer.selection.winner)
      give(asking.question, *answer.selection.winner->entry, reply);
    else
      refuse(asking.question, answer, cells, reply);
    return reply;
  }

  // Which reference the document asks for; "tag" before it was asked.
  const std::string& format() const { return format_; }

 private:
  static void tell(const Question& question, ChooserReply& reply) {
    for (const DslNote& note : question.reading.notes) reply.notes.push_back(text_of(note));
    if (!question.host.note.empty()) reply.notes.push_back(question.host.note);
  }

  void give(const Question& question, const IndexEntry& chosen, ChooserReply& reply) const {
    reply.image = chosen.image;
    reply.tuned = tuned_for(question.reading.query, chosen, question.host.host);
    reply.reference = reference_of(*reply.image, format_, reference_paths(invocation_));
  }

  static void refuse(const Question& question, const Answer& answer, const std::optional<SelectCells>& cells,
                     ChooserReply& reply) {
    reply.code = ExitCode::no_match;
    reply.error = no_match(answer, question, cells ? cells->hint() : "",
                           cells ? "the index is empty" : "the index is empty: run `kiln publish`");
  }

  const WrittenDocument& document_;
  const JobCommandOptions& options_;
  Invocation& invocation_;
  std::string format_ = "tag";
  bool was_asked_ = false;
};

fs::path build_file(const fs::path& file) {
  return file.parent_path() / (file.stem().string() + ".build" + file.extension().string());
}

void hand_over(const JobAnswer& answer, const JobCommandOptions& options, Invocation& invocation) {
  const JobScripts& scripts = answer.scripts;
  for (const std::string& note : answer.notes) invocation.note(note);
  for (const std::string& note : answer.deployment.notes) invocation.note("note: " + note);
  for (const std::string& note : scripts.notes) invocation.note("note: " + note);
  if (!options.output.empty()) {
    write_named(options.output, scripts.job, invocation.files);
    if (!scripts.build.empty()) {
      const fs::path build = build_file(options.output);
      write_named(build, scripts.build, invocation.files);
      invocation.note(fmt::format("{} builds what {} runs", build.string(), options.output));
    }
  }
  if (options.json) {
    print_json(to_json(answer));
  } else if (options.output.empty()) {
    if (!scripts.build.empty()) invocation.note("note: application.build: -o FILE writes its script as well");
    print_bytes(scripts.job);
  }
}

// Without the image to derive from. Paths begin at the folder of the document, or at the current folder if it
// is read from stdin.
DeriveOptions derive_options(const JobDerivation& wanted, const JobCommandOptions& options) {
  const fs::path folder = is_stream(options.dsl) ? fs::path() : fs::path(options.dsl).parent_path();
  const CopyWords copy = copy_words(wanted.copy, wanted.name);
  for (const std::string& named : {wanted.requirements, copy.folder.string(), wanted.run, wanted.test})
    need_inside(folder, named);
  auto file = [&](const std::string& named) { return named.empty() ? "" : (folder / named).string(); };
  return {
      options.matrices.front(),
      {},
      wanted.name,
      {file(wanted.requirements), file(copy.folder.string()), copy.at, file(wanted.run), file(wanted.test)}};
}

// The keys of the document are options of `kiln derive`: what is wrong with one is told at its place.
template <typename Work>
auto of_document(const JobRequest& job, const Work& work) -> decltype(work()) {
  try {
    return work();
  } catch (const Error& error) {
    const std::string& said = error.message();  // "--copy: '/opt/.' is no path"
    if (error.code() != ExitCode::usage || !(said.starts_with("--name '") || said.starts_with("--copy: ")))
      throw;
    job.fail("derive", said.substr(2), error.hint());
  }
}

// A derived image is a cell of the matrix of its parent.
DeriveImage deriver(const JobRequest& job, const JobCommandOptions& options, const JobIndex& index,
                    Invocation& invocation) {
  if (!job.derivation) return {};
  if (options.matrices.size() != 1)
    throw Error(ExitCode::usage, "application.derive of the document goes with one -f",
                "which names the matrix of the image to derive from");
  if (const std::string refused = refused_name(job.derivation->name); !refused.empty())
    job.fail("derive", fmt::format("the name '{}': {}", job.derivation->name, refused));
  if (options.snapshot != 0)
    throw Error(ExitCode::usage, "application.derive and --snapshot do not go together",
                "a derived image is made of the images of today");
  invocation.need_root_for_steps();
  // Once, and before anything is built: kiln reports a wrong file first, and uses the bytes that it checked.
  const DeriveOptions application =
      of_document(job, [&] { return derive_options(*job.derivation, options); });
  const ApplicationInputs inputs =
      read_inputs(application.name, application.files, invocation.state().root(), invocation.files);
  return [&, application, inputs](const ImageRecord& parent, const JobDerivation&) {
    DeriveOptions upon = application;
    upon.images = {parent.name()};
    DerivedImage derived{of_document(job, [&] { return derived_image(upon, inputs, invocation); }), ""};
    derived.reference = reference_of(derived.record, index.format(), reference_paths(invocation));
    return derived;
  };
}

// During a build, kiln writes files with the permissions of the state folder. The job's script gets those of
// the user's umask.
class OwnMask {
 public:
  OwnMask() : mask_(::umask(0)) { ::umask(mask_); }
  void restore() const { ::umask(mask_); }

 private:
  mode_t mask_;
};

JobQuestion question_of(const JobCommandOptions& options) {
  JobQuestion question;
  question.terms.snapshot = snapshot_of(options.snapshot);
  question.terms.allow_failing = options.allow_failing;
  question.terms.lenient = options.lenient;
  question.host = options.host;
  question.unsaid = UnsaidHost::here;
  question.deploy = {kSchedulers.find(options.scheduler), kContainerRuntimes.find(options.runtime)};
  return question;
}

void check(const CLI::App& command, const JobCommandOptions& options, const Invocation& invocation) {
  refuse_one_stdin(options.dsl, options.host);
  refuse_folder(options.output, "--output");
  check_build_if_missing(command, options.build_if_missing, options.matrices, invocation);
  if (options.matrices.empty()) return;  // nothing is built
  keep_readable(options.dsl);
  keep_readable(options.host);
}

void write_job(const CLI::App& command, const JobCommandOptions& options, Invocation& invocation) {
  check(command, options, invocation);
  const OwnMask mask;
  const WrittenDocument document = read_written_document(options.dsl, invocation.files);
  const JobRequest job = read_job_request(document.document, options.lenient);
  JobIndex index(document, options, invocation);
  const DeriveImage derive = deriver(job, options, index, invocation);
  KnownMachines machines = find_machines(options, job, invocation);
  for (SiteDocument& one : read_site_files({{}, {}, options.scaling_models}, invocation.files))
    machines.documents.insert(machines.documents.begin(), std::move(one));
  DeploySite site(std::move(machines.documents));
  if (!options.scripts.empty())
    site.put_first(read_enforcement_scripts(read_document(invocation.files, options.scripts)));
  JobQuestion question = question_of(options);
  question.infrastructure = machines.asked;
  const JobAnswer answer = answer_job(
      document.document, question, site, invocation.cpus(), reference_paths(invocation),
      [&](const ChooserQuestion& asked) { return index.ask(asked); }, derive);
  mask.restore();
  hand_over(answer, options, invocation);
}

}  // namespace

CLI::App* add_job(CLI::App& app, Invocation& invocation) {
  auto options = std::make_shared<JobCommandOptions>();
  CLI::App* command = add_below(app, "job", "Write the job script of a DSL document, with its best image",
                                "kiln job --dsl job.json >job.sh && sbatch job.sh\n"
                                "kiln job --dsl job.json --infrastructure cluster.json -o job.sh\n"
                                "kiln job --dsl - --scheduler slurm --json <job.json\n"
                                "kiln job --dsl job.json -f matrix/demo.json --build-if-missing -o job.sh");
  add_value(*command, "--dsl", options->dsl, "FILE", "DSL document, - for stdin")->required();
  add_value(*command, "--infrastructure", options->infrastructure, "NAME|FILE",
            "the machines that the job goes to: a file, or a name in matrix/infrastructures or in the index "
            "(default: the document's target.name)");
  add_value(*command, "-o,--output", options->output, "FILE",
            "write the script to this file, and that of application.build to a file with .build before its "
            "ending (default: stdout)");
  add_choice(*command, "--scheduler", options->scheduler, kSchedulers.all(),
             "slurm, torque, openpbs or bash, if neither document nor infrastructure names one")
      ->type_name("NAME");
  add_choice(*command, "--runtime", options->runtime, kContainerRuntimes.all(),
             "container runtime of the nodes (default: the infrastructure's, else singularity)")
      ->type_name("NAME");
  add_value(*command, "--host", options->host, "FILE|NAME",
            "the host: as for kiln select (default: nodes of the partition, else as for kiln select)");
  add_value(*command, "--scripts", options->scripts, "FILE",
            "enforcement scripts of the site: JSON as MODAK has it, one or an array");
  add_value(*command, "--scaling-models", options->scaling_models, "FILE",
            "scaling models of mappings: JSON as MODAK has it, one or an array; may be repeated");
  add_snapshot_option(*command, options->snapshot, "choose among the images of this snapshot")
      ->check(CLI::Range(1, 1'000'000'000));
  command->add_flag("--allow-failing", options->allow_failing,
                    "also choose images that fail a test that their recipes now have");
  command->add_flag("--lenient", options->lenient, "report an unknown key as a note instead of an error");
  add_matrices_option(*command, options->matrices);
  command->get_option("--file")->description(
      command->get_option("--file")->get_description() +
      "; application.derive of the document needs the one matrix of the image, and builds and publishes");
  add_build_if_missing(*command, options->build_if_missing);
  command->add_flag("--json", options->json, "print the deployment and its scripts as JSON");
  command->callback([options, command, &invocation] { write_job(*command, *options, invocation); });
  return command;
}

}  // namespace kiln
