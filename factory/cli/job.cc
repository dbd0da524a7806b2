// kiln job: a DSL document in, a script for a scheduler out.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "factory/base/reading.h"
#include "factory/cli/invocation.h"
#include "factory/cli/print.h"
#include "factory/cli/select_host.h"
#include "factory/cli/select_question.h"
#include "factory/cli/usage.h"
#include "registry/deploy/deployed_image.h"
#include "registry/deploy/deployment.h"
#include "registry/deploy/enforcement.h"
#include "registry/deploy/render_job.h"

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
  std::int64_t snapshot = 0;
  bool json = false;
  bool allow_failing = false;
  bool lenient = false;
};

std::optional<Infrastructure> find_infrastructure(const JobCommandOptions& options, const JobRequest& job,
                                                  const Invocation& invocation) {
  const std::string& named = options.infrastructure;
  const bool is_file = !named.empty() && (named.find('/') != named.npos || named.ends_with(".json") ||
                                          invocation.files.exists(named));
  if (is_file)
    return read_infrastructure(read_document(invocation.files, named), fs::path(named).stem().string());
  const std::string& name = named.empty() ? job.infrastructure : named;
  if (name.empty()) return std::nullopt;
  const fs::path file = fs::path(kInfrastructures) / (name + ".json");
  if (invocation.files.exists(file)) return read_infrastructure(read_document(invocation.files, file), name);
  if (!named.empty())
    throw Error(ExitCode::input,
                fmt::format("--infrastructure '{}' is no file, and there is no {}", name, file.string()));
  invocation.note(fmt::format("the infrastructure {} is not known: there is no {}", name, file.string()));
  return std::nullopt;
}

// A job for other machines is not for this one.
QuestionHost host_for(const JobCommandOptions& options, const ImageQuery& query, const JobRequest& job,
                      const Infrastructure* infrastructure, Invocation& invocation) {
  if (!options.host.empty() || infrastructure == nullptr) return choose_host(options.host, query, invocation);
  const HostBook book{invocation.files, invocation.cpus()};
  const Partition* partition = partition_for(job, *infrastructure);
  const std::string name = partition != nullptr && partition->node ? partition->node->host_name() : "";
  if (name.empty()) return host_of_question(query, UnsaidHost::any, book);
  return named_host(name, {infrastructure->name, 0, 0, ""}, book);
}

DeployedImage select_deployed(const WrittenDocument& document, const JobCommandOptions& options,
                              const JobRequest& job, const Infrastructure* infrastructure,
                              Invocation& invocation) {
  QuestionTerms terms;
  if (options.snapshot > 0) terms.snapshot = options.snapshot;
  terms.allow_failing = options.allow_failing;
  terms.lenient = options.lenient;
  // Without an index, what is wrong in the document is still the first thing to mend.
  if (!invocation.has_index()) read_asked(document, terms, nullptr, {}, invocation);
  const Index index = invocation.index(Index::Mode::read);
  Question question = read_asked(document, terms, &index, {}, invocation);
  for (const DslNote& note : question.reading.notes) invocation.note(text_of(note));
  question.host = host_for(options, question.reading.query, job, infrastructure, invocation);
  if (!question.host.note.empty()) invocation.note(question.host.note);
  const Answer answer = ask(&index, question, false, invocation.cpus());
  count_question(question, answer.selection, invocation);
  if (!answer.selection.winner)
    throw no_match(answer, question, "", "the index is empty: run `kiln publish`");
  return deployed_image(answer.selection.winner->entry->image, reference_places(invocation));
}

DeployTerms terms_of_job(const JobCommandOptions& options) {
  return {kSchedulers.find(options.scheduler), kContainerRuntimes.find(options.runtime)};
}

fs::path build_file(const fs::path& file) {
  return file.parent_path() / (file.stem().string() + ".build" + file.extension().string());
}

void hand_over(const Deployment& deployment, const JobScripts& scripts, const JobCommandOptions& options,
               Invocation& invocation) {
  for (const std::string& note : deployment.notes) invocation.note("note: " + note);
  for (const std::string& note : scripts.notes) invocation.note("note: " + note);
  if (!options.output.empty()) {
    const fs::path build = build_file(options.output);
    if (!scripts.build.empty()) {
      invocation.files.write(build, scripts.build);
      invocation.note(fmt::format("{} builds what {} runs", build.string(), options.output));
    }
    invocation.files.write(options.output, scripts.job);
  }
  if (options.json) {
    Json json = to_json(deployment);
    json["job_script"] = scripts.job;
    if (!scripts.build.empty()) json["build_script"] = scripts.build;
    print_json(json);
  } else if (options.output.empty()) {
    if (!scripts.build.empty()) invocation.note("note: application.build: -o FILE writes its script as well");
    print_bytes(scripts.job);
  }
}

void write_job(const JobCommandOptions& options, Invocation& invocation) {
  refuse_one_stdin(options.dsl, options.host);
  const WrittenDocument document = read_written_document(options.dsl, invocation.files);
  const JobRequest job = read_job_request(document.document, options.lenient);
  const auto infrastructure = find_infrastructure(options, job, invocation);
  const Infrastructure* machines = infrastructure ? &*infrastructure : nullptr;
  const DeployedImage image = job.image.empty()
                                  ? select_deployed(document, options, job, machines, invocation)
                                  : named_image(job.image, job.places.at("container_runtime"));
  Deployment deployment = deploy(job, image, machines, terms_of_job(options));
  if (!options.scripts.empty())
    deployment.site_commands =
        site_commands(read_enforcement_scripts(read_document(invocation.files, options.scripts)),
                      situation_of(job, machines));
  hand_over(deployment, render_job(deployment), options, invocation);
}

}  // namespace

CLI::App* add_job(CLI::App& app, Invocation& invocation) {
  auto options = std::make_shared<JobCommandOptions>();
  CLI::App* command =
      app.add_subcommand("job", "Write the job script of a DSL document, with its best image");
  command->add_option("--dsl", options->dsl, "DSL document, - for stdin")->required()->type_name("FILE");
  command
      ->add_option("--infrastructure", options->infrastructure,
                   "the machines that the job goes to: a file, or a name in matrix/infrastructures (default: "
                   "the document's target.name)")
      ->type_name("NAME|FILE");
  command
      ->add_option(
          "-o,--output", options->output,
          "write the script to this file, and that of application.build to a file with .build before its "
          "ending (default: stdout)")
      ->type_name("FILE");
  command
      ->add_option("--scheduler", options->scheduler,
                   "slurm, torque, openpbs or bash, if neither document nor infrastructure names one")
      ->type_name("NAME")
      ->check(CLI::IsMember(kSchedulers.all()));
  command
      ->add_option("--runtime", options->runtime,
                   "container runtime of the nodes (default: the infrastructure's, else singularity)")
      ->type_name("NAME")
      ->check(CLI::IsMember(kContainerRuntimes.all()));
  command
      ->add_option("--host", options->host,
                   "the host: as for kiln select (default: nodes of the partition, else as for kiln select)")
      ->type_name("FILE|NAME");
  command
      ->add_option("--scripts", options->scripts,
                   "enforcement scripts of the site: JSON as MODAK has it, one or an array")
      ->type_name("FILE");
  command->add_option("--snapshot", options->snapshot, "choose among the images of this snapshot")
      ->type_name("N")
      ->check(CLI::Range(1, 1'000'000'000));
  command->add_flag("--allow-failing", options->allow_failing,
                    "also choose images that fail a test that their recipes now have");
  command->add_flag("--lenient", options->lenient, "report an unknown key as a note instead of an error");
  command->add_flag("--json", options->json, "print the deployment and its scripts as JSON");
  command->footer(
      "kiln job --dsl job.json >job.sh && sbatch job.sh\n"
      "kiln job --dsl job.json --infrastructure cluster.json -o job.sh\n"
      "kiln job --dsl - --scheduler slurm --json <job.json");
  command->callback([options, &invocation] { write_job(*options, invocation); });
  return command;
}

}  // namespace kiln
