#include <fmt/format.h>

#include "factory/base/text.h"
#include "factory/record/host_needs.h"
#include "registry/deploy/command_words.h"
#include "registry/deploy/render_job.h"
#include "registry/select/tuned_setting.h"

namespace kiln {
namespace {

using Lines = std::vector<std::string>;

// The variable by which the libraries of the vendor restrict a process to some GPUs.
std::string gpus_variable(const Deployment& deployment) {
  return deployment.gpus == "amd" ? "ROCR_VISIBLE_DEVICES" : "CUDA_VISIBLE_DEVICES";
}

// The variable that hands it into a container; "" where the runtime needs none.
std::string handed_gpus_variable(const Deployment& deployment) {
  const std::string prefix = container_prefix(deployment.runtime);
  return prefix.empty() ? "" : prefix + gpus_variable(deployment);
}

bool is_parallel(const Deployment& deployment) {
  const JobRequest& job = deployment.job;
  return job.uses_mpi() || (job.uses_own_launcher() && job.nodes.value_or(1) > 1);
}

// pyxis starts its containers by srun alone.
bool needs_step(const Deployment& deployment) { return deployment.runtime == ContainerRuntime::enroot; }

// srun's PMIx keeps its data in files below SlurmdSpoolDir, which containers do not see: each rank reports
// errors (apptainer/singularity#5195). PMIx's module `hash` needs no files. pyxis replaces the variable
// (NVIDIA/pyxis, pyxis_slurmstepd.c: pmix_remap_list).
void add_pmix(Lines& lines, const Deployment& deployment, JobContainer& run) {
  if (!deployment.mpi_plugin.starts_with("pmix") || deployment.runtime == ContainerRuntime::enroot) return;
  lines.emplace_back("export PMIX_MCA_gds=\"${PMIX_MCA_gds:-hash}\"");
  run.own_variables.emplace_back("PMIX_MCA_gds");
}

void add_environment(Lines& lines, const Deployment& deployment, JobContainer& run) {
  auto set = [&](const std::string& name, const std::string& value) {
    lines.push_back(fmt::format("export {}={}", name, job_word(value)));
    run.own_variables.push_back(name);
  };
  for (const JobVariable& variable : deployment.job.variables)
    if (variable.value) run.own_variables.push_back(variable.name);
  if (deployment.threads > 0) set("OMP_NUM_THREADS", std::to_string(deployment.threads));
  if (deployment.job.uses_mpi() && deployment.threads > 1) {
    set("OMP_PLACES", "cores");
    set("OMP_PROC_BIND", "close");
  }
  if (deployment.tuned) {
    lines.push_back("# " + on_one_line(text_of(*deployment.tuned)));
    for (const auto& [name, value] : deployment.tuned->settings) {
      if (is_workload_option(name))
        lines.push_back(fmt::format("# {} is an option of the workload: give the program the same", name));
      else
        set(name, value);
    }
  }
  add_pmix(lines, deployment, run);
  // Of the runtimes, it alone hands over nothing unasked; the processes set it.
  if (deployment.job.uses_tf_config() && deployment.runtime == ContainerRuntime::podman)
    run.own_variables.insert(run.own_variables.end(), {"TF_CONFIG", "no_grpc_proxy"});
  if (!deployment.job.checkpoint) return;
  set("KILN_CHECKPOINT_PATH", deployment.job.checkpoint->path);
  if (deployment.job.checkpoint->interval.count() > 0)
    set("KILN_CHECKPOINT_INTERVAL", std::to_string(deployment.job.checkpoint->interval.count()));
}

// The number that the launcher gave to a process, as the image's MPI reads it. The distributions' Open MPI
// reads PMIx, and their MPICH reads PMI: with the other's variable, each process is rank 0 of 1
// (open-mpi/ompi#13523). The MPI of other images, and the one that Sarus and Shifter put in place, may read
// either.
std::string rank_words(const Deployment& deployment) {
  const bool replaced =
      deployment.runtime == ContainerRuntime::sarus || deployment.runtime == ContainerRuntime::shifter;
  const bool known = deployment.image.code.empty() && !replaced;
  const std::string_view family = known ? mpi_family(deployment.image.mpi) : std::string_view();
  if (family == "openmpi") return "${PMIX_RANK:-${OMPI_COMM_WORLD_RANK:-}}";
  if (family == "mpich") return "${PMI_RANK:-}";
  return "${PMIX_RANK:-${PMI_RANK:-${OMPI_COMM_WORLD_RANK:-}}}";
}

// A program in a POSIX shell before each process of a parallel job; `$1` is the number of ranks. It has no
// value of the document.
Lines task_lines(const Deployment& deployment) {
  Lines lines = {"# In each process, before the application begins.", "task='", "ranks=$1", "shift"};
  if (deployment.job.uses_mpi() && deployment.ranks > 1) {
    // Without PMI each would be rank 0 of 1, and all would write the same files.
    lines.insert(
        lines.end(),
        {"rank=" + rank_words(deployment), "size=${PMI_SIZE:-${OMPI_COMM_WORLD_SIZE:-${ranks}}}",
         "if [ -z \"${rank}\" ] || [ \"${size}\" != \"${ranks}\" ]; then",
         "  echo \"kiln: no rank of ${ranks}: the launcher and the MPI of the image do not fit\" >&2",
         "  exit 1", "fi", "[ \"${rank}\" != 0 ] || echo \"kiln: rank 0 of ${size}\" >&2"});
  }
  if (!deployment.gpus.empty() && deployment.job.uses_mpi()) {
    const std::string name = gpus_variable(deployment), inside = handed_gpus_variable(deployment);
    // The GPUs of the node in turn; --nv keeps the variable only where it is handed in.
    lines.insert(lines.end(),
                 {"local=${SLURM_LOCALID:-${OMPI_COMM_WORLD_LOCAL_RANK:-${MPI_LOCALRANKID:-0}}}",
                  fmt::format("if [ -n \"${{{}:-}}\" ]; then", name),
                  fmt::format("  gpus=$(($(printf %s \"${{{}}}\" | tr -cd , | wc -c) + 1))", name),
                  fmt::format("  {0}=$(printf %s \"${{{0}}}\" | cut -d , -f $((local % gpus + 1)))", name),
                  fmt::format("  export {}", name)});
    if (!inside.empty()) lines.push_back(fmt::format("  export {}=\"${{{}}}\"", inside, name));
    lines.push_back("fi");
  }
  lines.push_back("exec \"$@\"'");
  return lines;
}

// The job's nodes, by their names outside the container, where Slurm's programs are; the first is torchrun's
// rendezvous.
void add_rendezvous(Lines& lines) {
  lines.insert(lines.end(),
               {"hosts=$(scontrol show hostnames \"${SLURM_JOB_NODELIST}\")", "head=${hosts%%$'\\n'*}",
                "if [ -z \"${head}\" ]; then", "  echo 'kiln: the job has no first node' >&2", "  exit 1",
                "fi", "# Two jobs on a node have two ports.", "port=$((20000 + SLURM_JOB_ID % 10000))"});
}

// What a process of TensorFlow on each node is told of the others (tensorflow/tensorflow, class
// TFConfigClusterResolver). srun numbers one process a node in the order of the nodes; `$1` is the list of
// the addresses. It has no value of the document.
void add_tf_config(Lines& lines, const Deployment& deployment) {
  const std::string prefix = container_prefix(deployment.runtime);
  const std::string config =
      R"(TF_CONFIG="{\"cluster\": {\"worker\": [${workers}]}, \"task\": {\"type\": \"worker\", )"
      R"(\"index\": ${SLURM_PROCID}}}")";
  // gRPC connects the workers by the proxy of http_proxy or https_proxy unless a variable names them
  // (grpc/grpc, doc/environment_variables.md); each waits for the others without a message.
  lines.insert(lines.end(),
               {"workers=", "for host in ${hosts}; do",
                "  workers=\"${workers:+${workers}, }\\\"${host}:${port}\\\"\"", "done",
                "# A proxy of the site does not reach the nodes.", "direct=${no_grpc_proxy:-${no_proxy:-}}",
                "export no_grpc_proxy=\"${hosts//$'\\n'/,}${direct:+,${direct}}\"",
                "# In each process, before the application begins.", "task='", "workers=$1", "shift", config,
                "export TF_CONFIG"});
  if (!prefix.empty())
    lines.insert(lines.end(), {fmt::format("export {}TF_CONFIG=\"${{TF_CONFIG}}\"", prefix),
                               fmt::format("export {}no_grpc_proxy=\"${{no_grpc_proxy}}\"", prefix)});
  lines.emplace_back("exec \"$@\"'");
}

// Options: pytorch/pytorch@010929fd, torch/distributed/run.py.
std::string torchrun_words(const Deployment& deployment) {
  const JobRequest& job = deployment.job;
  std::string words = "torchrun";
  if (job.nodes.value_or(1) > 1)
    words += fmt::format(
        " --nnodes={} --rdzv-id=\"${{SLURM_JOB_ID}}\" --rdzv-backend=c10d "
        "--rdzv-endpoint=\"${{head}}:${{port}}\"",
        *job.nodes);
  else
    words += " --standalone";
  const int processes = job.gpus.value_or(0) > 0 ? *job.gpus : 1;
  words += fmt::format(" --nproc-per-node={}", processes);
  const std::string program = shown(job.command.front());
  const bool python = program == "python" || program == "python3";
  if (!python) words += " --no-python";
  return words + " " + command_text({job.command.begin() + (python ? 1 : 0), job.command.end()});
}

std::string application_words(const Deployment& deployment) {
  const JobRequest& job = deployment.job;
  std::string words;
  if (is_parallel(deployment)) {
    words = launcher_words(deployment);
  } else if (needs_step(deployment)) {
    words = "srun --ntasks=1";
  }
  if (needs_step(deployment)) words += " \"${step[@]}\"";
  if (job.uses_mpi()) words += fmt::format(" sh -c \"${{task}}\" task {}", deployment.ranks);
  if (job.uses_tf_config()) words += " sh -c \"${task}\" task \"${workers}\"";
  if (!needs_step(deployment)) words += " \"${container[@]}\"";
  words += " " + (job.uses_torchrun() ? torchrun_words(deployment) : command_text(job.command));
  const std::size_t begin = words.find_first_not_of(' '), end = words.find_last_not_of(' ');
  return begin == words.npos ? "" : words.substr(begin, end - begin + 1);
}

// srun hands USR1 and USR2 to its processes. At TERM, HUP and QUIT it kills them, and a first INT it takes
// for a question (SchedMD/slurm@284c3b95, src/srun/signals.c); scancel signals the processes, and not the
// script (scancel(1), --batch).
std::string forward_words(const Deployment& deployment, const std::string& id) {
  const std::string& signal = deployment.job.checkpoint->signal;
  const bool step = is_parallel(deployment) || needs_step(deployment);
  return step && !signal.starts_with("USR")
             ? fmt::format("scancel --signal={} \"{}\"", signal, id)
             : fmt::format("kill -{} \"${{application}}\" 2>/dev/null", signal);
}

// The signal reaches the script alone, which hands it on; whether time ran out is for the clock to say,
// because frameworks take signals, too.
void add_resumed(Lines& lines, const Deployment& deployment, const std::string& words) {
  const JobRequest& job = deployment.job;
  const JobCheckpoint& checkpoint = *job.checkpoint;
  const std::string id =
      job.array.empty() ? "${SLURM_JOB_ID}" : "${SLURM_ARRAY_JOB_ID}_${SLURM_ARRAY_TASK_ID}";
  lines.insert(lines.end(),
               {words + " &", "application=$!",
                fmt::format("trap '{} || true' {}", forward_words(deployment, id), checkpoint.signal),
                "status=0", "while :; do", "  status=0", "  wait \"${application}\" || status=$?",
                "  kill -0 \"${application}\" 2>/dev/null || break", "done",
                fmt::format("if [ \"${{SECONDS}}\" -ge {} ]; then",
                            job.wall_time->count() - checkpoint.before.count()),
                fmt::format("  scontrol requeue \"{}\"", id), "fi", "(exit \"${status}\")"});
}

// {{BUILD_PARALLELISM}} is a number, which needs no quotes. REQUIRES: there is no other variable.
std::string with_parallelism(std::string command, int cores) {
  for (std::size_t at = command.find("{{"); at != command.npos; at = command.find("{{", at))
    command.replace(at, command.find("}}", at) + 2 - at, std::to_string(cores));
  return command;
}

std::string source_file(const std::string& source) {
  std::string_view name = last_part(source);
  name = name.substr(0, name.find_first_of("?#"));
  if (name.ends_with(".git")) name.remove_suffix(4);
  return std::string(name);
}

}  // namespace

Lines container_lines(const Deployment& deployment) {
  Lines lines;
  JobContainer run{deployment.image,          deployment.gpus,
                   deployment.job.uses_mpi(), !deployment.job.command.empty() || deployment.job.build,
                   deployment.binds,          {}};
  add_environment(lines, deployment, run);
  const Lines more = runtime_lines(deployment.runtime, run);
  lines.insert(lines.end(), more.begin(), more.end());
  const std::string inside = handed_gpus_variable(deployment);
  if (!deployment.gpus.empty() && !inside.empty())
    lines.push_back(fmt::format("if [ -n \"${{{0}:-}}\" ]; then export {1}=\"${{{0}}}\"; fi",
                                gpus_variable(deployment), inside));
  return lines;
}

Lines run_lines(const Deployment& deployment) {
  Lines lines;
  if (deployment.job.uses_mpi()) lines = task_lines(deployment);
  if (deployment.job.uses_own_launcher() && is_parallel(deployment)) add_rendezvous(lines);
  if (deployment.job.uses_tf_config()) add_tf_config(lines, deployment);
  const std::string words = application_words(deployment);
  if (deployment.job.checkpoint)
    add_resumed(lines, deployment, words);
  else
    lines.push_back(words);
  return lines;
}

Lines build_lines(const Deployment& deployment) {
  const JobBuild& build = *deployment.job.build;
  Lines lines;
  if (!build.source.empty()) {
    const std::string name = source_file(build.source);
    const bool git = build.source.ends_with(".git");
    const std::string file = job_word("./" + name), source = job_word(build.source);
    lines.push_back(
        git ? fmt::format("[ -e {0} ] || git clone -- {1} {0}", file, source)
            : fmt::format("[ -e {0} ] || curl --fail --silent --show-error --location --output {0} -- {1}",
                          file, source));
  }
  if (build.command.empty()) return lines;
  const std::string command = job_quoted(with_parallelism(build.command, build.cores.value_or(1)));
  const std::string step = needs_step(deployment) ? "srun --ntasks=1 \"${step[@]}\"" : "\"${container[@]}\"";
  lines.push_back(fmt::format("{} sh -ec {}", step, command));
  return lines;
}

}  // namespace kiln
