// Nodes as Kubernetes describes them, and what Slurm's nodes take from their labels.
#include "registry/deploy/node_labels.h"

#include <nlohmann/json.hpp>

#include "deploy/archspec_table.h"
#include "deploy/deploy_samples.h"
#include "registry/deploy/detected_machines.h"
#include "support/input_errors.h"

namespace kiln {
namespace {

using namespace testing;

// As NFD 0.14 and GPU feature discovery 0.8 label them, shortened.
const char* kLabelledNodes = R"({"kind": "List", "items": [
  {"kind": "Node", "metadata": {"name": "c1.site", "uid": "x", "labels": {
      "kubernetes.io/arch": "amd64",
      "feature.node.kubernetes.io/cpu-cpuid.AVX": "true", "feature.node.kubernetes.io/cpu-cpuid.AVX2": "true",
      "feature.node.kubernetes.io/cpu-cpuid.FMA3": "true",
      "feature.node.kubernetes.io/cpu-model.vendor_id": "AMD", "feature.node.kubernetes.io/cpu-model.family": "25",
      "feature.node.kubernetes.io/cpu-hardware_multithreading": "true"}},
    "status": {"capacity": {"cpu": "128", "memory": "263842312Ki", "pods": "110"}}},
  {"metadata": {"name": "g1", "labels": {
      "kubernetes.io/arch": "amd64",
      "feature.node.kubernetes.io/cpu-cpuid.AVX": "true", "feature.node.kubernetes.io/cpu-cpuid.AVX2": "true",
      "feature.node.kubernetes.io/cpu-cpuid.FMA3": "true", "feature.node.kubernetes.io/cpu-cpuid.AVX512F": "true",
      "feature.node.kubernetes.io/cpu-cpuid.AVX512BW": "true", "feature.node.kubernetes.io/cpu-cpuid.AVX512CD": "true",
      "feature.node.kubernetes.io/cpu-cpuid.AVX512DQ": "true", "feature.node.kubernetes.io/cpu-cpuid.AVX512VL": "true",
      "feature.node.kubernetes.io/cpu-hardware_multithreading": "false",
      "nvidia.com/gpu.count": "8", "nvidia.com/gpu.product": "NVIDIA-A100-SXM4-80GB",
      "nvidia.com/gpu.compute.major": "8", "nvidia.com/gpu.compute.minor": "0"}},
    "status": {"capacity": {"cpu": "64", "memory": "512Gi", "nvidia.com/gpu": "8"}}}]})";

std::vector<LabelledNode> read_labels(const std::string& text) {
  return read_labelled_nodes(JsonDocument::parse(text, "nodes.json").root());
}

MachineKind kind_with(const std::string& labels, const std::string& capacity = R"("cpu": "4")") {
  return read_labels(R"({"metadata": {"name": "n", "labels": {)" + labels +
                     R"(}}, "status": {"capacity": {)" + capacity + "}}}")
      .front()
      .kind;
}

TEST(NodeLabels, NameProcessorsAndGpus) {
  const std::vector<LabelledNode> nodes = read_labels(kLabelledNodes);
  ASSERT_EQ(nodes.size(), 2u);
  EXPECT_EQ(nodes[0].name, "c1.site");
  EXPECT_EQ(nodes[0].kind.microarchitecture, "x86_64_v3");
  EXPECT_EQ(nodes[0].kind.threads, 2);
  EXPECT_EQ(nodes[0].kind.cores, 64);
  EXPECT_EQ(nodes[0].kind.memory, 263842312ull << 10);
  EXPECT_EQ(nodes[0].kind.accelerators, 0);
  EXPECT_EQ(nodes[1].kind.microarchitecture, "x86_64_v4");
  EXPECT_EQ(nodes[1].kind.cores, 64);
  EXPECT_EQ(nodes[1].kind.accelerators, 8);
  EXPECT_EQ(nodes[1].kind.model, "nvidia:sm_80");
  EXPECT_EQ(nodes[1].kind.host_name(), "x86_64_v4,nvidia:sm_80");
}

TEST(NodeLabels, WhatALabelDoesNotSayIsNotKnown) {
  EXPECT_EQ(kind_with("").microarchitecture, "");
  EXPECT_EQ(kind_with(R"("kubernetes.io/arch": "amd64")").microarchitecture, "x86_64");
  EXPECT_EQ(kind_with(R"("kubernetes.io/arch": "arm64")").microarchitecture, "aarch64");
  EXPECT_EQ(kind_with(R"("kubernetes.io/arch": "ppc64le")").microarchitecture, "ppc64le");
  EXPECT_EQ(kind_with(R"("kubernetes.io/arch": "amd64",
                         "feature.node.kubernetes.io/cpu-cpuid.AVX": "true")")
                .microarchitecture,
            "x86_64_v2");
  const MachineKind amd = kind_with(R"("amd.com/gpu.product-name": "AMD_Instinct_MI300X_OAM")",
                                    R"("cpu": "96", "amd.com/gpu": "8")");
  EXPECT_EQ(amd.accelerators, 8);
  EXPECT_EQ(amd.model, "amd:gfx942");
  const MachineKind unknown = kind_with(R"("nvidia.com/gpu.compute.major": "x")",
                                        R"("memory": "1e99", "nvidia.com/gpu": "99999999999999999999")");
  EXPECT_EQ(unknown.model, "");
  EXPECT_EQ(unknown.memory, 0u);
  EXPECT_EQ(unknown.cores, 1);
  EXPECT_EQ(kind_with("", R"("memory": "99999999999Ti")").memory, 0u);
}

TEST(NodeLabels, WrongFilesAreRefusedWithTheirPlace) {
  auto refusal = [](const std::string& text) { return input_error([&] { read_labels(text); }); };
  EXPECT_NE(refusal(R"({"items": []})").find("nodes.json:1:1: error: there is no node"), std::string::npos);
  EXPECT_NE(refusal(R"({"items": [{"spec": {}}]})").find("(at /items/0"), std::string::npos);
  EXPECT_NE(refusal(R"({"metadata": {"name": "a\nb"}})").find("(at /metadata/name)"), std::string::npos);
}

// Slurm in Kubernetes: slurmd's nodes have the names of the cluster's.
TEST(NodeLabels, FillInWhatSlurmDoesNotSay) {
  MachineAnswers answers{
      "NodeName=c1 CoresPerSocket=32 AvailableFeatures=(null) Gres=(null) RealMemory=257000 Sockets=2 "
      "ThreadsPerCore=2 Partitions=all\n"
      "NodeName=g1 CoresPerSocket=32 AvailableFeatures=icelake Gres=gpu:8 RealMemory=512000 Sockets=2 "
      "ThreadsPerCore=1 Partitions=gpu\n",
      "PartitionName=all Default=YES State=UP\nPartitionName=gpu State=UP\n",
      "",
      {},
      "login"};
  answers.labelled = read_labels(kLabelledNodes);
  const DetectedMachines found = detected_machines(answers, "site", archspec_table());
  EXPECT_EQ(found.notes, std::vector<std::string>{});
  const Json& partitions = found.infrastructure["configuration"]["partitions"];
  EXPECT_EQ(partitions["all"]["node"]["cpu"]["microarch"], "x86_64_v3");
  EXPECT_EQ(partitions["all"]["node"]["ncpus"], 2) << "Slurm knows the sockets";
  EXPECT_EQ(partitions["gpu"]["node"]["cpu"]["microarch"], "icelake") << "the site's feature says more";
  EXPECT_EQ(partitions["gpu"]["node"]["accel"]["model"], "nvidia:sm_80");
}

TEST(NodeLabels, AreTheMachinesWithoutSlurm) {
  MachineAnswers answers;
  answers.labelled = read_labels(kLabelledNodes);
  const DetectedMachines found = detected_machines(answers, "site", archspec_table());
  EXPECT_EQ(found.infrastructure["configuration"]["scheduler"], "bash");
  const Json& nodes = found.infrastructure["configuration"]["partitions"]["nodes"];
  EXPECT_EQ(nodes["nnodes"], 2);
  ASSERT_EQ(nodes["kinds"].size(), 2u);
  EXPECT_EQ(nodes["kinds"][1]["node"]["naccel"], 8);
  read_infrastructure(JsonDocument::parse(found.infrastructure.dump(), "detected").root());
}

}  // namespace
}  // namespace kiln
