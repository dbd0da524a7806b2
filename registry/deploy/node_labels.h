// Nodes as Kubernetes knows them: their capacity, and the labels of node-feature-discovery (NFD, "Feature
// labels"), NVIDIA's GPU feature discovery (NVIDIA/k8s-device-plugin, docs/gpu-feature-discovery) and AMD's
// node labeller. Slurm's nodes have them as well where slurmd runs in Kubernetes. Pure.
#pragma once

#include <string>
#include <vector>

#include "factory/base/json.h"
#include "registry/deploy/infrastructure.h"

namespace kiln {

struct LabelledNode {
  std::string name;
  MachineKind kind;  // of one socket: no label says how many there are
};

// From what `kubectl get nodes -o json` prints: a NodeList, or one Node. A processor is known by its level of
// x86-64 only, because NFD leaves out the flags that would tell its model. Throws Error(input).
std::vector<LabelledNode> read_labelled_nodes(const JsonNode& root);

}  // namespace kiln
