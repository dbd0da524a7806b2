// Infrastructures from what Slurm and a machine say of themselves.
#include "registry/deploy/detected_machines.h"

#include <nlohmann/json.hpp>

#include "deploy/archspec_table.h"
#include "deploy/deploy_samples.h"

namespace kiln {
namespace {

using namespace testing;

// Lines of Slurm 23.11, shortened.
const char* kNodes =
    "NodeName=n1 Arch=x86_64 CoresPerSocket=32 CPUAlloc=0 AvailableFeatures=zen3,ib ActiveFeatures=zen3,ib "
    "Gres=(null) "
    "NodeAddr=n1 OS=Linux 6.1.0-18-amd64 #1 SMP PREEMPT_DYNAMIC Debian 6.1.76-1 (2024-02-01) "
    "RealMemory=257000 "
    "Sockets=2 Boards=1 State=IDLE ThreadsPerCore=2 Partitions=all,cpu \n"
    "NodeName=n2 CoresPerSocket=32 AvailableFeatures=zen3,ib Gres=(null) RealMemory=256000 Sockets=2 "
    "ThreadsPerCore=2 "
    "Partitions=all,cpu\n"
    "NodeName=g1 CoresPerSocket=32 AvailableFeatures=zen3,gpu,a100 Gres=gpu:a100:4(S:0-1) RealMemory=512000 "
    "Sockets=2 "
    "ThreadsPerCore=2 Partitions=all,gpu\n";
const char* kPartitions =
    "PartitionName=cpu AllowGroups=ALL Default=YES Nodes=n[1-2] State=UP TotalNodes=2\n"
    "PartitionName=gpu Default=NO Nodes=g1 State=UP\n"
    "PartitionName=all Default=NO Nodes=n[1-2],g1 State=UP\n"
    "PartitionName=old Default=NO Nodes=n[1-2] State=DOWN\n"
    "PartitionName=empty Default=NO Nodes=(null) State=UP\n";

MachineAnswers answers() {
  MachineAnswers all{kNodes, kPartitions, "", {}, "login"};
  all.host.cpu = "skylake";
  all.host.cores = 8;
  all.host.memory_bytes = 32ull << 30;
  return all;
}

TEST(DetectedMachines, AreThoseOfSlurm) {
  const DetectedMachines found = detected_machines(answers(), "hlrs", archspec_table());
  EXPECT_EQ(found.notes, std::vector<std::string>{});
  EXPECT_EQ(found.infrastructure,
            Json::parse(R"({"name": "hlrs", "configuration": {"scheduler": "slurm", "partitions": {
    "cpu": {"default": true, "nnodes": 2, "node":
      {"ncpus": 2, "cpu": {"microarch": "zen3", "ncores": 32, "nthreads": 2}, "memory": "256000MiB"}},
    "gpu": {"nnodes": 1, "node":
      {"ncpus": 2, "cpu": {"microarch": "zen3", "ncores": 32, "nthreads": 2}, "memory": "512000MiB",
       "naccel": 4, "accel": {"type": "gpu", "model": "nvidia:sm_80"}}},
    "all": {"nnodes": 3, "kinds": [
      {"constraint": "ib", "nnodes": 2, "node":
        {"ncpus": 2, "cpu": {"microarch": "zen3", "ncores": 32, "nthreads": 2}, "memory": "256000MiB"}},
      {"constraint": "a100", "nnodes": 1, "node":
        {"ncpus": 2, "cpu": {"microarch": "zen3", "ncores": 32, "nthreads": 2}, "memory": "512000MiB",
         "naccel": 4, "accel": {"type": "gpu", "model": "nvidia:sm_80"}}}]}}}})"));
  const Infrastructure machines =
      read_infrastructure(JsonDocument::parse(found.infrastructure.dump(), "detected").root());
  EXPECT_EQ(machines.partitions.at("gpu").node->host_name(), "zen3,nvidia:sm_80");
  EXPECT_EQ(machines.partitions.at("all").kinds.size(), 2u);
}

TEST(DetectedMachines, ANodeOnWhichItRunsIsKnownBetter) {
  MachineAnswers here = answers();
  here.nodes =
      "NodeName=login CoresPerSocket=4 AvailableFeatures=(null) Gres=gpu:2 RealMemory=32000 Sockets=1 "
      "ThreadsPerCore=2 Partitions=cpu\n";
  here.gpus = "NVIDIA GeForce GTX 1080, 6.1\nNVIDIA GeForce GTX 1080, 6.1\n";
  const DetectedMachines found = detected_machines(here, "a", archspec_table());
  EXPECT_EQ(found.infrastructure["configuration"]["partitions"]["cpu"]["node"],
            Json::parse(R"({"ncpus": 1, "cpu": {"microarch": "skylake", "ncores": 4, "nthreads": 2},
              "memory": "32000MiB", "naccel": 2, "accel": {"type": "gpu", "model": "nvidia:sm_61"}})"));
  here.host_name = "elsewhere";
  EXPECT_EQ(detected_machines(here, "a", archspec_table()).notes,
            (std::vector<std::string>{
                "no feature of login names its microarchitecture: add 'microarch' to the partition cpu",
                "the model of the GPUs of login is not known: add it to the partition cpu"}));
}

TEST(DetectedMachines, WithoutSlurmItIsThisMachine) {
  MachineAnswers alone = answers();
  alone.nodes = alone.partitions = "";
  EXPECT_EQ(
      detected_machines(alone, "pc", archspec_table()).infrastructure,
      Json::parse(
          R"({"name": "pc", "configuration": {"scheduler": "bash", "partitions": {"local": {"default": true,
              "nnodes": 1, "node": {"ncpus": 1, "cpu": {"microarch": "skylake", "ncores": 8, "nthreads": 1},
              "memory": "32768MiB"}}}}})"));
  alone.gpus = "NVIDIA H100 PCIe, 9.0\n";
  EXPECT_EQ(detected_machines(alone, "pc", archspec_table())
                .infrastructure["configuration"]["partitions"]["local"]["node"]["accel"]["model"],
            "nvidia:sm_90");
}

TEST(DetectedMachines, ModelsHaveManyNames) {
  for (const auto& [gres, model] : std::initializer_list<std::pair<const char*, const char*>>{
           {"gpu:tesla_v100-sxm2-32gb:2", "nvidia:sm_70"},
           {"gpu:nvidia_h100_80gb_hbm3:8(S:0-1)", "nvidia:sm_90"},
           {"shard:8,gpu:mi250x:4", "amd:gfx90a"},
           {"gpu:nvidia:1", "nvidia"}}) {
    MachineAnswers one = answers();
    one.nodes = fmt::format("NodeName=n AvailableFeatures=zen3 Gres={} Partitions=cpu\n", gres);
    EXPECT_EQ(detected_machines(one, "a", archspec_table())
                  .infrastructure["configuration"]["partitions"]["cpu"]["node"]["accel"]["model"],
              model)
        << gres;
  }
}

// What Slurm prints is not ours: nothing of it ends kiln.
TEST(DetectedMachines, OddLinesAreReadAsFarAsTheyGo) {
  for (const char* odd :
       {"=", "NodeName=", "NodeName=n Partitions=cpu Gres=gpu", "NodeName=n Partitions=cpu Gres=gpu::",
        "NodeName=n Partitions=cpu Sockets=-1 CoresPerSocket=x RealMemory=99999999999999", "\n\n \n"}) {
    MachineAnswers one = answers();
    one.nodes = odd;
    const Json found = detected_machines(one, "a", archspec_table()).infrastructure;
    EXPECT_NO_THROW(read_infrastructure(JsonDocument::parse(found.dump(), "detected").root()))
        << odd << found;
  }
}

}  // namespace
}  // namespace kiln
