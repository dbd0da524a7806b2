#include "registry/deploy/job_answer.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "factory/base/text.h"
#include "registry/deploy/deployed_image.h"
#include "registry/select/dsl.h"

namespace kiln {
namespace {

const Infrastructure* machines_of(const JobQuestion& question, const JobRequest& job, const DeploySite& site,
                                  JobAnswer& answer) {
  const bool asked = !question.infrastructure.empty();
  const std::string& name = asked ? question.infrastructure : job.infrastructure;
  if (name.empty()) return nullptr;
  const Infrastructure* machines = site.infrastructure(name);
  if (machines != nullptr) return machines;
  if (asked)
    throw Error(ExitCode::usage, fmt::format("there is no infrastructure '{}'", name),
                did_you_mean(name, site.infrastructures()));
  answer.notes.push_back(fmt::format("the infrastructure {} is not known", name));
  return nullptr;
}

ImageChoice ask_index(const JobQuestion& question, const JobRequest& job, const Infrastructure* machines,
                      const Microarchitectures& cpus, const AskIndex& ask) {
  ChooserQuestion asked;
  asked.terms = question.terms;
  asked.explained = false;
  asked.with_image = true;
  asked.host = question.host;
  asked.unsaid = question.unsaid;
  const Partition* partition = machines == nullptr ? nullptr : partition_for(job, *machines);
  if (machines != nullptr) asked.unsaid = UnsaidHost::any;  // a job for other machines is not for this one
  if (!question.host.empty() || partition == nullptr) return {ask(asked), "", {}, {}};
  return choose_for_partition(asked, *partition, job, cpus, ask);
}

bool chooses_nothing(const ChooserReply& reply) {
  return reply.code == ExitCode::no_match || (reply.error && reply.error->message() == kNamesNoApplication);
}

// Also sets the constraint of the job.
DeployedImage chosen_image(JobRequest& job, ImageChoice choice, const ReferencePlaces& places,
                           JobAnswer& answer) {
  ChooserReply& reply = choice.reply;
  for (auto* notes : {&reply.notes, &choice.notes})
    for (std::string& note : *notes) answer.notes.push_back(std::move(note));
  answer.demand = std::move(reply.demand);
  if (chooses_nothing(reply) && !job.image.empty())
    return named_image(answer.reference = job.image, job.places.at("container_runtime"));
  if (reply.error) throw Error(*reply.error);
  if (!choice.constraint.empty()) job.constraint = choice.constraint;
  answer.reference = std::move(reply.reference);
  return deployed_image(*reply.image, places);
}

}  // namespace

JobAnswer answer_job(const JsonDocument& document, const JobQuestion& question, const DeploySite& site,
                     const Microarchitectures& cpus, const ReferencePlaces& places, const AskIndex& ask) {
  JobRequest job = read_job_request(document, question.terms.lenient);
  JobAnswer answer;
  const Infrastructure* machines = machines_of(question, job, site, answer);
  DeployedImage image;
  std::vector<std::string> reasons;
  if (job.image.empty() || question.chooses_anew) {
    ImageChoice choice = ask_index(question, job, machines, cpus, ask);
    reasons = choice.reasons;
    image = chosen_image(job, std::move(choice), places, answer);
  } else {
    image = named_image(answer.reference = job.image, job.places.at("container_runtime"));
  }
  DeployTerms terms = question.deploy;
  terms.scaling = site.scaling_model(image.code);
  answer.deployment = deploy(job, image, machines, terms);
  answer.deployment.reasons.insert(answer.deployment.reasons.end(), reasons.begin(), reasons.end());
  answer.deployment.site_commands = site_commands(site.scripts(), situation_of(job, machines));
  answer.scripts = render_job(answer.deployment);
  return answer;
}

Json to_json(const JobAnswer& answer) {
  Json json = to_json(answer.deployment, answer.scripts);
  json["answer"] = answer.reference;
  for (const std::string& note : answer.notes) json["notes"].push_back(note);
  return json;
}

}  // namespace kiln
