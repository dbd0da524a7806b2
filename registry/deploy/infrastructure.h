// A site's machines in MODAK's JSON: scheduler, storage, partitions and their nodes.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "factory/base/json.h"
#include "registry/deploy/container_runtime.h"
#include "registry/deploy/job_request.h"

namespace kiln {

struct MachineKind {
  int sockets = 1, cores = 1, threads = 1;  // cores of a socket, threads of a core
  std::string microarchitecture;            // archspec's; "" = not said
  int accelerators = 0;
  std::string model;         // of an accelerator, as written
  std::uint64_t memory = 0;  // bytes; 0 = not said
  int all_cores() const { return sockets * cores; }
  // A host's name for `kiln select`: "zen3,nvidia:sm_80"; "" where the description has too little for one.
  std::string host_name() const;
};

// Nodes of a partition that are alike. kiln's addition: MODAK's partitions have nodes of one kind.
struct AlikeNodes {
  std::string
      constraint;  // a feature that these nodes alone have (`sbatch --constraint`); "" = there is none
  int nodes = 0;   // 0 = not said
  MachineKind node;
};

struct Partition {
  std::string name;
  int nodes = 0;  // 0 = not said
  bool standard = false;
  std::optional<MachineKind> node;  // of several kinds, what each of them has
  std::vector<AlikeNodes> kinds{};  // none where all nodes are alike
};

struct Infrastructure {
  std::string name;
  Scheduler scheduler = Scheduler::slurm;
  std::map<std::string, std::string> storage;  // class by URL, as storage_classes() writes it
  std::map<std::string, Partition> partitions;
  std::optional<ContainerRuntime> runtime;  // kiln's addition
  std::string mpi;                          // kiln's addition: srun's --mpi, such as pmix
  // The default partition, or the only one; nullptr without either.
  const Partition* standard_partition() const;
};

// The part of a partition that a job can use: the kinds of nodes that have its constraint, if it names one of
// them, and enough accelerators.
Partition part_for(const Partition& partition, const JobRequest& job);

// MODAK's classes of storage, from slow to fast.
const std::vector<std::string>& storage_classes();
// The class as storage_classes() writes it, whether `name` has '-' or '_' between its words; else `name`.
std::string storage_class_named(const std::string& name);

// As posted to MODAK ({"name", "configuration": {…}}), or the configuration alone. `name`: of a document
// without one. Throws Error(input).
Infrastructure read_infrastructure(const JsonNode& root, const std::string& name = {});

}  // namespace kiln
