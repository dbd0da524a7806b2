// What a legacy file is an image of: its packages, clones, base and name, in this order of trust.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <functional>

#include "factory/import/legacy_names.h"
#include "support/plan_fixture.h"

namespace kiln::testing {
namespace {

TEST(LegacyNames, StemsAreWithoutWhatSaysTheFormat) {
  EXPECT_EQ(stem_of("a/TF-2.1-cpu.def"), "tf-2.1-cpu");
  EXPECT_EQ(stem_of("x.Dockerfile"), "x");
  EXPECT_EQ(stem_of("x.containerfile"), "x");
  EXPECT_EQ(stem_of("Dockerfile.gpu"), "gpu");
  EXPECT_EQ(stem_of("Singularity_gpu"), "gpu");
  EXPECT_EQ(stem_of("Tool/Apptainer"), "tool");
  EXPECT_EQ(stem_of("Tool/Singularity.def"), "tool");
  EXPECT_EQ(stem_of("Tool/docker/Dockerfile"), "tool");
  EXPECT_EQ(stem_of("Singularity.tf-2.1.def"), "tf-2.1");
  EXPECT_EQ(stem_of("apptainer.gpu.def"), "gpu");
  EXPECT_EQ(stem_of("singularity.dockerfile"), "singularity") << "an image of Singularity itself";
  EXPECT_EQ(stem_of("docker/Dockerfile"), "");
  EXPECT_EQ(stem_of("a/b.txt"), "b.txt");
}

TEST(LegacyNames, TwinsHaveTheSameKey) {
  EXPECT_EQ(twin_key_of("a/docker/tf.Dockerfile"), "a/tf");
  EXPECT_EQ(twin_key_of("a/Singularity/tf.def"), "a/tf");
  EXPECT_EQ(twin_key_of("A/definitions/b/tf.def"), "A/b/tf");
  EXPECT_EQ(twin_key_of("a/other/tf.def"), "a/other/tf");
  EXPECT_EQ(twin_key_of("tf.def"), "tf");
}

TEST(LegacyNames, OfComponentsAreSafe) {
  EXPECT_EQ(component_name("My Tool_1.x"), "mytool_1.x");
  EXPECT_EQ(component_name("--a"), "a");
  EXPECT_EQ(component_name("a...b"), "a.b");
  EXPECT_EQ(component_name("???"), "image");
  EXPECT_EQ(component_name("none"), "image-none");
  EXPECT_EQ(component_name("framework"), "image-framework") << "a kind";
  EXPECT_EQ(component_name(std::string(200, 'a')).size(), 100u);
}

// "framework version method compiler target", and the rules of the notes behind "|".
std::string cell(LegacyImage image) {
  ImportOptions options;
  options.compilers = {"xla", "tensorrt"};
  const LegacyCell found = cell_of(image, options, archspec());
  std::string out = fmt::format("{} {} {} {} {}", found.framework, found.version, found.method,
                                found.compiler, found.target());
  for (const ImportNote& note : image.notes) out += fmt::format(" | {}:{}", note.line, note.rule);
  return out;
}

LegacyImage image(const std::string& stem, const std::string& base = "debian:12") {
  LegacyImage one;
  one.stem = stem;
  one.base = {base, 1};
  one.body = "ls\n";
  return one;
}

TEST(LegacyCells, PackagesSayMoreThanTheName) {
  LegacyImage one = image("tf-1.0-cpu");
  one.facts.pip = {{"six", {"==9", 2}}, {"tensorflow", {"==1.0.4", 3}}};
  EXPECT_EQ(cell(one), "tensorflow 1.0.4 pip  x86_64");
  one.facts.pip["tensorflow"].value = "==2.0";
  EXPECT_EQ(cell(one), "tensorflow 2.0 pip  x86_64 | 3:version") << "the name says 1.0";
  one.facts.pip["tensorflow"].value = ">=2.0";
  EXPECT_EQ(cell(one), "tensorflow 1.0 pip  x86_64") << "no version: the name's";
  one.facts.pip["tensorflow"].value = "==1.0.4+cpu";
  EXPECT_EQ(cell(one), "tensorflow 1.0.4 pip  x86_64");
}

TEST(LegacyCells, CondaClonesAndBasesCountAsWell) {
  LegacyImage conda = image("x");
  conda.facts.conda = {{"pytorch", {"1.4", 2}}};
  EXPECT_EQ(cell(conda), "pytorch 1.4 vendor  x86_64");
  LegacyImage clone = image("x");
  clone.facts.clones = {{"https://x.org/incubator-mxnet.git", {"v1.6.x", 2}}};
  EXPECT_EQ(cell(clone), "mxnet 1.6 source  x86_64");
  EXPECT_EQ(cell(image("x", "tensorflow/tensorflow:2.1.0-py3")), "tensorflow 2.1.0 hub  x86_64");
  EXPECT_EQ(cell(image("x", "nvcr.io/pytorch/build@sha256:aa")), "pytorch 0 hub  x86_64 | 0:version");
  LegacyImage named = image("pytorch-1.2");
  named.facts.pip = {{"tensorflow", {"==2.1", 2}}};
  EXPECT_EQ(cell(named), "pytorch 1.2 pip  x86_64") << "the name's framework, not the package's version";
}

TEST(LegacyCells, HaveAMethod) {
  EXPECT_EQ(cell(image("jax-1.0-src")), "jax 1.0 source  x86_64");
  EXPECT_EQ(cell(image("jax-1.0-wheel")), "jax 1.0 pip  x86_64");
  EXPECT_EQ(cell(image("jax-1.0-conda")), "jax 1.0 vendor  x86_64");
  EXPECT_EQ(cell(image("jax-1.0-apt")), "jax 1.0 distro  x86_64");
  EXPECT_EQ(cell(image("jax-1.0-official")), "jax 1.0 hub  x86_64");
  for (const char* build : {"bazel build //x", "python setup.py install", "cmake .", "make -j4"}) {
    LegacyImage one = image("jax-1.0");
    one.body = build;
    EXPECT_EQ(cell(one), "jax 1.0 source  x86_64") << build;
  }
  LegacyImage local = image("jax-1.0");
  local.body = "uv pip install /tmp/*.whl\n";
  EXPECT_EQ(cell(local), "jax 1.0 pip  x86_64");
  LegacyImage packages = image("jax-1.0");
  packages.facts.packages = {{"gcc", {"", 2}}};
  EXPECT_EQ(cell(packages), "jax 1.0 distro  x86_64");
  packages.body.clear();
  EXPECT_EQ(cell(packages), "jax 1.0 hub  x86_64") << "the base is all";
}

// A file's name is the framework's when nothing else says one: all of it but what says something else.
TEST(LegacyCells, AreCalledAfterTheWholeName) {
  for (auto [stem, name] : {std::pair("code_aster_clinical", "code_aster_clinical"),
                            {"mpi_bandwidth", "mpi_bandwidth"},
                            {"shape-llm-gpu", "shape-llm"},
                            {"hpl-2.3-src", "hpl"},
                            {"hpl_v2.3_cuda10", "hpl"},
                            {"gnu-devel", "gnu-devel"},
                            {"gpu", "gpu"},
                            {"2.1", "2.1"}}) {
    const std::string found = cell(image(stem));
    EXPECT_EQ(found.substr(0, found.find(' ')), name) << stem;
  }
}

TEST(LegacyCells, WheelsArchivesAndClonesOfTheNameHaveAVersion) {
  LegacyImage wheel = image("tensorflow-src");
  wheel.facts.clones = {{"https://x/tensorflow.git", {"", 2}}};
  wheel.facts.wheels = {{"tensorflow", {"2.4.0", 3}}};
  EXPECT_EQ(cell(wheel), "tensorflow 2.4.0 source  x86_64");
  wheel.facts.clones.begin()->second.value = "v2.3.1";
  EXPECT_EQ(cell(wheel), "tensorflow 2.3.1 source  x86_64") << "what is checked out counts more";
  LegacyImage archive = image("gromacs");
  archive.facts.downloads = {{"http://x/pub/gromacs/gromacs-2020.4.tar.gz", {"", 2}}};
  archive.facts.clones = {{"https://x/other.git", {"v9", 2}}};
  EXPECT_EQ(cell(archive), "gromacs 2020.4 source  x86_64");
  LegacyImage clone = image("hpl");
  clone.facts.clones = {{"https://x/HPL.git", {"v2.3", 2}}};
  EXPECT_EQ(cell(clone), "hpl 2.3 source  x86_64");
}

TEST(LegacyCells, OfABuildStageAreFromSource) {
  LegacyImage one = image("gromacs-2020.4");
  one.facts.packages = {{"libgomp1", {"", 2}}};
  one.build_body = "cmake -S . -B build\n";
  EXPECT_EQ(cell(one), "gromacs 2020.4 source  x86_64");
}

TEST(LegacyCells, HaveAGraphCompiler) {
  EXPECT_EQ(cell(image("tf-1.0-cpu-xla")), "tensorflow 1.0 hub xla x86_64");
  EXPECT_EQ(cell(image("tf-1.0-cpu-trt")), "tensorflow 1.0 hub tensorrt x86_64");
  EXPECT_EQ(cell(image("tf-1.0-cpu-xlax")), "tensorflow 1.0 hub  x86_64");
}

TEST(LegacyCells, AreForGpusByNameBaseOrPackage) {
  const std::string gpu = "jax 1.0 hub  x86_64,nvidia:sm_70 | 0:gpu-target";
  for (const char* stem : {"jax-1.0-gpu", "jax-1.0-cuda10", "jax-1.0-cu101", "jax-1.0-rocm"})
    EXPECT_EQ(cell(image(stem)), gpu) << stem;
  EXPECT_EQ(cell(image("jax-1.0-custom")), "jax 1.0 hub  x86_64");
  EXPECT_EQ(cell(image("jax-1.0", "nvidia/CUDA:10")), gpu);
  EXPECT_EQ(cell(image("jax-1.0", "nvcr.io/nvidia/l4t-jetpack:r36")), gpu);
  EXPECT_EQ(cell(image("jax-1.0", "nvcr.io/nvidia/jax:1.0-py3")), gpu);
  EXPECT_EQ(cell(image("jax-1.0-cpu", "nvidia/cuda:10")), "jax 1.0 hub  x86_64") << "the name counts more";
  LegacyImage package = image("tf-1.0");
  package.facts.pip = {{"tensorflow-gpu", {"==1.0", 2}}};
  EXPECT_EQ(cell(package), "tensorflow 1.0 pip  x86_64,nvidia:sm_70 | 0:gpu-target");
  package.stem = "tf-1.0-cpu";
  EXPECT_EQ(cell(package), "tensorflow 1.0 pip  x86_64 | 2:gpu-wheel");
}

TEST(LegacyCells, SayForWhichGpu) {
  auto target = [](const std::string& name, const std::string& value) {
    LegacyImage one = image("jax-1.0-gpu");
    if (name.starts_with("-"))
      one.facts.options[name] = {value, 2};
    else
      one.facts.settings[name] = {value, 2};
    return cell(one).substr(std::string("jax 1.0 hub  ").size());
  };
  EXPECT_EQ(target("TF_CUDA_COMPUTE_CAPABILITIES", "6.1,7.0"), "x86_64,nvidia:sm_61,nvidia:sm_70");
  EXPECT_EQ(target("TORCH_CUDA_ARCH_LIST", "6.1;7.0+PTX;6.1"), "x86_64,nvidia:sm_61,nvidia:sm_70");
  EXPECT_EQ(target("PYTORCH_ROCM_ARCH", "gfx906"), "x86_64,amd:gfx906");
  EXPECT_EQ(target("-DCMAKE_CUDA_ARCHITECTURES", "80"), "x86_64,nvidia:sm_80");
  EXPECT_EQ(target("TORCH_CUDA_ARCH_LIST", "Volta;1234;1"), "x86_64,nvidia:sm_70 | 0:gpu-target");
  EXPECT_EQ(target("OTHER", "6.1"), "x86_64,nvidia:sm_70 | 0:gpu-target");
}

TEST(LegacyCells, SayForWhichCpu) {
  LegacyImage one = image("jax-1.0");
  one.facts.options = {{"--copt=-march=skylake-avx512", {"", 2}}, {"-O2", {"", 2}}};
  EXPECT_EQ(cell(one), "jax 1.0 hub  skylake_avx512");
  one.facts.options = {{"-march=nothing", {"", 2}}};
  EXPECT_EQ(cell(one), "jax 1.0 hub  x86_64");
}

// The pins of the package that gives the image its name.
TEST(LegacyNames, VersionsComeFromAnyPin) {
  auto version = [](const std::string& stem, const std::function<void(LegacyFacts&)>& set) {
    LegacyImage one = image(stem);
    set(one.facts);
    ImportOptions options;
    return cell_of(one, options, archspec()).version;
  };
  EXPECT_EQ(version("vllm",
                    [](auto& facts) {
                      facts.pip = {{"vllm", {"==0.8.5", 2}}, {"torch-x", {"==1", 2}}};
                    }),
            "0.8.5");
  EXPECT_EQ(version("gromacs-avx2",
                    [](auto& facts) {
                      facts.downloads = {{"https://a/gromacs-2024.4.tar.gz", {"", 2}}};
                    }),
            "2024.4");
  EXPECT_EQ(version("gromacs",
                    [](auto& facts) {
                      facts.downloads = {{"https://a/gromacs/archive/v2024.4.tar.gz", {"", 2}}};
                    }),
            "2024.4");
  EXPECT_EQ(version("my-gromacs", [](auto& facts) { facts.conda = {{"gromacs", {"2024.4", 2}}}; }), "2024.4");
  EXPECT_EQ(version("octave", [](auto& facts) { facts.packages = {{"octave", {"=7.3.0-2", 2}}}; }), "7.3.0");
  EXPECT_EQ(version("lammps",
                    [](auto& facts) {
                      facts.settings = {{"LAMMPS_VERSION", {"v2.8", 2}}};
                    }),
            "2.8");
  EXPECT_EQ(version("ollama",
                    [](auto& facts) {
                      facts.clones = {{"https://a/ollama.git", {"v0.3.1", 2}}};
                    }),
            "0.3.1");
  EXPECT_EQ(version("tool", [](auto& facts) { facts.pip = {{"vllm", {"==0.8.5", 2}}}; }), "0");
  EXPECT_EQ(version("vllm", [](auto& facts) { facts.pip = {{"vllm", {">=0.8", 2}}}; }), "0");
}

TEST(LegacyNames, TargetsComeFromWhatIsBuiltFor) {
  auto target = [](const std::function<void(LegacyFacts&)>& set, const std::string& stem = "x") {
    LegacyImage one = image(stem);
    set(one.facts);
    ImportOptions options;
    return cell_of(one, options, archspec()).target();
  };
  EXPECT_EQ(target([](auto& facts) { facts.options = {{"-DGMX_SIMD", {"AVX2_256", 2}}}; }), "x86_64_v3");
  EXPECT_EQ(target([](auto& facts) {
              facts.options = {{"-DGMX_SIMD:STRING", {"AVX_512", 2}}};
            }),
            "x86_64_v4");
  EXPECT_EQ(target([](auto& facts) { facts.settings = {{"CFLAGS", {"-O3 -march=znver3", 2}}}; }), "zen3");
  EXPECT_EQ(target([](auto& facts) {
              facts.options = {{"-DCMAKE_C_FLAGS", {"-O3 -march=haswell", 2}}};
            }),
            "haswell");
  EXPECT_EQ(target([](auto& facts) {
              facts.tuning = {{"-march=haswell", {"", 2}}, {"-march=x86-64-v2", {"", 3}}};
            }),
            "haswell");
  EXPECT_EQ(target([](auto& facts) { facts.tuning = {{"-xCORE-AVX512", {"", 2}}}; }), "x86_64_v4");
  EXPECT_EQ(target([](auto& facts) { facts.tuning = {{"-march=native", {"", 2}}}; }), "x86_64");
  EXPECT_EQ(target(
                [](auto& facts) {
                  facts.options = {{"-DGMX_CUDA_TARGET_SM", {"70;80", 2}}};
                },
                "x-gpu"),
            "x86_64,nvidia:sm_70,nvidia:sm_80");
  EXPECT_EQ(target(
                [](auto& facts) {
                  facts.tuning = {{"-arch=sm_90", {"", 2}}};
                },
                "x-gpu"),
            "x86_64,nvidia:sm_90");
  EXPECT_EQ(target(
                [](auto& facts) {
                  facts.tuning = {{"--offload-arch=gfx90a", {"", 2}}};
                },
                "x-rocm"),
            "x86_64,amd:gfx90a");
}

}  // namespace
}  // namespace kiln::testing
