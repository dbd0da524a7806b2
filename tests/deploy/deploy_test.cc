// Document, image and machines → Deployment and script.
#include <nlohmann/json.hpp>

#include "deploy/deploy_samples.h"
#include "registry/deploy/container_runtime.h"

namespace kiln {
namespace {

using namespace testing;

TEST(Deploy, FillsInWhatTheInfrastructureSays) {
  const Infrastructure machines = infrastructure();
  const std::string text = script(document("", kMpi, R"("name": "hlrs")"), openmpi_image(), &machines);
  EXPECT_EQ(lines_of(text, "#SBATCH"),
            "#SBATCH --job-name=job\n#SBATCH --partition=cpu\n#SBATCH --nodes=1\n#SBATCH --ntasks=8\n"
            "#SBATCH --ntasks-per-node=8\n");
  EXPECT_TRUE(holds(text, "# slurm: the scheduler of hlrs\n")) << text;
  EXPECT_TRUE(holds(text, "# cpu: the default partition of hlrs\n"));
  EXPECT_TRUE(holds(text, "# 1 node: 8 ranks of 1 core on nodes with 32 cores\n"));
  EXPECT_TRUE(holds(text, "singularity exec --bind /mnt/nfs --bind /scratch"));
  EXPECT_TRUE(holds(text, "srun --ntasks=8 --nodes=1 --ntasks-per-node=8 --cpu-bind=cores --mpi=pmix sh -c"));
}

// apptainer/singularity#5195: the files of srun's PMIx are not in the container.
TEST(Deploy, PmixNeedsNoFilesInTheContainer) {
  const std::string text = script(document("", kMpi));
  EXPECT_TRUE(holds(text, "export PMIX_MCA_gds=\"${PMIX_MCA_gds:-hash}\"\n")) << text;
  EXPECT_TRUE(holds(text, "export SINGULARITYENV_PMIX_MCA_gds=\"${PMIX_MCA_gds}\"\n"));
  const std::string own = script(document(R"("copy_environment_variable": "PMIX_MCA_gds=ds21")", kMpi));
  EXPECT_LT(own.find("PMIX_MCA_gds=ds21"), own.find("PMIX_MCA_gds:-hash")) << own;
  DeployedImage mpich = openmpi_image();
  mpich.mpi = "mpich";
  for (const std::string& without :
       {script(document("", kMpi), mpich), script(document("", kPlain)),
        script(document("", kMpi, R"("job_scheduler_type": "torque")")),
        script(document("", kMpi), openmpi_image(), nullptr, {{}, ContainerRuntime::enroot})})
    EXPECT_FALSE(holds(without, "PMIX_MCA_gds")) << without;
}

TEST(Deploy, CountsNodesByRanksAndTheirThreads) {
  const Infrastructure machines = infrastructure();
  const Deployment wide =
      deployed(document("", R"("app_type": "hpc", "executable": "x", "mpi_ranks": 80, "threads": 2)"),
               openmpi_image(), &machines);
  EXPECT_EQ(*wide.job.nodes, 5);  // 16 of 2 cores each
  EXPECT_EQ(wide.tasks_per_node, 16);
  EXPECT_EQ(wide.cores_per_task, 2);
  EXPECT_EQ(wide.threads, 2);
}

TEST(Deploy, AShareOfANodeGoesWithItsGpus) {
  const Infrastructure machines = infrastructure();
  const std::string text =
      script(document(R"("request_gpus": 1, "partition": "gpu")", kPlain), gpu_image(), &machines);
  EXPECT_TRUE(holds(text, "#SBATCH --cpus-per-task=16\n#SBATCH --mem=117760M\n#SBATCH --gpus-per-node=1\n"))
      << text;
  EXPECT_TRUE(holds(text, "# 16 cores: the share of 1 of a node's 4 GPUs\n"));
  EXPECT_TRUE(holds(text, "singularity exec --nv"));
  EXPECT_TRUE(holds(text, "export OMP_NUM_THREADS=16\n"));
}

TEST(Deploy, MoreThanAPartitionHasIsAnError) {
  const std::pair<std::string, std::string> cases[] = {
      {document(R"("node_count": 9)", kPlain),
       "9 nodes; the partition cpu has 8 (at /job/job_options/node_count)"},
      {document(R"("process_count_per_node": 40)", kPlain),
       "40 processes of 1 core on a node; the partition cpu has nodes with 32 cores (at "
       "/job/job_options/process_count_per_node)"},
      {document("", R"("app_type": "mpi", "executable": "x", "mpi_ranks": 1000)"),
       "32 nodes; the partition cpu has 8 (at /job/application/mpi_ranks)"},
      {document(R"("memory_limit": "300G")", kPlain),
       "307200 MiB of memory; the partition cpu has nodes with 262144 MiB (at "
       "/job/job_options/memory_limit)"},
      {document(R"("request_gpus": 1)", kPlain), "1 GPU on a node; the partition cpu has nodes with 0 (at "},
      {document(R"("partition": "gpu", "request_gpus": 5)", kPlain),
       "5 GPUs on a node; the partition gpu has nodes with 4 (at /job/job_options/request_gpus)"},
      {document(R"("core_count": 300)", kPlain),
       "10 nodes; the partition cpu has 8 (at /job/job_options/core_count)"},
      {document(R"("partition": "cpo")", kPlain),
       "hlrs has no partition 'cpo': it has cpu, gpu (at /job/job_options/partition); did you mean 'cpu'?"},
      {document("", kPlain, R"("job_scheduler_type": "torque")"),
       "the document is for torque, and hlrs has slurm (at /job/target/job_scheduler_type)"}};
  for (const auto& [text, error] : cases)
    EXPECT_TRUE(holds(refusal_on_cluster(text), error)) << refusal_on_cluster(text);
}

TEST(Deploy, WithoutADefaultPartitionTheDocumentNamesOne) {
  const Infrastructure machines =
      infrastructure(R"({"name": "x", "partitions": {"a": {"nnodes": 1}, "b": {"nnodes": 1}}})");
  EXPECT_EQ(refusal(document("", kPlain), openmpi_image(), &machines),
            "error: x has no default partition; name one in job_options.partition: a, b");
  EXPECT_TRUE(holds(script(document(R"("queue": "b")", kPlain), openmpi_image(), &machines),
                    "#SBATCH --partition=b\n"));
}

TEST(Deploy, ContradictionsAreErrors) {
  EXPECT_TRUE(holds(refusal(document(R"("core_count": 4)", kMpi)),
                    "8 ranks do not fit on 4 cores (at /job/application/mpi_ranks)"));
  EXPECT_TRUE(holds(refusal(document(R"("node_count": 9)", kMpi)),
                    "8 ranks cannot use 9 nodes (at /job/application/mpi_ranks)"));
  EXPECT_TRUE(holds(refusal(document(R"("core_count_per_process": 2)", R"("executable": "x", "threads": 4)")),
                    "4 threads do not fit on 2 cores (at /job/application/threads)"));
  EXPECT_TRUE(holds(refusal(document(R"("queue": "a", "partition": "b")", kPlain)),
                    "the queue is a, and the partition b: Slurm has one word for both"));
  EXPECT_TRUE(
      holds(refusal(document(R"("node_count": 2, "process_count_per_node": 4, "core_count": 9)", kPlain)),
            "9 processes do not fit 2 nodes with 4 processes (at /job/job_options/core_count)"));
}

// MODAK's own documents: process_count_per_node was its model's default, and core_count what one node had.
TEST(Deploy, RanksDecideWhereDocumentsOfModakContradictThemselves) {
  const Deployment egi =
      deployed(document(R"("node_count": 2, "process_count_per_node": 1)",
                        R"("app_type": "hpc", "executable": "./xthi", "mpi_ranks": 80, "threads": 2)"));
  EXPECT_EQ(egi.tasks_per_node, 40);
  EXPECT_EQ(egi.notes.front(), "process_count_per_node is 1: 80 ranks on 2 nodes are 40 on each");
  const Deployment test =
      deployed(document(R"("node_count": 2, "core_count": 40, "process_count_per_node": 40)",
                        R"("app_type": "hpc", "executable": "./xthi", "mpi_ranks": 80)"));
  EXPECT_EQ(test.tasks, 80);
  EXPECT_EQ(test.notes.front(), "core_count is 40, and mpi_ranks 80: kiln asks for 80 processes");
}

TEST(Deploy, WithoutASchedulerTheScriptIsForBash) {
  const Deployment deployment =
      deployed(document(R"("wall_time_limit": "1h", "standard_output_file": "o.txt")", kPlain, ""));
  EXPECT_EQ(deployment.scheduler, Scheduler::bash);
  EXPECT_EQ(deployment.notes.size(), 1u);
  const JobScripts scripts = render_job(deployment);
  EXPECT_EQ(scripts.notes, std::vector<std::string>{"wall_time_limit: a plain script has no option for it"});
  EXPECT_TRUE(holds(scripts.job, "exec >o.txt 2>&1\n"));
  EXPECT_EQ(deployed(document("", kPlain, ""), openmpi_image(), nullptr, {Scheduler::torque, {}}).scheduler,
            Scheduler::torque);
}

TEST(Deploy, IsPrintedAsJson) {
  const Json json = to_json(deployed(document(R"("wall_time_limit": "1h")", kMpi)));
  EXPECT_EQ(json["scheduler"], "slurm");
  EXPECT_EQ(json["job_options"]["wall_time_limit"], 3600);
  EXPECT_EQ(json["run"]["command"], Json::array({"./xthi"}));
  EXPECT_EQ(json["run"]["ranks"], 8);
  EXPECT_EQ(json["image"]["mpi"], "openmpi");
}

TEST(Deploy, AnImageOfTheDocumentIsAReferenceOrAFile) {
  const SourceLocation where{"job.json", 3, 4, "/x"};
  EXPECT_EQ(named_image("docker://some-container", where).reference, "docker://some-container");
  EXPECT_EQ(named_image("/images/a.sif", where).sif, "/images/a.sif");
  for (const char* text : {"some-container", "docker://a b", "docker://", "/etc/passwd", "docker://a/"})
    EXPECT_NE(input_error([&] { named_image(text, where); }), "no error") << text;
}

TEST(Deploy, AMappingIsRunByItsReference) {
  ImageRecord mapping;
  mapping.reference = "docker://modakopt/modak:tensorflow-2.1-gpu-src";
  mapping.accelerators = {"nvidia"};
  const DeployedImage image = deployed_image(mapping, {});
  EXPECT_EQ(image.reference, mapping.reference);
  EXPECT_EQ(image.gpu_vendor, "nvidia");
  EXPECT_EQ(sif_name_of(image.reference), "modak_tensorflow-2.1-gpu-src.sif");
}

TEST(Infrastructure, IsReadInBothShapes) {
  const Infrastructure machines = infrastructure();
  EXPECT_EQ(machines.partitions.at("cpu").node->all_cores(), 32);
  EXPECT_EQ(machines.partitions.at("cpu").node->host_name(), "zen3");
  EXPECT_EQ(machines.partitions.at("gpu").node->host_name(), "zen3,nvidia:sm_80");
  const Infrastructure flat = infrastructure(
      R"({"name": "x", "scheduler": "torque", "container_runtime": "sarus", "mpi": "pmix", "partitions": {"a": {}}})");
  EXPECT_EQ(flat.scheduler, Scheduler::torque);
  EXPECT_EQ(*flat.runtime, ContainerRuntime::sarus);
  EXPECT_EQ(flat.standard_partition()->name, "a");
}

TEST(Infrastructure, RefusesWhatIsWrong) {
  for (const char* text :
       {R"({"partitions": {"a": {"default": true}, "b": {"default": true}}})",
        R"({"partitions": {"a b": {}}})", R"({"partitions": {"a": {"node": {"naccel": 1}}}})",
        R"({"partitions": {"a": {"nnodes": 0}}})", R"({"partitoins": {}})", R"({"scheduler": "lsf"})",
        R"({"storage": {"file:///a": {"storage_class": "fast"}}})", R"({"container_runtime": "docker"})"})
    EXPECT_NE(input_error([&] { infrastructure(text); }), "no error") << text;
}

}  // namespace
}  // namespace kiln
