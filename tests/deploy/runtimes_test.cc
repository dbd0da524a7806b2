// The words of each container runtime.
#include "deploy/deploy_samples.h"

namespace kiln {
namespace {

using namespace testing;

std::string container_text(ContainerRuntime runtime, const JobContainer& run) {
  std::string text;
  for (const std::string& line : runtime_lines(runtime, run)) text += line + "\n";
  return text;
}
JobContainer gpu_run() { return {gpu_image(), "nvidia", true, true, {"/scratch"}, {"OMP_NUM_THREADS"}}; }

TEST(Runtimes, ApptainerRunsASif) {
  EXPECT_EQ(container_text(ContainerRuntime::apptainer, {sif_image(), "amd", false, false, {}, {}}),
            R"sh(image='/srv/kiln/pytorch_2.6.0.sif'
if [ ! -r "${image}" ]; then
  printf '%s\n' "there is no file ${image}; is the state folder of kiln on this node?" >&2
  exit 1
fi
container=(apptainer run --rocm "${image}")
export APPTAINERENV_TMPDIR=/tmp
)sh");
}

TEST(Runtimes, SingularityFindsTheFileOfAReference) {
  const std::string text = container_text(ContainerRuntime::singularity, gpu_run());
  EXPECT_TRUE(
      holds(text, "image=\"${SINGULARITY_DIR:?is the folder of the image files}\"/'pytorch_2.6.0.sif'\n"));
  EXPECT_TRUE(holds(text, "singularity exec --nv --bind /scratch \"${image}\"")) << text;
  EXPECT_TRUE(holds(text, "export SINGULARITYENV_OMP_NUM_THREADS=\"${OMP_NUM_THREADS}\"\n"));
}

TEST(Runtimes, AnImageThatIsNowhereIsAnError) {
  const JobContainer local{{"pytorch:2.6.0", "oci:/srv/kiln/x:2.6.0", "", "", ""}, "", false, true, {}, {}};
  for (const ContainerRuntime runtime :
       {ContainerRuntime::apptainer, ContainerRuntime::charliecloud, ContainerRuntime::sarus,
        ContainerRuntime::shifter, ContainerRuntime::enroot})
    EXPECT_THROW(container_text(runtime, local), Error);
  EXPECT_TRUE(holds(container_text(ContainerRuntime::podman, local), "image='oci:/srv/kiln/x:2.6.0'\n"));
}

// The sources of the words are cited in registry/deploy. None of the runtimes runs here.
TEST(Runtimes, OthersPullByReference) {
  EXPECT_EQ(container_text(ContainerRuntime::sarus, gpu_run()),
            "image='r.site:5000/ai/pytorch:2.6.0'\ncontainer=(sarus run --mpi "
            "--mount=\"type=bind,source=${PWD},destination=${PWD}\" "
            "--mount='type=bind,source=/scratch,destination=/scratch' --workdir=\"${PWD}\" "
            "--env=\"OMP_NUM_THREADS=${OMP_NUM_THREADS}\" --env=TMPDIR=/tmp \"${image}\")\n");
  EXPECT_EQ(container_text(ContainerRuntime::shifter, gpu_run()),
            "image='docker:r.site:5000/ai/pytorch:2.6.0'\ncontainer=(shifter --image=\"${image}\" "
            "--module='gpu,mpich' "
            "--volume=\"${PWD}:${PWD}\" --volume=/scratch:/scratch --workdir=\"${PWD}\" "
            "--env=\"OMP_NUM_THREADS=${OMP_NUM_THREADS}\" --env=TMPDIR=/tmp)\n");
  EXPECT_TRUE(holds(
      container_text(ContainerRuntime::charliecloud, gpu_run()),
      "container=(ch-run --env-no-expand --set-env --bind=\"${PWD}:/mnt/0\" --cd=/mnt/0 --bind=/scratch "
      "--set-env=\"OMP_NUM_THREADS=${OMP_NUM_THREADS}\" --set-env=TMPDIR=/tmp \"${image}\" --)\n"));
  EXPECT_TRUE(holds(container_text(ContainerRuntime::podman, gpu_run()),
                    "--device=nvidia.com/gpu=all --env=CUDA_VISIBLE_DEVICES "));
  EXPECT_EQ(container_text(ContainerRuntime::enroot, gpu_run()),
            "image='r.site:5000#ai/pytorch:2.6.0'\nstep=(--container-image=\"${image}\" "
            "--container-mounts=\"${PWD}:${PWD}\"',/scratch:/scratch' --container-workdir=\"${PWD}\" "
            "--container-env='OMP_NUM_THREADS')\n");
}

}  // namespace
}  // namespace kiln
