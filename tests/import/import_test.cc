#include "factory/import/import.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "import/import_fixture.h"
#include "support/input_errors.h"
#include "support/locked_folder.h"
#include "support/temporary_folder.h"

namespace kiln::testing {
namespace {

class LegacyTreeTest : public ::testing::Test {
 protected:
  static const Import& import() {
    static const Import kImport = import_folder(RealFileSystem(), std::string(KILN_TEST_DATA) + "/legacy",
                                                with_compilers(), archspec());
    return kImport;
  }
};

TEST_F(LegacyTreeTest, EveryFileIsAnImageATwinOrANote) {
  std::size_t files = 0;
  for (const ImportedImage& image : import().images) files += image.files.size();
  EXPECT_EQ(import().images.size(), 24u);
  EXPECT_EQ(files, 39u);  // and llvm-base.def, a part of others, and old-cluster.def
  EXPECT_NE(std::find(import().notes.begin(), import().notes.end(),
                      ImportNote{"old-cluster.def", 1, "not-imported",
                                 "kiln starts from images of registries only, not from 'Bootstrap: yum'; "
                                 "say which image "
                                 "of a registry takes its place: --base yum=REGISTRY/IMAGE:TAG"}),
            import().notes.end());
}

// KILN_UPDATE_GOLDEN=1 writes it anew: read the difference.
TEST_F(LegacyTreeTest, ReportIsTheGoldenOne) {
  std::string report;
  for (const ImportNote& note : import().notes) report += format(note) + "\n";
  for (const ImportDifference& one : import().differences) report += format(one) + "\n";
  expect_golden(report, std::string(KILN_TEST_DATA) + "/golden/import.txt");
  expect_golden(import().files.at(import().matrix), std::string(KILN_TEST_DATA) + "/golden/imported.json");
}

TEST_F(LegacyTreeTest, FindsEveryPlantedDrift) {
  for (const char* drift :
       {"pytorch/pytorch-1.4-gpu-pip.Dockerfile:5: differs: pip torch: ==1.4.0 / "
        "pytorch/pytorch-1.4-gpu-pip.def:8: ==1.5.0",
        "tensorflow/tf-2.1-cpu-pip.Dockerfile:1: differs: base: ubuntu:18.04 / "
        "tensorflow/tf-2.1-cpu-pip.def:2: ubuntu:20.04",
        "tensorflow/tf-1.14-cpu-pip.Dockerfile:9: differs: pip keras: ==2.2.5 / "
        "tensorflow/tf-1.14-cpu-pip.def: not there",
        "tensorflow/tf-2.1-gpu-src.Dockerfile:8: differs: setting TF_CUDA_COMPUTE_CAPABILITIES: 6.1 / "
        "tensorflow/tf-2.1-gpu-src.def:12: 7.0",
        "pytorch/pytorch-1.4-cpu-src.Dockerfile:12: differs: environment LD_LIBRARY_PATH: /usr/local/lib / "
        "pytorch/pytorch-1.4-cpu-src.def: not there"}) {
    Words all = lines(import());
    EXPECT_NE(std::find(all.begin(), all.end(), drift), all.end()) << drift;
  }
}

TEST_F(LegacyTreeTest, ScriptsAreWhatAShellCanRead) {
  RealCommandRunner runner;
  TemporaryFolder folder;
  int checked = 0;
  for (const auto& [path, bytes] : import().files) {
    if (!path.ends_with(".sh")) continue;
    Command command;
    command.argv = {"/bin/sh", "-n", folder.write("script.sh", bytes)};
    CommandResult result = runner.run(command);
    EXPECT_TRUE(result.ok()) << path << ": " << result.tail;
    ++checked;
  }
  EXPECT_GT(checked, 20);
}

TEST(Import, NamesAFrameworkItsVersionAndItsMethod) {
  Import import = import_files(
      {{"tf-2.1-cpu-pip.Dockerfile", "FROM ubuntu:18.04\nRUN pip3 install tensorflow==2.1.4\n"},
       {"x/Dockerfile", "FROM pytorch/pytorch:1.4-cuda10.1-cudnn7-devel\n"},
       {"hpl.def",
        "Bootstrap: docker\nFrom: centos:7\n%post\n  git clone -b v2.3 https://x/hpl.git\n  make -j4\n"}});
  ASSERT_EQ(import.images.size(), 3u);
  EXPECT_EQ(import.images[0].axes, (AxisValues{{"framework", "hpl"},
                                               {"version", "2.3"},
                                               {"method", "source"},
                                               {"base", "centos@7"},
                                               {"target", "x86_64"}}));
  EXPECT_EQ(import.images[1].axes, (AxisValues{{"framework", "tensorflow"},
                                               {"version", "2.1.4"},
                                               {"method", "pip"},
                                               {"base", "ubuntu@18.04"},
                                               {"target", "x86_64"}}));
  EXPECT_EQ(import.images[2].axes, (AxisValues{{"framework", "pytorch"},
                                               {"version", "1.4"},
                                               {"method", "hub"},
                                               {"base", "pytorch@1.4-cuda10.1-cudnn7-devel"},
                                               {"target", "x86_64,nvidia:sm_70"}}));
}

TEST(Import, SaysWhatItLeavesOut) {
  Import import = import_files({{"f/Dockerfile",
                                 "FROM a/f\nUSER me\nEXPOSE 1\nVOLUME /v\nONBUILD RUN x\nSTOPSIGNAL 9\nLABEL "
                                 "a=b\nMAINTAINER m\nENTRYPOINT [\"a\"]\nCMD b\n"
                                 "RUN --network=none true\nADD http://x/y /z\nCOPY --chown=1 nothing "
                                 "/a\nCOPY --from=other:1 /a /b\nRUN export A=1\nENV P=$Q\n"}});
  EXPECT_EQ(rules(import),
            Words({"f/Dockerfile:0 no-test", "f/Dockerfile:0 version", "f/Dockerfile:1 floating-base",
                   "f/Dockerfile:2 user", "f/Dockerfile:3 expose", "f/Dockerfile:4 volume",
                   "f/Dockerfile:5 onbuild", "f/Dockerfile:6 stopsignal", "f/Dockerfile:7 label",
                   "f/Dockerfile:8 label", "f/Dockerfile:9 command", "f/Dockerfile:10 command",
                   "f/Dockerfile:11 run-flag", "f/Dockerfile:12 no-checksum", "f/Dockerfile:13 local-file",
                   "f/Dockerfile:13 owner", "f/Dockerfile:14 copy-from", "f/Dockerfile:15 lost-state",
                   "f/Dockerfile:16 unset-variable"}));
}

TEST(Import, ABuildStageStaysOne) {
  Import import = import_files(
      {{"x-1.0.Dockerfile",
        "FROM debian:12 AS b\nRUN make\nFROM debian:12\nCOPY --from=b /usr/src/out /opt/x\nRUN ldconfig\n"
        "HEALTHCHECK CMD x --version\n"}});
  Json json = recipe(import, "framework/x");
  EXPECT_EQ(json["methods"]["hub"]["build"]["copy"], Json({"/opt/x"}));
  const std::string& build = import.files.at("recipes/framework/x/build-x-1.0.sh");
  EXPECT_NE(build.find("make"), std::string::npos);
  EXPECT_NE(build.find("cp -a /usr/src/out /opt/x"), std::string::npos) << build;
  EXPECT_EQ(import.files.at("recipes/framework/x/x-1.0.sh").find("make"), std::string::npos);
  EXPECT_EQ(import.files.at("recipes/framework/x/test.sh"), "x --version\n");
}

// A stage sees nothing of the environment of the one that copies from it, and runs once for two copies.
TEST(Import, ABuildStageRunsOnce) {
  Import import = import_files({{"x-1.0.Dockerfile",
                                 "ARG V=9\nFROM debian:12 AS b\nARG V\nENV P=/b:$PATH\nRUN make one\nFROM "
                                 "debian:12\nCOPY --from=b /opt/x "
                                 "/opt/x\nENV P=/i PATH=/opt/x/bin:$PATH\nCOPY --from=b /opt/y /opt/y\n"}});
  const std::string& build = import.files.at("recipes/framework/x/build-x-1.0.sh");
  EXPECT_EQ(build.find("make one"), build.rfind("make one")) << build;
  EXPECT_EQ(build.find("/opt/x/bin"), std::string::npos) << build;
  EXPECT_NE(build.find("export V=9"), std::string::npos) << build;
}

// A recipe may not say it: one such file kept all others from being imported.
TEST(Import, FlagsForTheBuildingMachineAreLeftOutOfTheEnvironment) {
  Import import =
      import_files({{"x-1.0.Dockerfile",
                     "FROM debian:12\nENV CFLAGS='-O2 -mtune=native' TORCH_CUDA_ARCH_LIST=native A='{PATH} "
                     "{foo}' B='{{x}}' PATH=/x:$PATH KILN_VERSION=3\nRUN make\n"}});
  Json environment = recipe(import, "framework/x")["methods"]["hub"]["environment"];
  EXPECT_FALSE(environment.contains("CFLAGS"));
  EXPECT_FALSE(environment.contains("TORCH_CUDA_ARCH_LIST"));
  EXPECT_TRUE(environment.contains("A"));
  EXPECT_NE(import.files.at("recipes/framework/x/x-1.0.sh").find("-mtune=native"), std::string::npos)
      << "it is built as it was";
  EXPECT_EQ(remarks_of(import, "march-native").size(), 2u);
}

// What nvidia/cuda's devel builds is copied to an image on runtime; what golang builds is for another one
// altogether.
TEST(Import, ABuildStageOfAnotherBase) {
  auto import = [](const std::string& build, const std::string& base, const std::string& more = "") {
    return import_files({{"x-1.0.Dockerfile", "FROM " + build + " AS b\nRUN make -j4\nFROM " + base +
                                                  "\nCOPY --from=b /opt/x /opt/x\n"},
                         {"x-1.0.def", "Bootstrap: docker\nFrom: " + build +
                                           "\nStage: b\n%post\n make -j4\n\nBootstrap: docker\nFrom: " +
                                           base + "\nStage: x\n%files from b\n /opt/x /opt/x\n"},
                         {"y-1.0.Dockerfile", "FROM " + base + more + "\n"}});
  };
  Import cuda = import("nvidia/cuda:11.0-devel", "nvidia/cuda:11.0-base");
  EXPECT_EQ(cuda.images.at(0).axes.at("base"), "cuda@11.0-base");
  EXPECT_EQ(recipe(cuda, "base/cuda")["versions"],
            Json({{"11.0-base", {{"build_on", "11.0-devel"}}}, {"11.0-devel", Json::object()}}));
  EXPECT_EQ(lines(cuda), Words());
  EXPECT_EQ(remarks_of(cuda, "build-base"), Words());
  // One base cannot be built upon two versions: what devel builds runs on devel.
  Import two = import("nvidia/cuda:11.0-devel", "nvidia/cuda:11.0-base",
                      " AS b\nRUN make -j4\nFROM nvidia/cuda:11.0-base\nCOPY --from=b /opt/y /opt/y");
  EXPECT_EQ(two.images.at(0).axes.at("base"), "cuda@11.0-devel");
  EXPECT_EQ(remarks_of(two, "build-base"),
            Words({"x-1.0.Dockerfile:1: the build stage starts from nvidia/cuda:11.0-devel, the image from "
                   "nvidia/cuda:11.0-base: both get the build stage's"}));
  Import other = import("golang:1.20", "alpine:3");
  EXPECT_EQ(other.images.at(0).axes.at("base"), "alpine@3");
  EXPECT_EQ(remarks_of(other, "build-base").size(), 1u);
  Import port = import("local:5000/a:devel", "local:5000/b:1");
  EXPECT_EQ(port.images.at(0).axes.at("base"), "b@1") << "a port is no tag";
}

// The environment goes where it belongs: to the framework, to the base, and what is left to a library of its
// own.
TEST(Import, EnvironmentIsSharedByWhatSetsIt) {
  auto file = [](const std::string& base, const std::string& more) {
    return "FROM " + base + "\nRUN pip install tensorflow==2.1\nENV ALL=1\n" + more;
  };
  Import import = import_files(
      {{"tf-cpu.Dockerfile", file("ubuntu:18.04", "")},
       {"tf-gpu.Dockerfile", file("nvidia/cuda:10.1", "ENV CUDA_HOME=/usr/local/cuda\n")},
       {"tf-gpu-trt.Dockerfile", file("nvidia/cuda:10.1", "ENV CUDA_HOME=/usr/local/cuda TRT=1\n")},
       {"torch-gpu.Dockerfile",
        "FROM nvidia/cuda:10.1\nRUN pip install torch==1.4\nENV CUDA_HOME=/usr/local/cuda MORE=1\n"},
       {"torch-cpu.Dockerfile", "FROM ubuntu:18.04\nRUN pip install torch==1.4\n"}});
  EXPECT_EQ(recipe(import, "framework/tensorflow")["methods"]["pip"]["environment"], Json({{"ALL", "1"}}));
  EXPECT_EQ(recipe(import, "base/cuda")["methods"]["hub"]["environment"],
            Json({{"CUDA_HOME", "/usr/local/cuda"}}));
  EXPECT_EQ(recipe(import, "compiler/tensorrt")["methods"]["pip"]["environment"], Json({{"TRT", "1"}}));
  EXPECT_EQ(recipe(import, "library/env-more")["methods"]["distro"]["environment"], Json({{"MORE", "1"}}));
}

TEST(Import, TwoFilesOfOneCellStayTwo) {
  Import import = import_files(
      {{"a/tf-2.1-pip.Dockerfile", "FROM ubuntu:18.04\nRUN pip install tensorflow==2.1\n"},
       {"b/tf-2.1-pip-mine.Dockerfile", "FROM ubuntu:18.04\nRUN pip install tensorflow==2.1 x==1\n"}});
  ASSERT_EQ(import.images.size(), 2u);
  EXPECT_EQ(import.images[0].axes.at("framework"), "tensorflow");
  EXPECT_EQ(import.images[1].axes.at("framework"), "tf-2.1-pip-mine");
}

TEST(Import, TwinsAreFoundAcrossFolders) {
  Import import = import_files(
      {{"docker/Dockerfile.tf-2.1", "FROM ubuntu:18.04\nRUN pip install tensorflow==2.1\n"},
       {"singularity/Singularity.tf-2.1",
        "Bootstrap: docker\nFrom: docker.io/library/ubuntu:18.04\n%post\n pip install tensorflow==2.1\n"}});
  ASSERT_EQ(import.images.size(), 1u);
  EXPECT_EQ(import.images[0].files.size(), 2u);
  EXPECT_EQ(lines(import), Words());
}

TEST(Import, WhatCannotBeReadIsANoteAndTheRestGoesOn) {
  Import import = import_files({{"bad.Dockerfile", "FROM x\nRNU y\n"},
                                {"latin.def", "Bootstrap: docker\nFrom: x:1\n# \xe9\n"},
                                {"scratch.Dockerfile", "FROM scratch\n"},
                                {"good.Dockerfile", "FROM x:1\r\nRUN a \\\r\n  b\r\n"}});
  EXPECT_EQ(import.images.size(), 1u);
  Words all = rules(import);
  for (const char* rule :
       {"bad.Dockerfile:2 not-imported", "latin.def:0 not-imported", "scratch.Dockerfile:1 not-imported"})
    EXPECT_NE(std::find(all.begin(), all.end(), rule), all.end()) << rule;
}

TEST(Import, NothingToImport) {
  EXPECT_EQ(input_error([] {
              import_files({{"README", "x"}});
            }),
            "error: no Dockerfile and no definition file below old; files are called Dockerfile*, "
            "*.dockerfile, Singularity* or *.def");
  EXPECT_EQ(input_error([] {
              import_files({{"Dockerfile", "RUN x"}});
            }),
            "error: none of the 1 files below old could be imported; Dockerfile:1: RUN stands above the "
            "first FROM; only ARG may "
            "[not-imported]");
  EXPECT_NE(input_error([] {
              import_files({{"Dockerfile", "FROM x:1\n"}}, {"m", "x86_46", "nvidia:sm_70"});
            }).find("x86_46"),
            std::string::npos);
}

// The translated script does what the Dockerfile did: run for real, in a folder of its own.
TEST(Import, ATranslatedScriptDoesWhatTheDockerfileDid) {
  TemporaryFolder root;
  const std::string to = (root / "image").string();
  Import import = import_files(
      {{"x-1.Dockerfile",
        "FROM debian:12\nARG NAME=world\nENV GREETING=\"hello $NAME\" QUOTED='a \"b\" $NAME'\nWORKDIR " + to +
            "/srv\n" +
            "RUN echo \"$GREETING\" >greeting && \\\n    # a comment\n    echo more >>greeting\nRUN cd / && "
            "export LOST=1\n"
            "RUN echo \"lost: ${LOST:-}\" >lost; false; pwd >where\nRUN [\"sh\", \"-c\", \"echo "
            "\\\"$QUOTED\\\" >quoted\"]\n"
            "RUN <<END\nset -e\nprintf '%s' 'a heredoc' >heredoc\nEND\nCOPY data.txt folder " +
            to +
            "/data/\n"
            "COPY <<\"END\" " +
            to + "/inline\nas $it is\nEND\nSHELL [\"/bin/sh\", \"-ec\"]\nRUN echo shell >shell\n"},
       {"data.txt", "the data"},
       {"folder/inner", "inner"}});
  for (const auto& [path, bytes] : import.files) root.write(path, bytes);
  Command command;
  command.argv = {"/bin/sh", "-eu", "x-1.sh"};
  command.folder = root / "recipes/framework/x";
  command.environment = {{"PATH", "/usr/bin:/bin"}};
  CommandResult result = RealCommandRunner().run(command);
  ASSERT_TRUE(result.ok()) << result.tail << import.files.at("recipes/framework/x/x-1.sh");
  EXPECT_EQ(root.read("image/srv/greeting"), "hello world\nmore\n");
  EXPECT_EQ(root.read("image/srv/lost"), "lost: \n");
  EXPECT_EQ(root.read("image/srv/where"), to + "/srv\n");
  EXPECT_EQ(root.read("image/srv/quoted"), "a \"b\" $NAME\n");
  EXPECT_EQ(root.read("image/srv/heredoc"), "a heredoc");
  EXPECT_EQ(root.read("image/data/data.txt"), "the data");
  EXPECT_EQ(root.read("image/data/inner"), "inner");
  EXPECT_EQ(root.read("image/inline"), "as $it is\n");
  EXPECT_EQ(root.read("image/srv/shell"), "shell\n");
}

TEST(Import, Json) {
  Import import = import_files({{"x-1.Dockerfile", "FROM debian:12\nUSER me\n"}});
  Json json = to_json(import);
  EXPECT_EQ(json["matrix"], "matrix/imported.json");
  EXPECT_EQ(json["images"][0]["files"], Json({"x-1.Dockerfile"}));
  ASSERT_EQ(json["left_out"].size(), 3u);
  EXPECT_EQ(json["left_out"][2]["line"], 2);
  EXPECT_EQ(json["left_out"][2]["rule"], "user");
  EXPECT_TRUE(json["differences"].empty());
}

TEST(Import, OnlyWhatReadsTheTargetsFlagsIsOptimised) {
  const std::string gpu = "FROM nvidia/cuda:12.4.1-devel-ubuntu22.04\n";
  const Import import =
      import_files({{"a-src-1.0.Dockerfile", "FROM debian:12\nRUN make CFLAGS=\"$CFLAGS\"\n"},
                    {"b-src-1.0-gpu.Dockerfile", gpu + "RUN make ARCHS=\"$KILN_CUDA_ARCHS\"\n"},
                    {"c-src-1.0-gpu.Dockerfile",
                     gpu + "ENV TORCH_CUDA_ARCH_LIST=8.0\nRUN make A=\"$TORCH_CUDA_ARCH_LIST\"\n"},
                    {"d-src-1.0.Dockerfile", "FROM debian:12\nRUN make -j8\n"}});
  const Json b = recipe(import, "framework/b")["methods"]["source"];
  EXPECT_EQ(b["optimised"], true);
  EXPECT_EQ(b["parameters"], Json({"KILN_CUDA_ARCHS"}));
  for (const char* name : {"framework/a", "framework/c", "framework/d"})
    EXPECT_FALSE(recipe(import, name)["methods"]["source"].contains("optimised")) << name;
  EXPECT_EQ(remarks_of(import, "target-flags"), Words{"a-src-1.0.Dockerfile:0: a script reads $CFLAGS, which "
                                                      "kiln sets only where a recipe names the compiler"});
}

TEST(Import, ParametersAreThoseThatAScriptReads) {
  const Import import = import_files({{"a-pip-1.0.Dockerfile", "FROM debian:12\nENV A=1\n"},
                                      {"a-pip-2.0.Dockerfile", "FROM debian:12\nENV A=2\n"}});
  EXPECT_FALSE(recipe(import, "framework/a")["methods"]["pip"].contains("parameters"));
}

TEST(Import, ARequirementsFilePins) {
  const Import import =
      import_files({{"vllm/Dockerfile",
                     "FROM python:3.12\nCOPY requirements.txt /r/\nRUN pip install -r /r/requirements.txt\n"},
                    {"vllm/requirements.txt", "vllm==0.8.5\n"}});
  ASSERT_EQ(import.images.size(), 1u);
  EXPECT_EQ(import.images[0].axes.at("version"), "0.8.5");
}

TEST(Import, AFolderThatCannotBeReadIsANote) {
  const LockedFolder disk(
      {{"old/x.Dockerfile", "FROM debian:12\n"}, {"old/locked/y.Dockerfile", "FROM a:1\n"}});
  const Import import = import_folder(disk, "old", with_compilers(), archspec());
  EXPECT_EQ(images(import), Words{"x.Dockerfile"});
  EXPECT_EQ(remarks_of(import, "not-imported"), Words{"locked:0: cannot list old/locked: Permission denied"});
}

}  // namespace
}  // namespace kiln::testing
