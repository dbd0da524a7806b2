#include "registry/deploy/job_answer.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "factory/base/text.h"
#include "registry/deploy/container_runtime.h"
#include "registry/select/dsl.h"

namespace kiln {
namespace {

ChooserReply ask_for(const std::string& host, ChooserQuestion& asked, const AskIndex& ask) {
  asked.host = host;
  return ask(asked);
}

// For each kind that another image suits better than that of all.
void note_better(ImageChoice& choice, const std::vector<AlikeNodes>& kinds, ChooserQuestion& asked,
                 const AskIndex& ask) {
  for (const AlikeNodes& kind : kinds) {
    if (kind.constraint.empty() || kind.node.host_name().empty()) continue;
    const ChooserReply reply = ask_for(kind.node.host_name(), asked, ask);
    if (reply.error || reply.reference == choice.reply.reference) continue;
    choice.notes.push_back(
        fmt::format("on nodes of {} (architecture_constraint {}), {} is better than {}, which runs on all",
                    kind.node.host_name(), kind.constraint, reply.reference, choice.reply.reference));
  }
}

// Where no image runs on all nodes.
ImageChoice choose_kind(std::vector<AlikeNodes> kinds, const Partition& partition, ChooserQuestion& asked,
                        const AskIndex& ask, ChooserReply none) {
  std::ranges::stable_sort(kinds, std::ranges::greater(), &AlikeNodes::nodes);
  for (const AlikeNodes& kind : kinds) {
    if (kind.constraint.empty() || kind.node.host_name().empty()) continue;
    ImageChoice choice;
    choice.reply = ask_for(kind.node.host_name(), asked, ask);
    if (choice.reply.error) continue;
    choice.constraint = kind.constraint;
    choice.reasons.push_back(
        fmt::format("the constraint {}: no image runs on all nodes of {}, and {} runs on those of {}",
                    kind.constraint, partition.name, choice.reply.reference, kind.node.host_name()));
    return choice;
  }
  return {std::move(none), "", {}, {}};
}

bool has_same_accelerators(const std::vector<AlikeNodes>& kinds) {
  return std::ranges::all_of(kinds, [&](const AlikeNodes& kind) {
    return kind.node.accelerators > 0 && kind.node.model == kinds.front().node.model;
  });
}

}  // namespace

std::string common_host(const std::vector<AlikeNodes>& kinds, const Microarchitectures& cpus) {
  if (kinds.empty()) return "";
  const Microarchitecture* first = cpus.find(kinds.front().node.microarchitecture);
  if (first == nullptr) return "";
  std::vector<std::string> candidates = {first->name};
  candidates.insert(candidates.end(), first->ancestors.begin(), first->ancestors.end());
  const auto common = std::ranges::find_if(candidates, [&](const std::string& name) {
    return std::ranges::all_of(
        kinds, [&](const AlikeNodes& kind) { return cpus.runs(kind.node.microarchitecture, name); });
  });
  if (common == candidates.end()) return "";
  MachineKind node;
  node.microarchitecture = *common;
  if (has_same_accelerators(kinds)) {
    node.accelerators = 1;
    node.model = kinds.front().node.model;
  }
  const std::string host = node.host_name();
  return host.empty() ? *common : host;
}

// Of nodes of one kind, the best image for them. Of several, the best one that runs on all of them, and a
// note names what is better under which constraint; where none runs on all, the best for the kind with the
// most nodes. `asked` has the document; its host is set. REQUIRES: the nodes of the partition are the host.
static ImageChoice choose_for_partition(ChooserQuestion asked, const Partition& partition,
                                        const JobRequest& job, const Microarchitectures& cpus,
                                        const AskIndex& ask) {
  const Partition part = part_for(partition, job);
  const std::vector<AlikeNodes>& kinds = part.kinds;
  ImageChoice choice;
  if (kinds.size() < 2) {
    choice.reply = ask_for(part.node ? part.node->host_name() : "", asked, ask);
    return choice;
  }
  const std::string all = common_host(kinds, cpus);
  choice.reply = ask_for(all, asked, ask);
  if (choice.reply.error && choice.reply.code != ExitCode::no_match) return choice;
  if (choice.reply.error) return choose_kind(kinds, partition, asked, ask, std::move(choice.reply));
  if (!all.empty())
    choice.reasons.push_back(fmt::format("the image runs on {}, which all {} of {} are", all,
                                         counted(kinds.size(), "kind") + " of nodes", partition.name));
  note_better(choice, kinds, asked, ask);
  return choice;
}

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

void derive_upon(const JobRequest& job, const DeriveImage& derive, ChooserReply& reply) {
  if (!derive)
    job.fail("derive", "this interface makes no derived image", "`kiln job` does, and `kiln derive`");
  if (reply.image->external())
    job.fail("derive", fmt::format("{} is a mapping: kiln has not built it", reply.reference));
  DerivedImage derived = derive(*reply.image, *job.derivation);
  reply.image = std::move(derived.record);
  reply.reference = std::move(derived.reference);
}

// The tag of an application is moved by its next job, while this one may wait in the queue.
void name_by_digest(const ImageRecord& image, const ReferencePaths& paths, DeployedImage& deployed) {
  // $SINGULARITY_DIR is what the nodes see, and perhaps they do not see the store.
  if (!deployed.sif.empty() && paths.sif_folder.empty()) deployed.sif = stored_sif(image, paths);
  if (!image.published.registry.empty()) deployed.reference = image.registry_digest();
}

// Also sets the constraint of the job.
DeployedImage chosen_image(JobRequest& job, ImageChoice choice, const ReferencePaths& paths,
                           const DeriveImage& derive, JobAnswer& answer) {
  ChooserReply& reply = choice.reply;
  for (auto* notes : {&reply.notes, &choice.notes})
    for (std::string& note : *notes) answer.notes.push_back(std::move(note));
  answer.demand = std::move(reply.demand);
  if (chooses_nothing(reply) && !job.image.empty() && !job.derivation)
    return named_image(answer.reference = job.image, job.places.at("container_runtime"));
  if (reply.error) throw Error(*reply.error);
  if (!choice.constraint.empty()) job.constraint = choice.constraint;
  if (job.derivation) derive_upon(job, derive, reply);
  answer.reference = std::move(reply.reference);
  DeployedImage deployed = deployed_image(*reply.image, paths);
  if (job.derivation) name_by_digest(*reply.image, paths, deployed);
  return deployed;
}

}  // namespace

JobAnswer answer_job(const JsonDocument& document, const JobQuestion& question, const DeploySite& site,
                     const Microarchitectures& cpus, const ReferencePaths& paths, const AskIndex& ask,
                     const DeriveImage& derive) {
  JobRequest job = read_job_request(document, question.terms.lenient);
  JobAnswer answer;
  const Infrastructure* machines = machines_of(question, job, site, answer);
  DeployedImage image;
  std::vector<std::string> reasons;
  DeployTerms terms = question.deploy;
  if (job.image.empty() || question.chooses_anew) {
    ImageChoice choice = ask_index(question, job, machines, cpus, ask);
    reasons = choice.reasons;
    terms.tuned = choice.reply.tuned.setting;
    if (const std::string& unused = choice.reply.tuned.unused; !unused.empty())
      reasons.push_back("the image " + unused);
    image = chosen_image(job, std::move(choice), paths, derive, answer);
  } else {
    if (job.derivation)
      job.fail("derive", "the document names the image, so kiln chooses none to derive from",
               "leave container_runtime out");
    image = named_image(answer.reference = job.image, job.places.at("container_runtime"));
  }
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
