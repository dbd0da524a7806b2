// Deployment: a document, the image that was chosen for it and the machines that it goes to, as one value
// from which scripts are rendered. Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "factory/base/json.h"
#include "factory/record/tuned_record.h"
#include "registry/deploy/container_runtime.h"
#include "registry/deploy/infrastructure.h"
#include "registry/deploy/job_request.h"
#include "registry/scaling/speedup.h"

namespace kiln {

// MODAK's scaling models: how many ranks and threads an application in an image can make use of.
struct ScalingModel {
  std::string code;                 // opt_dsl_code of the mapping that it is about
  SpeedupModel ranks;               // noop, max or amdahl
  std::optional<int> most_threads;  // of max
};

// {"opt_dsl_code": "…", "model": {"name": "amdahl", "F": 0.9}}, as posted to MODAK. Throws Error(input).
ScalingModel read_scaling_model(const JsonNode& node);

// Lowers ranks and threads of the job to what the model allows. A line says why for each that was lowered.
std::vector<std::string> scale(JobRequest& job, const ScalingModel& model);

// Text of the site for the script, before or after the application (enforcement.h).
struct SiteCommands {
  std::string name;
  std::string text;
  bool after = false;
};

struct Deployment {
  Scheduler scheduler = Scheduler::bash;
  ContainerRuntime runtime = ContainerRuntime::singularity;
  DeployedImage image;
  JobRequest job;          // as in the document, with what was filled in; `partition` is the one of Slurm
  int tasks = 0;           // processes that the scheduler gives room for; 0 = not said
  int tasks_per_node = 0;  // 0 = not said
  int cores_per_task = 0;  // 0 = not said: the scheduler's own, which is one
  int ranks = 1;           // processes of MPI, or of one launcher a node
  int threads = 0;         // OMP_NUM_THREADS; 0 = left alone
  std::string gpus;        // vendor whose devices the container gets; "" = none
  std::string mpi_plugin;  // of srun; "" = the cluster's own
  std::vector<std::string> binds;
  std::optional<TunedRecord> tuned;  // its variables are set, before the image's
  std::vector<SiteCommands> site_commands;
  std::vector<std::string> reasons;  // why something was filled in, a line each
  std::vector<std::string> notes;    // values that differ from the request, or that it lacks
};

// Terms that are not in the document.
struct DeployTerms {
  std::optional<Scheduler> scheduler{};       // where neither document nor infrastructure names one
  std::optional<ContainerRuntime> runtime{};  // before the infrastructure's
  const ScalingModel* scaling = nullptr;      // of the image; nullptr = there is none
  std::optional<TunedRecord> tuned{};         // of the image, for this question and host
};

// `infrastructure`: nullptr = nothing is known of the machines. Throws Error(input) at the place of a value
// that the partition does not have, or that contradicts another.
Deployment deploy(JobRequest job, const DeployedImage& image, const Infrastructure* infrastructure,
                  const DeployTerms& terms = {});

// The partition that the document asks for, else the default one; nullptr: the infrastructure has none.
// Throws as deploy().
const Partition* partition_for(const JobRequest& job, const Infrastructure& infrastructure);

Json to_json(const Deployment& deployment);

// Sets nodes, processes, cores and memory from the document and the partition. `partition`: nullptr = nothing
// is known of the machines. Throws Error(input) at the place of the value.
void place_processes(Deployment& deployment, const Partition* partition);

// The job asks for no more than the partition has. Throws Error(input).
void check_partition(const Deployment& deployment, const Partition& partition);

}  // namespace kiln
