// The texts of a module's files. tests/engines/module_test.sh has the programs read them for which they are.
#include "registry/modules/module_files.h"

#include <algorithm>

#include "modules/module_samples.h"

namespace kiln {
namespace {

using namespace testing;

std::vector<std::string> paths_of(const ModuleFiles& made) {
  std::vector<std::string> paths;
  for (const ModuleFile& file : made.files) paths.push_back(file.path);
  return paths;
}

TEST(ModuleFilesTest, AFolderHasAFileForEachProgramThatReadsIt) {
  const ModuleFiles made = module_files({published_module()}, {});
  EXPECT_EQ(paths_of(made), (std::vector<std::string>{
                                "bin/pytorch/2.6.0-distro-zen3-trixie/python",
                                "bin/pytorch/2.6.0-distro-zen3-trixie/python3",
                                "bin/pytorch/2.6.0-distro-zen3-trixie/pytorch-exec",
                                "edf/pytorch-2.6.0-distro-zen3-trixie.toml",
                                "lmod/pytorch/2.6.0-distro-zen3-trixie.lua",
                                "reframe/pytorch_2_6_0_distro_zen3_trixie.py",
                                "shpc/r.site/5000/ai/pytorch/container.yaml",
                                "tcl/pytorch/2.6.0-distro-zen3-trixie",
                            }));
  for (const ModuleFile& file : made.files) EXPECT_EQ(file.executable, file.path.starts_with("bin/"));
  EXPECT_TRUE(made.notes.empty());
}

TEST(ModuleFilesTest, AWrapperRunsTheProgramInTheImage) {
  const ModuleFiles made = module_files({published_module()}, {ContainerRuntime::apptainer, {"/scratch"}});
  EXPECT_EQ(file_of(made, "bin/pytorch/2.6.0-distro-zen3-trixie/python"), R"sh(#!/bin/bash
# Made by kiln module, for pytorch:2.6.0-distro-zen3-trixie
set -eu
image='/srv/kiln/sif/pytorch_2.6.0-distro-zen3-trixie.sif'
if [ ! -r "${image}" ]; then
  printf '%s\n' "there is no file ${image}; is the state folder of kiln on this node?" >&2
  exit 1
fi
container=(apptainer exec --bind /scratch "${image}")
export APPTAINERENV_TMPDIR=/tmp
exec "${container[@]}" python3 "$@"
)sh");
  const std::string any = file_of(made, "bin/pytorch/2.6.0-distro-zen3-trixie/pytorch-exec");
  EXPECT_TRUE(has_text(any, "usage: pytorch-exec PROGRAM [ARGUMENT...]"));
  EXPECT_TRUE(any.ends_with("exec \"${container[@]}\" \"$@\"\n"));
}

TEST(ModuleFilesTest, ModulefilesPutTheWrappersIntoPath) {
  const ModuleFiles made = module_files({published_module()}, {});
  const std::string lua = file_of(made, "lmod/pytorch/2.6.0-distro-zen3-trixie.lua");
  EXPECT_TRUE(has_text(lua, "whatis(\"Description: pytorch 2.6.0 (distro)\")\n"));
  EXPECT_TRUE(has_text(lua, "prepend_path(\"PATH\", root .. \"/bin/pytorch/2.6.0-distro-zen3-trixie\")\n"));
  EXPECT_TRUE(has_text(lua, "python python3 pytorch-exec"));
  const std::string tcl = file_of(made, "tcl/pytorch/2.6.0-distro-zen3-trixie");
  EXPECT_TRUE(tcl.starts_with("#%Module1.0\n"));
  EXPECT_TRUE(has_text(tcl, "conflict \"pytorch\"\n"));
  EXPECT_TRUE(
      has_text(tcl, "prepend-path PATH [file join $root bin \"pytorch\" \"2.6.0-distro-zen3-trixie\"]\n"));
}

TEST(ModuleFilesTest, AnEntryOfShpcHasAllTagsOfARepository) {
  ModuleImage older = published_module();
  older.version = "2.5.1-distro-zen3-trixie";
  older.digest = "sha256:" + std::string(64, 'b');
  ModuleImage gpu = published_module();
  gpu.image.gpu_vendor = "nvidia";
  const ModuleFiles made = module_files({gpu, older}, {});
  EXPECT_EQ(
      file_of(made, "shpc/r.site/5000/ai/pytorch/container.yaml"),
      "# Made by kiln module.\ndocker: \"r.site:5000/ai/pytorch\"\nurl: \"https://pytorch.org\"\n"
      "maintainer: \"kiln\"\ndescription: \"Tensors and networks\"\nlatest:\n"
      "  \"2.6.0-distro-zen3-trixie\": \"" +
          gpu.digest + "\"\ntags:\n  \"2.6.0-distro-zen3-trixie\": \"" + gpu.digest +
          "\"\n  \"2.5.1-distro-zen3-trixie\": \"" + older.digest +
          "\"\nfeatures:\n  gpu: true\naliases:\n  \"python3\": \"python3\"\n  \"python\": \"python3\"\n");
}

TEST(ModuleFilesTest, ImagesOfTwoRepositoriesHaveTwoEntriesOfShpc) {
  ModuleImage other = published_module();
  other.version = "2.5.1";
  other.pinned = "ghcr.io/team/pytorch:2.5.1";
  const ModuleFiles made = module_files({published_module(), other}, {});
  EXPECT_TRUE(
      has_text(file_of(made, "shpc/r.site/5000/ai/pytorch/container.yaml"), "r.site:5000/ai/pytorch"));
  EXPECT_TRUE(has_text(file_of(made, "shpc/ghcr.io/team/pytorch/container.yaml"), "ghcr.io/team/pytorch"));
}

TEST(ModuleFilesTest, AnEnvironmentDefinitionNamesATagThatStays) {
  const ModuleFiles made = module_files({published_module()}, {ContainerRuntime::apptainer, {"/a$b", "/c"}});
  EXPECT_EQ(file_of(made, "edf/pytorch-2.6.0-distro-zen3-trixie.toml"),
            "# Made by kiln module, for pytorch:2.6.0-distro-zen3-trixie\n"
            "image = \"r.site:5000#ai/pytorch:2.6.0-distro-zen3-trixie-0123456789ab\"\n"
            "mounts = [\"/a$$b:/a$$b\", \"/c:/c\"]\n");
  ModuleImage hub = published_module();
  hub.pinned = "modakopt/modak:tensorflow-2.1";
  EXPECT_TRUE(has_text(file_of(module_files({hub}, {}), "edf/pytorch-2.6.0-distro-zen3-trixie.toml"),
                       "image = \"modakopt/modak:tensorflow-2.1\"\n"));
}

TEST(ModuleFilesTest, AnImageInNoRegistryHasNoFilesForThoseWhoPull) {
  ModuleImage local = published_module();
  local.pinned = local.digest = local.image.reference = "";
  const ModuleFiles made = module_files({local}, {});
  for (const ModuleFile& file : made.files)
    EXPECT_FALSE(file.path.starts_with("shpc/") || file.path.starts_with("edf/")) << file.path;
  EXPECT_EQ(made.notes.size(), 2u);
}

TEST(ModuleFilesTest, TestsOfReFrameRunTheWrappers) {
  const auto tests_of = [](const ModuleImage& module) {
    return file_of(module_files({module}, {}), "reframe/pytorch_2_6_0_distro_zen3_trixie.py");
  };
  const std::string text = tests_of(published_module());
  EXPECT_TRUE(has_text(text, "class pytorch_2_6_0_distro_zen3_trixie_programs(rfm.RunOnlyRegressionTest):"));
  EXPECT_TRUE(has_text(text, "program = parameter([\"python3\"])"));
  EXPECT_TRUE(has_text(text, "shlex.quote(\"import torch; print(torch.__version__)\")"));
  ModuleImage plain = published_module();
  plain.programs.clear();
  EXPECT_FALSE(has_text(tests_of(plain), "_version("));
  EXPECT_TRUE(has_text(tests_of(plain), "parameter([\"sh\"])"));
}

TEST(ModuleFilesTest, RuntimesWithoutWrappersAreRefused) {
  for (const ContainerRuntime runtime : {ContainerRuntime::enroot, ContainerRuntime::podman})
    EXPECT_THROW(module_files({published_module()}, {runtime, {}}), Error);
  for (const ContainerRuntime runtime :
       {ContainerRuntime::charliecloud, ContainerRuntime::sarus, ContainerRuntime::shifter})
    EXPECT_NO_THROW(module_files({published_module()}, {runtime, {}}));
}

TEST(ModuleFilesTest, TwoProgramsOfOneNameAreRefused) {
  ModuleImage module = published_module();
  module.programs = {{"solver", "/opt/a/solver"}, {"solver", "/opt/b/solver"}};
  EXPECT_THROW(module_files({module}, {}), Error);
  module.programs = {{"pytorch-exec", "pytorch-exec"}};
  EXPECT_THROW(module_files({module}, {}), Error);
}

TEST(ModuleFilesTest, HostileTextStaysOneValue) {
  const std::string text = "\"]] .. os.execute('id') --[[ $[exec id] {${HOME}} \\\" '''`id` #";
  ModuleImage hostile = published_module();
  hostile.title = hostile.description = hostile.homepage = hostile.image.name = text;
  hostile.image.sif = "/srv/a'b\"$(id)`id` [exec id].sif";
  const ModuleImage plain = published_module();
  const ModuleFiles made = module_files({hostile}, {}), reference = module_files({plain}, {});
  ASSERT_EQ(made.files.size(), reference.files.size());
  for (std::size_t i = 0; i < made.files.size(); ++i) {
    const auto lines = [](const std::string& bytes) { return std::count(bytes.begin(), bytes.end(), '\n'); };
    EXPECT_EQ(lines(made.files[i].bytes), lines(reference.files[i].bytes)) << made.files[i].path;
  }
  EXPECT_TRUE(has_text(file_of(made, "lmod/pytorch/2.6.0-distro-zen3-trixie.lua"),
                       R"(os.execute('id') --[[ $[exec id] {${HOME}} \\\" )"));
  EXPECT_TRUE(has_text(file_of(made, "bin/pytorch/2.6.0-distro-zen3-trixie/python3"),
                       R"(image='/srv/a'\''b"$(id)`id` [exec id].sif')"));
}

TEST(ModuleFilesTest, EqualImagesGiveEqualBytes) {
  const ModuleFiles one = module_files({published_module()}, {}),
                    other = module_files({published_module()}, {});
  for (std::size_t i = 0; i < one.files.size(); ++i) EXPECT_EQ(one.files[i].bytes, other.files[i].bytes);
}

}  // namespace
}  // namespace kiln
