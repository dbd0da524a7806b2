// The parts of a DSL document that say how an application runs: `job_options`, `target`, `application`.
#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "factory/base/enum_names.h"
#include "factory/base/json.h"
#include "registry/deploy/command_words.h"
#include "registry/deploy/job_values.h"

namespace kiln {

enum class Scheduler { slurm, torque, openpbs, bash };
inline constexpr auto kSchedulers = enum_names<Scheduler>({{Scheduler::slurm, "slurm"},
                                                           {Scheduler::torque, "torque"},
                                                           {Scheduler::openpbs, "openpbs"},
                                                           {Scheduler::bash, "bash"}});
// MODAK's `none` is bash; `pbs` is OpenPBS. Throws Error(input).
Scheduler read_scheduler(const JsonNode& node);

struct JobBuild {
  std::string source;        // a URL; "" = there is nothing to fetch
  std::string command;       // of a shell in the container
  std::optional<int> cores;  // build_parallelism
};

// An application upon the chosen image, as a derived image. Files are named from the document's folder on; ""
// = none.
struct JobDerivation {
  std::string name;                                   // of the derived image
  std::string requirements{}, copy{}, run{}, test{};  // as the options of `kiln derive`
};

struct JobRequest {
  std::string name = "job";  // as in MODAK
  std::string account, queue, partition, qos, constraint;
  std::optional<std::chrono::seconds> wall_time;
  std::optional<int> nodes, cores, per_node, cores_per_process, gpus;  // gpus: of each node
  std::uint64_t memory = 0, memory_per_core = 0;                       // bytes; of a node, of a core
  std::vector<std::string> node_names;
  std::string array, dependency, output, errors, address;
  bool combined = true;  // stdout and stderr
  std::optional<bool> copy_environment;
  std::vector<JobVariable> variables;
  MailEvents mail;
  std::optional<StartTime> start;
  bool exclusive = false;

  std::string infrastructure;  // target.name
  std::optional<Scheduler> scheduler;

  std::string app_type;
  std::vector<CommandWord> command;  // executable and arguments
  std::string image;                 // application.container_runtime
  std::optional<int> ranks, threads;
  std::optional<double> efficiency;
  std::vector<std::string> storage_classes;
  std::vector<std::string> before, after;  // shell commands of the job's own script
  std::optional<JobBuild> build;
  std::optional<JobCheckpoint> checkpoint;
  std::optional<JobDerivation> derivation;
  std::string application;                      // framework, library or app_tag, lower case
  std::map<std::string, std::string> features;  // options of its part, but for versions
  std::string framework;                        // of ai_training, lower case
  bool distributed = false;                     // distributed_training
  std::string workload;                         // of the optimisation

  std::map<std::string, SourceLocation, std::less<>> places;  // of the keys that were read
  std::vector<std::string> notes;
  // Throws Error(input) at the place of `key`.
  [[noreturn]] void fail(std::string_view key, const std::string& message,
                         const std::string& hint = {}) const;
  // MPI starts its processes: `app_type` of the application, or of the optimisation, is mpi or hpc.
  bool uses_mpi() const { return app_type == "mpi" || app_type == "hpc"; }
  // The framework itself starts training on the job's nodes.
  bool uses_own_launcher() const { return distributed && !uses_mpi(); }
  // torchrun starts the processes on each node.
  bool uses_torchrun() const { return uses_own_launcher() && framework == "pytorch"; }
  // One process of TensorFlow on each of several nodes reads the others' addresses in TF_CONFIG.
  bool uses_tf_config() const {
    return uses_own_launcher() && framework == "tensorflow" && nodes.value_or(1) > 1;
  }
};

// An unknown key is an error, or with `lenient` a note: each of them decides how the job runs. Throws
// Error(input).
JobRequest read_job_request(const JsonDocument& document, bool lenient = false);

}  // namespace kiln
