// An infrastructure from what Slurm and a machine say of themselves. Pure.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "factory/base/json.h"
#include "factory/cpu/microarchitecture.h"
#include "factory/record/host_description.h"
#include "registry/deploy/node_labels.h"

namespace kiln {

struct MachineAnswers {
  std::string nodes;       // of `scontrol --oneliner show node`; "" = there is no Slurm
  std::string partitions;  // of `scontrol --oneliner show partition`
  std::string gpus;  // of `nvidia-smi --query-gpu=name,compute_cap --format=csv,noheader`, on this machine
  HostDescription host;                  // this machine
  std::string host_name;                 // its name, as Slurm may know it
  std::vector<LabelledNode> labelled{};  // that Kubernetes knows
};

struct DetectedMachines {
  Json infrastructure;             // as read_infrastructure() takes it
  std::vector<std::string> notes;  // unknown values, a line each
};

// The last word of a name like "nvidia_a100_80gb_pcie" that is a model, as `kiln select` names it; else the
// vendor; "" if neither is known.
std::string accelerator_named(const std::string& name);

// Nodes of a partition are kinds where they differ in processor, cores or accelerators; of several
// amounts of memory the least counts. A microarchitecture is a feature of the node that archspec knows by its
// name, or that of its label, or of this machine. Without Slurm: one partition with the labelled nodes, or
// with this machine.
DetectedMachines detected_machines(const MachineAnswers& answers, const std::string& name,
                                   const Microarchitectures& cpus);

}  // namespace kiln
