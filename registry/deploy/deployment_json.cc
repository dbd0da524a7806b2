#include <nlohmann/json.hpp>

#include "factory/base/json_put.h"
#include "registry/deploy/job_values.h"
#include "registry/deploy/render_job.h"
#include "registry/select/tuned_setting.h"

namespace kiln {
namespace {

void put_count(Json& json, const char* key, const std::optional<int>& value) {
  if (value) json[key] = *value;
}

Json options_json(const Deployment& deployment) {
  const JobRequest& job = deployment.job;
  Json json = {
      {"job_name", job.name}, {"combine_stdout_stderr", job.combined}, {"node_exclusive", job.exclusive}};
  put(json, "account", job.account);
  put(json, "queue", job.queue);
  put(json, "partition", job.partition);
  put(json, "qos", job.qos);
  put(json, "architecture_constraint", job.constraint);
  if (job.wall_time) json["wall_time_limit"] = job.wall_time->count();
  put_count(json, "node_count", job.nodes);
  put_count(json, "request_gpus", job.gpus);
  if (job.memory > 0) json["memory_limit"] = job.memory;
  if (job.memory_per_core > 0) json["minimum_memory_per_processor"] = job.memory_per_core;
  put(json, "request_specific_nodes", job.node_names);
  put(json, "job_array", job.array);
  put(json, "job_dependency", job.dependency);
  put(json, "standard_output_file", job.output);
  put(json, "standard_error_file", job.errors);
  put(json, "email_address", job.address);
  if (job.copy_environment) json["copy_environment"] = *job.copy_environment;
  if (!job.mail.empty()) json["request_event_notification"] = mail_words(job.mail);
  if (job.start) json["defer_job"] = slurm_begin(*job.start);
  for (const JobVariable& variable : job.variables)
    json["copy_environment_variable"][variable.name] = variable.value ? Json(*variable.value) : Json(nullptr);
  return json;
}

Json image_json(const DeployedImage& image) {
  Json json = {{"name", image.name}};
  put(json, "reference", image.reference);
  put(json, "sif", image.sif);
  put(json, "mpi", image.mpi);
  put(json, "accelerator", image.gpu_vendor);
  return json;
}

Json run_json(const Deployment& deployment) {
  Json json = {{"ranks", deployment.ranks}, {"command", Json::array()}};
  for (const CommandWord& word : deployment.job.command) json["command"].push_back(shown(word));
  if (deployment.tasks > 0) json["tasks"] = deployment.tasks;
  if (deployment.tasks_per_node > 0) json["tasks_per_node"] = deployment.tasks_per_node;
  if (deployment.cores_per_task > 0) json["cores_per_task"] = deployment.cores_per_task;
  if (deployment.threads > 0) json["threads"] = deployment.threads;
  if (deployment.tuned) json["tuned"] = tuned_json(*deployment.tuned);
  put(json, "gpus_of", deployment.gpus);
  put(json, "mpi_plugin", deployment.mpi_plugin);
  put(json, "binds", deployment.binds);
  return json;
}

}  // namespace

Json to_json(const Deployment& deployment) {
  return {{"scheduler", kSchedulers.of(deployment.scheduler)},
          {"container_runtime", kContainerRuntimes.of(deployment.runtime)},
          {"image", image_json(deployment.image)},
          {"job_options", options_json(deployment)},
          {"run", run_json(deployment)},
          {"reasons", deployment.reasons},
          {"notes", deployment.notes}};
}

Json to_json(const Deployment& deployment, const JobScripts& scripts) {
  Json json = to_json(deployment);
  for (const std::string& note : scripts.notes) json["notes"].push_back(note);
  json["job_script"] = scripts.job;
  put(json, "build_script", scripts.build);
  return json;
}

}  // namespace kiln
