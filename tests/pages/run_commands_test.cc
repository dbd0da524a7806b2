#include <gtest/gtest.h>

#include "factory/pages/pages.h"
#include "pages/page_samples.h"

namespace kiln {
namespace {

using testing::sample_image;
using testing::sample_mapping;

// Of one engine; "" where there is no command for it.
std::string command_of(const ImageRecord& image, const std::string& engine) {
  for (const RunCommand& command : run_commands(image).commands)
    if (command.engine == engine) return command.text;
  return "";
}

TEST(RunCommands, NameTheTagThatNeverMoves) {
  const ImageRecord image = sample_image(0);
  const std::string name = "registry.site:5000/ai/pytorch:" + image.immutable_tag;
  const std::string run = "python3 -c 'import torch; print(torch.__version__)'";
  EXPECT_EQ(command_of(image, "Apptainer"),
            "apptainer pull pytorch_2.0.0-pip-x86_64_v3-trixie.sif docker://" + name +
                "\napptainer exec pytorch_2.0.0-pip-x86_64_v3-trixie.sif " + run);
  EXPECT_EQ(command_of(image, "Podman"), "podman pull " + name + "\npodman run --rm " + name + " " + run);
  EXPECT_EQ(command_of(image, "Docker"), "docker pull " + name + "\ndocker run --rm " + name + " " + run);
  EXPECT_EQ(command_of(image, "Slurm with pyxis"),
            "srun --container-image='registry.site:5000#ai/pytorch:" + image.immutable_tag + "' " + run);
  EXPECT_EQ(command_of(image, "Charliecloud"),
            "ch-image pull " + name + "\nch-convert " + name + " ./image\nch-run ./image -- " + run);
  EXPECT_EQ(command_of(image, "Sarus"), "sarus pull " + name + "\nsarus run " + name + " " + run);
  EXPECT_TRUE(run_commands(image).notes.empty());
}

TEST(RunCommands, PullTheSifWhereThereIsOne) {
  ImageRecord image = sample_image(0);
  image.published.sif = Digest::of("sif");
  EXPECT_TRUE(command_of(image, "Apptainer").find("oras://registry.site:5000/ai/pytorch@sha256:") !=
              std::string::npos);
}

TEST(RunCommands, HandGpusIn) {
  ImageRecord image = sample_image(0);
  image.accelerators = {"nvidia:sm_90"};
  EXPECT_NE(command_of(image, "Apptainer").find("apptainer exec --nv "), std::string::npos);
  EXPECT_NE(command_of(image, "Docker").find("--gpus all "), std::string::npos);
  EXPECT_NE(command_of(image, "Podman").find("--device nvidia.com/gpu=all "), std::string::npos);
  EXPECT_NE(command_of(image, "Slurm with pyxis").find("srun --gpus=1 "), std::string::npos);
  EXPECT_NE(command_of(image, "Charliecloud").find("ch-fromhost --nvidia ./image"), std::string::npos);
  image.accelerators = {"amd:gfx90a"};
  EXPECT_NE(command_of(image, "Apptainer").find("--rocm"), std::string::npos);
  EXPECT_NE(command_of(image, "Podman").find("--device /dev/kfd"), std::string::npos);
}

TEST(RunCommands, OfAnImageInNoRegistryAreForItsStateFolder) {
  ImageRecord image = sample_image(0);
  image.published = {};
  EXPECT_EQ(run_commands(image).notes.size(), 1u);
  for (const RunCommand& command : run_commands(image).commands) {
    EXPECT_NE(command.text.find("oci:.kiln/" + image.layout + ":" + image.tag), std::string::npos)
        << command.text;
    EXPECT_EQ(command.text.find("registry.site"), std::string::npos) << command.text;
  }
}

TEST(RunCommands, ASifOfTheStateFolderIsRunAsItIs) {
  ImageRecord image = sample_image(0);
  image.published = {};
  image.attachments = {{"sif", {}, {}}};
  EXPECT_TRUE(command_of(image, "Apptainer")
                  .starts_with("apptainer exec .kiln/sif/pytorch_2.0.0-pip-x86_64_v3-trixie.sif "));
}

TEST(RunCommands, OfAMappingPullItsReference) {
  EXPECT_EQ(command_of(sample_mapping("m", "docker://ethcscs/mpich:3.1").image, "Slurm with pyxis"),
            "srun --container-image=ethcscs/mpich:3.1 cat /etc/os-release");
  const RunCommands hub = run_commands(sample_mapping("s", "shub://a/b").image);
  ASSERT_EQ(hub.commands.size(), 1u);
  EXPECT_EQ(hub.commands[0].text,
            "apptainer pull image.sif shub://a/b\napptainer exec image.sif cat /etc/os-release");
}

TEST(RunCommands, ThereAreNoneForATrick) {
  for (const char* reference : {"docker://a;rm -rf ~", "docker://$(id)", "docker://-v/:/x", "docker://", "x",
                                "a b://c", "docker://a\nid", "docker://\u202Ea"}) {
    const RunCommands run = run_commands(sample_mapping("m", reference).image);
    EXPECT_TRUE(run.commands.empty()) << reference;
    EXPECT_EQ(run.notes.size(), 1u);
  }
}

}  // namespace
}  // namespace kiln
