// What went wrong in public with other tools that write job scripts: a document in, a script or an error out.
// The comment of each test names the thread.
#include "deploy/deploy_samples.h"

namespace kiln {
namespace {

using namespace testing;

const char* kHybrid = R"("app_type": "mpi", "executable": "x", "mpi_ranks": 4, "threads": 2)";
const char* kTorch =
    R"("job": {"job_options": {"node_count": %N, "request_gpus": 4}, "target": {"job_scheduler_type": "slurm"},
  "application": {"executable": "python3 train.py"}, "optimisation": {"app_type": "ai_training", "app_type-ai_training":
  {"config": {"ai_framework": "pytorch", "distributed_training": true}}}})";

std::string torch_job(const std::string& nodes) { return "{" + with_mistake(kTorch, "%N", nodes) + "}"; }

// reframe-hpc/reframe#2655: srun of 22.05 does not take cpus-per-task from sbatch.
TEST(PublicCases, C01TheRunLineStatesCoresItself) {
  EXPECT_TRUE(holds(script(document("", kHybrid)), "srun --ntasks=4 --cpus-per-task=2 "));
}
// scalableminds/webknossos-libs#1483: SLURM_ and SRUN_CPUS_PER_TASK that differ are fatal.
TEST(PublicCases, C02NoVariableStatesCores) {
  EXPECT_FALSE(holds(script(document("", kHybrid)), "CPUS_PER_TASK="));
}
// BSC-ES/autosubmit#2897: --cpus-per-task=1 unasked.
TEST(PublicCases, C03CoresPerTaskNeedAReason) {
  EXPECT_FALSE(holds(script(document("", kMpi)), "cpus-per-task"));
  EXPECT_FALSE(holds(script(document(R"("node_count": 1, "core_count": 40)", kPlain)), "cpus-per-task"));
}
// snakemake/snakemake#2230, dask/dask-jobqueue#698: two options of memory.
TEST(PublicCases, C04OneOptionOfMemory) {
  const std::string text = script(document(R"("minimum_memory_per_processor": "2GB")", kMpi));
  EXPECT_EQ(lines_of(text, "#SBATCH --mem"), "#SBATCH --mem-per-cpu=2048M\n");
  EXPECT_TRUE(holds(refusal(document(R"("memory_limit": "2G", "minimum_memory_per_processor": "2G")", kMpi)),
                    "a job has one memory limit"));
}
// mehta-lab/recOrder#482, CoBrALab/qbatch#239, NVIDIA/NVFlare#5038: submitted from inside a job.
TEST(PublicCases, C05AJobAroundThisOneLeavesNothing) {
  const std::string text = script(document(R"("copy_environment": false)", kPlain));
  EXPECT_TRUE(holds(text, "unset SLURM_MEM_PER_CPU SLURM_MEM_PER_GPU SLURM_MEM_PER_NODE "));
  EXPECT_TRUE(holds(text, " SLURM_ARRAY_TASK_ID\n"));
  EXPECT_TRUE(holds(text, "#SBATCH --export=NIL\n"));
  EXPECT_TRUE(holds(text, "${PATH:-/usr/local/bin:/usr/bin:/bin}"));
  EXPECT_FALSE(holds(script(document(R"("job_array": "0-3")", kPlain)), " SLURM_ARRAY_TASK_ID\n"));
}
// NVIDIA/nccl#1066, flux-framework/flux-core#6239: --gpus-per-task hides the GPUs of others.
TEST(PublicCases, C06GpusAreOfTheNodeAndChosenByTheLocalRank) {
  const std::string text = script(document(R"("request_gpus": 4)", kMpi), gpu_image());
  EXPECT_TRUE(holds(text, "#SBATCH --gpus-per-node=4\n"));
  EXPECT_FALSE(holds(text, "gpus-per-task"));
  EXPECT_TRUE(holds(text, "local=${SLURM_LOCALID:-"));
}
// NVIDIA/deepops#1102: in 21.08 only the last task had a GPU.
TEST(PublicCases, C07NoBindingOfGpusByTask) {
  const std::string text = script(document(R"("request_gpus": 4)", kMpi), gpu_image());
  EXPECT_FALSE(holds(text, "gpu-bind") || holds(text, "tres-bind") || holds(text, "gpus-per-task"));
}
// chapel-lang/chapel#22090: --cpu-bind is an option of srun alone.
TEST(PublicCases, C08CpuBindIsOnTheStep) {
  const std::string text = script(document("", kMpi));
  EXPECT_FALSE(holds(lines_of(text, "#SBATCH"), "cpu-bind"));
  EXPECT_TRUE(holds(lines_of(text, "srun"), "--cpu-bind=cores"));
}
// labsyspharm/mcmicro#209, sylabs/singularity#1994: all GPUs visible in the container.
TEST(PublicCases, C09VisibleGpusAreHandedIn) {
  EXPECT_TRUE(holds(script(document(R"("request_gpus": 1)", kPlain), gpu_image()),
                    "export SINGULARITYENV_CUDA_VISIBLE_DEVICES=\"${CUDA_VISIBLE_DEVICES}\""));
  EXPECT_TRUE(holds(script(document(R"("request_gpus": 4)", kMpi), gpu_image()),
                    "  export CUDA_VISIBLE_DEVICES\n  export SINGULARITYENV_CUDA_VISIBLE_DEVICES="));
}
// pytorch/pytorch#73656, #137402: rendezvous host and first node differ.
TEST(PublicCases, C10TheRendezvousIsTheFirstNode) {
  const std::string text = script(torch_job("2"), gpu_image());
  EXPECT_TRUE(holds(text, "hosts=$(scontrol show hostnames \"${SLURM_JOB_NODELIST}\")\n"));
  EXPECT_TRUE(holds(text,
                    "torchrun --nnodes=2 --rdzv-id=\"${SLURM_JOB_ID}\" --rdzv-backend=c10d "
                    "--rdzv-endpoint=\"${head}:${port}\" --nproc-per-node=4 train.py\n"))
      << text;
}
// mlc-ai/pith-train#91: `|| echo localhost` inside the container.
TEST(PublicCases, C11NoNodeFallsBackOnItself) {
  const std::string text = script(torch_job("2"), gpu_image());
  EXPECT_FALSE(holds(text, "localhost"));
  EXPECT_TRUE(holds(text, "set -euo pipefail\n"));
  EXPECT_LT(text.find("scontrol show hostnames"), text.find("torchrun"));
  EXPECT_TRUE(holds(text, "kiln: the job has no first node"));
}
// pytorch/pytorch#126510: port 29500 is taken.
TEST(PublicCases, C12ThePortComesFromTheJob) {
  EXPECT_TRUE(holds(script(torch_job("2"), gpu_image()), "port=$((20000 + SLURM_JOB_ID % 10000))\n"));
  const std::string one = script(torch_job("1"), gpu_image());
  EXPECT_TRUE(holds(one, "torchrun --standalone --nproc-per-node=4 train.py\n"));
  EXPECT_FALSE(holds(one, "29500"));
}
// TensorFlow's processes read each other's addresses, and their own number, in TF_CONFIG.
TEST(PublicCases, C12TensorFlowGetsTheAddressesOfTheJobsNodes) {
  const std::string training = with_mistake(torch_job("2"), "pytorch", "tensorflow");
  const std::string text = script(training, gpu_image());
  EXPECT_TRUE(holds(text, "  workers=\"${workers:+${workers}, }\\\"${host}:${port}\\\"\"\n")) << text;
  EXPECT_TRUE(holds(text, "export SINGULARITYENV_TF_CONFIG=\"${TF_CONFIG}\"\n"));
  EXPECT_TRUE(holds(text, "direct=${no_grpc_proxy:-${no_proxy:-}}\n"));
  EXPECT_TRUE(holds(text, "export no_grpc_proxy=\"${hosts//$'\\n'/,}${direct:+,${direct}}\"\n"));
  EXPECT_TRUE(holds(text, "export SINGULARITYENV_no_grpc_proxy=\"${no_grpc_proxy}\"\n"));
  EXPECT_TRUE(holds(lines_of(text, "srun"),
                    "sh -c \"${task}\" task \"${workers}\" \"${container[@]}\" python3 train.py"));
  const std::string podman = script(training, gpu_image(), nullptr, {{}, ContainerRuntime::podman});
  EXPECT_TRUE(holds(podman, " --env=TF_CONFIG"));
  EXPECT_TRUE(holds(podman, " --env=no_grpc_proxy"));
  const std::string one = script(with_mistake(torch_job("1"), "pytorch", "tensorflow"), gpu_image());
  EXPECT_FALSE(holds(one, "TF_CONFIG"));
  EXPECT_TRUE(holds(refusal(with_mistake(training, R"("slurm")", R"("torque")"), gpu_image(), nullptr),
                    "TensorFlow on several nodes needs Slurm"));
  EXPECT_TRUE(holds(refusal(with_mistake(torch_job("2"), "pytorch", "mxnet"), gpu_image()),
                    "kiln has no launcher for distributed mxnet"));
}
// apptainer/singularity#5131: N ranks that are each 0 of 1.
TEST(PublicCases, C13RanksKnowTheirNumberBeforeTheWorkBegins) {
  const std::string text = script(document("", kMpi));
  EXPECT_TRUE(holds(text, "--mpi=pmix "));
  EXPECT_TRUE(holds(text, "rank=${PMIX_RANK:-${OMPI_COMM_WORLD_RANK:-}}\n"));
  EXPECT_TRUE(holds(text, "  exit 1\n"));
  DeployedImage mpich = openmpi_image();
  mpich.mpi = "mpich";
  const std::string other = script(document("", kMpi), mpich);
  EXPECT_TRUE(holds(other, "--mpi=pmi2 "));
  EXPECT_TRUE(holds(other, "rank=${PMI_RANK:-}\n"));
  const char* any = "rank=${PMIX_RANK:-${PMI_RANK:-${OMPI_COMM_WORLD_RANK:-}}}\n";
  for (const ContainerRuntime replaces : {ContainerRuntime::sarus, ContainerRuntime::shifter})
    EXPECT_TRUE(holds(script(document("", kMpi), mpich, nullptr, {{}, replaces}), any));
  mpich.code = "of a mapping";
  EXPECT_TRUE(holds(script(document("", kMpi), mpich), any));
}
// NVIDIA/pyxis#148, #127: #SBATCH --container-image acts on the script itself; '#' in names of registries.
TEST(PublicCases, C14OptionsOfPyxisAreOnTheStepAlone) {
  const DeployTerms enroot{{}, ContainerRuntime::enroot};
  const std::string text = script(document("", kPlain), gpu_image(), nullptr, enroot);
  EXPECT_FALSE(holds(lines_of(text, "#SBATCH"), "container"));
  EXPECT_TRUE(holds(text, "image='r.site:5000#ai/pytorch:2.6.0'\nstep=(--container-image=\"${image}\""));
  EXPECT_TRUE(holds(text, "srun --ntasks=1 \"${step[@]}\" ./run.sh\n")) << text;
  EXPECT_TRUE(
      holds(refusal(document("", kPlain, R"("job_scheduler_type": "torque")"), gpu_image(), nullptr, enroot),
            "enroot requires Slurm's plugin pyxis"));
}

const char* kCheckpoint =
    R"("executable": "./run.sh", "checkpoint": {"path": "/scratch/c", "interval": "10m"})";

// Lightning-AI/pytorch-lightning#15022: the parent of an array was requeued.
TEST(PublicCases, C15AMemberOfAnArrayIsRequeuedByItself) {
  const std::string text = script(document(R"("wall_time_limit": "1h", "job_array": "0-3")", kCheckpoint));
  EXPECT_TRUE(holds(text, "scontrol requeue \"${SLURM_ARRAY_JOB_ID}_${SLURM_ARRAY_TASK_ID}\"\n"));
  EXPECT_TRUE(holds(script(document(R"("wall_time_limit": "1h")", kCheckpoint)),
                    "scontrol requeue \"${SLURM_JOB_ID}\"\n"));
}
// facebookincubator/submitit#1697, #1701: NCCL takes SIGUSR1.
TEST(PublicCases, C16TheSignalIsUsr2AndTheClockDecides) {
  const std::string text = script(document(R"("wall_time_limit": "1h")", kCheckpoint));
  EXPECT_TRUE(holds(text, "#SBATCH --signal=B:USR2@120\n"));
  EXPECT_TRUE(holds(text, "if [ \"${SECONDS}\" -ge 3480 ]; then\n"));
}
// torchrun ends at USR2 and leaves its processes; srun kills its processes when it gets TERM.
TEST(PublicCases, C16TheSignalOfTorchrunReachesItsProcesses) {
  auto training = [](const std::string& nodes, const std::string& signal) {
    return with_mistake(
        with_mistake(torch_job(nodes), R"("node_count")", R"("wall_time_limit": "1h", "node_count")"),
        R"("python3 train.py")", R"("python3 train.py", "checkpoint": {"path": "/scratch/c")" + signal + "}");
  };
  const std::string one = script(training("1", ""));
  EXPECT_TRUE(holds(one, "#SBATCH --signal=B:TERM@120\n")) << one;
  EXPECT_TRUE(holds(one, "trap 'kill -TERM \"${application}\" 2>/dev/null || true' TERM\n")) << one;
  const std::string two = script(training("2", ""));
  EXPECT_TRUE(holds(two, "trap 'scancel --signal=TERM \"${SLURM_JOB_ID}\" || true' TERM\n")) << two;
  const std::string asked = script(training("2", R"(, "signal": "USR2")"));
  EXPECT_TRUE(holds(asked, "trap 'kill -USR2 \"${application}\" 2>/dev/null || true' USR2\n")) << asked;
  // The same of other processes that srun starts.
  const std::string ranks = script(document(
      R"("wall_time_limit": "1h", "job_array": "0-3")",
      R"("executable": "./a", "app_type": "mpi", "mpi_ranks": 2, "checkpoint": {"path": "c", "signal": "HUP"})"));
  EXPECT_TRUE(holds(ranks,
                    "trap 'scancel --signal=HUP "
                    "\"${SLURM_ARRAY_JOB_ID}_${SLURM_ARRAY_TASK_ID}\" || true' HUP\n"))
      << ranks;
}
// NVIDIA/pyxis#129: there is no scontrol in the container.
TEST(PublicCases, C17TheScriptRequeuesAndLogsGrow) {
  const std::string text = script(document(R"("wall_time_limit": "1h")", kCheckpoint));
  EXPECT_TRUE(holds(text, "#SBATCH --requeue\n#SBATCH --open-mode=append\n"));
  EXPECT_TRUE(holds(text, "\n  scontrol requeue "));
  EXPECT_TRUE(holds(refusal(document("", kCheckpoint)), "wall_time_limit"));
  EXPECT_TRUE(
      holds(refusal(document(R"("wall_time_limit": "2-00:00:00")",
                             R"("executable": "./x", "checkpoint": {"path": "/c", "before": "20h"})")),
            "72000 s before the time limit; Slurm sends it at most 65535 s before"));
}
// nextflow-io/nextflow#218, amgadmadkour/gc3pie#465: blanks, parentheses, backslashes, backticks.
TEST(PublicCases, C18NamesAndPathsAreQuoted) {
  const std::string text =
      script(document(R"("job_name": "a (b) \\ `c`", "standard_output_file": "out dir/$x.txt")",
                      R"x("executable": ["./my prog(1)", "`id`", "a\\b"])x"));
  EXPECT_TRUE(holds(text, "#SBATCH --job-name=\"a (b) \\\\ `c`\"\n#SBATCH --output=\"out dir/$x.txt\"\n"))
      << text;
  EXPECT_TRUE(holds(text, "\"${container[@]}\" './my prog(1)' '`id`' 'a\\b'\n"));
}
// CoBrALab/qbatch#246, It4innovations/hyperqueue#832, NVIDIA-NeMo/RL#3051: one reader and a writer each.
TEST(PublicCases, C19TimesAreWrittenForTheirScheduler) {
  EXPECT_TRUE(holds(script(document(R"("wall_time_limit": "29")", kPlain)), "#SBATCH --time=0-00:00:29\n"));
  EXPECT_TRUE(
      holds(script(document(R"("wall_time_limit": "36:00:00")", kPlain, R"("job_scheduler_type": "torque")")),
            "#PBS -l walltime=36:00:00\n"));
  for (const char* time : {"1.5:00:00", "0:240:0", "25:61:00"})
    EXPECT_TRUE(
        holds(refusal(document(fmt::format(R"("wall_time_limit": "{}")", time), kPlain)), "wall_time_limit"))
        << time;
}
// nextgenusfs/funannotate#778, NVIDIA/enroot#175, Parsl/parsl#2615.
TEST(PublicCases, C20NothingUnaskedAndAFolderForTemporaryFiles) {
  const std::string text = script(document("", kHybrid));
  EXPECT_TRUE(holds(text, "export SINGULARITYENV_TMPDIR=/tmp\n"));
  EXPECT_TRUE(holds(text, "export SINGULARITYENV_OMP_NUM_THREADS=\"${OMP_NUM_THREADS}\"\n"));
  EXPECT_FALSE(holds(text, "--exclusive"));
}

// NVIDIA-NeMo/Megatron-Bridge#3068, glotzerlab/signac-flow#575: directives behind a command are not read.
TEST(PublicCases, DirectivesComeFirst) {
  const std::string text = script(document(R"("wall_time_limit": "1h")", kPlain));
  EXPECT_TRUE(text.starts_with("#!/bin/bash\n#SBATCH "));
  EXPECT_GT(text.find("set -euo"), text.rfind("#SBATCH"));
}

}  // namespace
}  // namespace kiln
