// The spelling of flags for each build system. What the flags are is archspec's; real compilers take them in
// tests/engines/flags_test.sh.
#include "factory/resolve/flags/flags.h"

#include "factory/recipe/parameters.h"
#include "factory/resolve/flags/gpu_flags.h"
#include "support/plan_fixture.h"

namespace kiln {
namespace {

const Microarchitectures& cpus() { return testing::archspec(); }

Target target(const std::string& cpu, std::vector<std::string> accelerators = {}) {
  return {cpu, cpu, std::move(accelerators), ""};
}

Optimise optimise(const std::string& words) {
  Optimise optimise = parse_optimise(words, {});
  optimise.profile = "/opt/kiln/profile/a";
  return optimise;
}

// One compiler, one target.
struct Case {
  Target target;
  CompilerVersion compiler;
  std::string words = "none";
  CompilerVersion fortran{};

  FlagOrigin of(const std::string& variable) const {
    auto found = CompilerFlags::find({&target, &cpus(), compiler, fortran, optimise(words)});
    if (auto* none = std::get_if<NoFlags>(&found)) return {variable, "", "", "", none->reason};
    return std::get<CompilerFlags>(found).of(variable);
  }
  std::string operator[](const std::string& variable) const { return of(variable).value; }
};

const CompilerVersion kGcc = {"gcc", "12.2.0"};
const CompilerVersion kClang = {"clang", "16.0.6"};

TEST(Flags, AreTheLevelAndArchspecsFlags) {
  Case c{target("zen3"), kGcc};
  EXPECT_EQ(c["KILN_CPU_FLAGS"], cpus().flags("zen3", "gcc", "12.2.0").flags);
  for (const char* variable : {"CFLAGS", "CXXFLAGS", "FFLAGS"})
    EXPECT_EQ(c[variable], "-O2 " + c["KILN_CPU_FLAGS"]) << variable;
  EXPECT_EQ(c["LDFLAGS"], "");
  FlagOrigin origin = c.of("CFLAGS");
  EXPECT_EQ(origin.compiler, "gcc 12.2.0");
  EXPECT_EQ(origin.target, "zen3");
  EXPECT_EQ(origin.from, "archspec's gcc 10.3: for zen3; -O2 by default");
  EXPECT_EQ(origin.note, "");
}

TEST(Flags, AnAncestorAndAGapOfTheTablesAreToldWithEveryVariable) {
  for (const char* variable :
       {"KILN_CPU_FLAGS", "CFLAGS", "FFLAGS", "KILN_BAZEL_COPTS", "KILN_CMAKE_FLAGS"}) {
    FlagOrigin old = Case{target("zen3"), {"gcc", "9.4.0"}}.of(variable);
    EXPECT_EQ(old.target, "zen2") << variable;
    EXPECT_NE(old.note.find("flags of zen2 are used"), std::string::npos) << variable << ": " << old.note;
    FlagOrigin gap = Case{target("zen4"), kGcc}.of(variable);
    EXPECT_EQ(gap.target, "zen4") << variable;
    EXPECT_NE(gap.note.find("counts as a patch release"), std::string::npos) << variable << ": " << gap.note;
  }
}

TEST(Flags, OptimisationGoesToCompilerAndLinker) {
  Case c{target("x86_64_v3"), kGcc, "o3+lto"};
  const std::string cpu = c["KILN_CPU_FLAGS"];
  EXPECT_EQ(c["CFLAGS"], "-O3 " + cpu + " -flto=auto");
  EXPECT_EQ(c["LDFLAGS"], "-O3 -flto=auto");
  EXPECT_EQ(c["KILN_BAZEL_LINKOPTS"], "--linkopt=-O3 --linkopt=-flto=auto");
  EXPECT_TRUE(c["KILN_BAZEL_COPTS"].starts_with("--copt=-O3 --copt=-march=x86-64-v3 "));
  EXPECT_TRUE(c["KILN_BAZEL_COPTS"].ends_with(" --copt=-flto=auto"));
  EXPECT_EQ(c.of("CFLAGS").from, "archspec's gcc 11.1: for x86_64_v3; -O3 of the cell; LTO of the cell");
  EXPECT_EQ(c.of("LDFLAGS").from, "-O3 of the cell; LTO of the cell");
}

TEST(Flags, BazelHasItsOwnLevelTwoAndNoHostFlags) {
  Case c{target("broadwell"), kGcc};
  EXPECT_EQ(c["KILN_BAZEL_COPTS"], "--copt=-march=broadwell --copt=-mtune=broadwell");
  EXPECT_EQ(c.of("KILN_BAZEL_COPTS").from, "archspec's gcc 4.9: for broadwell; -O2 is Bazel's own (-c opt)");
  EXPECT_EQ(c["KILN_BAZEL_COPTS"].find("host"), std::string::npos);
}

TEST(Flags, CMakeGetsShellWordsInWhichTheLevelIsCMakesOwn) {
  EXPECT_EQ(
      (Case{target("broadwell"), kGcc}["KILN_CMAKE_FLAGS"]),
      "-DCMAKE_BUILD_TYPE=Release -DCMAKE_C_FLAGS='-march=broadwell -mtune=broadwell' "
      "-DCMAKE_C_FLAGS_RELEASE='-O2 -DNDEBUG' -DCMAKE_CXX_FLAGS='-march=broadwell -mtune=broadwell' "
      "-DCMAKE_CXX_FLAGS_RELEASE='-O2 -DNDEBUG' -DCMAKE_Fortran_FLAGS='-march=broadwell -mtune=broadwell' "
      "-DCMAKE_Fortran_FLAGS_RELEASE=-O2");
  std::string gpu = Case{target("broadwell", {"nvidia:sm_80", "nvidia:sm_90", "amd:gfx90a"}), kGcc,
                         "lto"}["KILN_CMAKE_FLAGS"];
  EXPECT_NE(gpu.find(" -DCMAKE_SHARED_LINKER_FLAGS='-O2 -flto=auto' "), std::string::npos);
  EXPECT_NE(gpu.find(" -DCMAKE_CUDA_ARCHITECTURES='80-real;90' "), std::string::npos);
  EXPECT_NE(gpu.find(" -DCMAKE_CUDA_FLAGS='-Xcompiler=-march=broadwell -Xcompiler=-mtune=broadwell' "),
            std::string::npos);
  EXPECT_NE(gpu.find(" -DCMAKE_CUDA_FLAGS_RELEASE='-O2 -DNDEBUG' "), std::string::npos);
  EXPECT_TRUE(gpu.ends_with(" -DCMAKE_HIP_ARCHITECTURES=gfx90a -DCMAKE_HIP_FLAGS_RELEASE='-O2 -DNDEBUG'"));
  std::string hip = Case{target("zen3", {"amd:gfx90a"}), kClang}["KILN_CMAKE_FLAGS"];
  EXPECT_NE(hip.find(" -DCMAKE_HIP_FLAGS='-Xarch_host -march=znver3 -Xarch_host -mtune=znver3' "),
            std::string::npos);
}

TEST(Flags, NvccGetsGpuCodeAndTheHostCompilersFlags) {
  Case c{target("broadwell", {"nvidia:sm_90", "nvidia:sm_80"}), kGcc};
  EXPECT_EQ(
      c["KILN_NVCC_FLAGS"],
      "-O2 -gencode=arch=compute_80,code=sm_80 -gencode=arch=compute_90,code=sm_90 "
      "-gencode=arch=compute_90,code=compute_90 -Xcompiler=-march=broadwell -Xcompiler=-mtune=broadwell");
  EXPECT_EQ(c["NVCC_APPEND_FLAGS"], "-Xcompiler=-march=broadwell -Xcompiler=-mtune=broadwell");
  EXPECT_EQ((Case{c.target, kGcc, "os"}["KILN_NVCC_FLAGS"].substr(0, 15)), "-Xcompiler=-Os ");
  FlagOrigin none = Case{target("broadwell"), kGcc}.of("KILN_NVCC_FLAGS");
  EXPECT_EQ(none.value, "");
  EXPECT_EQ(none.from, "the target has no NVIDIA GPU");
  EXPECT_EQ(none.note, "");
}

TEST(Flags, HipGetsHostFlagsOfAClangOnly) {
  const Target mi200 = target("zen3", {"amd:gfx90a", "amd:gfx1100"});
  EXPECT_EQ(
      (Case{mi200, kClang}["KILN_HIP_FLAGS"]),
      "-O2 --offload-arch=gfx1100 --offload-arch=gfx90a -Xarch_host -march=znver3 -Xarch_host -mtune=znver3");
  FlagOrigin gcc = Case{mi200, kGcc}.of("KILN_HIP_FLAGS");
  EXPECT_EQ(gcc.value, "-O2 --offload-arch=gfx1100 --offload-arch=gfx90a");
  EXPECT_EQ(gcc.note, "hipcc is a Clang: the flags of gcc are not for it");
  EXPECT_EQ((Case{target("zen3"), kGcc}.of("KILN_HIP_FLAGS").note), "");
}

TEST(Flags, AnEmptyValueSaysWhy) {
  Case c{target("zen3"), kGcc};
  EXPECT_EQ(c.of("KILN_HIP_FLAGS").from, "the target has no AMD GPU");
  EXPECT_EQ(c.of("NVCC_APPEND_FLAGS").from, "the target has no NVIDIA GPU");
  EXPECT_EQ(c.of("LDFLAGS").from, "neither LTO nor PGO was asked for");
  EXPECT_EQ(c.of("KILN_BAZEL_LINKOPTS").from, "neither LTO nor PGO was asked for");
}

// A note on the level or LTO is told with what links, one on the processor with what compiles.
TEST(Flags, NotesGoWithTheVariableTheySpeakOf) {
  Case old{target("zen3"), {"gcc", "9.4.0"}, "o3+lto"};
  for (const char* variable : {"LDFLAGS", "KILN_BAZEL_LINKOPTS"})
    EXPECT_EQ(old.of(variable).note.find("zen2"), std::string::npos) << variable;
  for (const char* variable : {"CFLAGS", "CXXFLAGS", "KILN_CMAKE_FLAGS", "KILN_BAZEL_COPTS"})
    EXPECT_NE(old.of(variable).note.find("zen2"), std::string::npos) << variable;
}

TEST(Flags, FortranBesideClangIsTheGccOfTheStage) {
  Case c{target("zen3"), kClang, "o3+thinlto", kGcc};
  EXPECT_EQ(c["CFLAGS"].substr(0, 15), "-O3 -march=znve");
  EXPECT_TRUE(c["CFLAGS"].ends_with(" -flto=thin"));
  EXPECT_EQ(c["FFLAGS"], "-O3 " + cpus().flags("zen3", "gcc", "12.2.0").flags);
  EXPECT_EQ(c.of("FFLAGS").compiler, "gcc 12.2.0");
  FlagOrigin alone = Case{target("zen3"), kClang}.of("FFLAGS");
  EXPECT_EQ(alone.value, "-O2");
  EXPECT_EQ(alone.note, "clang has no Fortran, and no gcc is in the stage: the level alone");
}

TEST(Flags, NoneForWhatArchspecDoesNotKnow) {
  FlagOrigin none = Case{target("zen3"), {"tcc", "1"}}.of("CFLAGS");
  EXPECT_EQ(none.value, "");
  EXPECT_EQ(none.note, "archspec knows no compiler 'tcc 1' for zen3");
}

// Every microarchitecture, every compiler that archspec has, versions old and new.
TEST(Flags, NeverNameTheBuildMachine) {
  for (const std::string& name : cpus().names()) {
    for (const auto& [compiler, entries] : cpus().find(name)->compilers.all()) {
      for (const char* version : {"4.8", "9.4", "12.2.0", "16.0.6", "21.2", "2025.1"}) {
        Case c{target(name), {compiler, version}, "o3+lto"};
        for (const std::string& variable : compiler_variables())
          for (const char* build_machine : {"native", "xHost", "=host"})
            EXPECT_EQ(c[variable].find(build_machine), std::string::npos)
                << name << " " << compiler << " " << version << " " << variable;
      }
    }
  }
}

TEST(GpuFlags, SpellCapabilitiesForEachBuildSystem) {
  const Target two = target("zen3", {"nvidia:sm_90", "nvidia:sm_61", "amd:gfx942", "nvidia:sm_61"});
  EXPECT_EQ(gpu_flags("KILN_CUDA_ARCHS", two).value, "6.1;9.0+PTX");
  EXPECT_EQ(gpu_flags("TORCH_CUDA_ARCH_LIST", two).value, "6.1;9.0+PTX");
  EXPECT_EQ(gpu_flags("CUDAARCHS", two).value, "61-real;90");
  EXPECT_EQ(gpu_flags("TF_CUDA_COMPUTE_CAPABILITIES", two).value, "sm_61,compute_90");
  EXPECT_EQ(gpu_flags("PYTORCH_ROCM_ARCH", two).value, "gfx942");
  EXPECT_EQ(gpu_flags("CUDAARCHS", two).target, "sm_61 sm_90");
  EXPECT_EQ(gpu_flags("PYTORCH_ROCM_ARCH", two).target, "gfx942");
  for (const std::string& variable : gpu_variables()) {
    EXPECT_EQ(gpu_flags(variable, target("zen3")).value, "");
    EXPECT_NE(gpu_flags(variable, target("zen3")).from.find("the target has no "), std::string::npos);
  }
}

TEST(GpuFlags, ThreeDigitsAndArchitectureSpecificTargets) {
  const Target blackwell = target("zen5", {"nvidia:sm_100a", "nvidia:sm_90"});
  EXPECT_EQ(gpu_flags("KILN_CUDA_ARCHS", blackwell).value, "9.0;10.0a+PTX");
  EXPECT_EQ(gpu_flags("CUDAARCHS", blackwell).value, "90-real;100a");
  EXPECT_EQ(gpu_flags("CUDAARCHS", blackwell).note,
            "the PTX of compute_100a runs on that architecture only: later GPUs cannot use it");
  EXPECT_EQ(gpu_flags("CUDAARCHS", target("zen5", {"nvidia:sm_100"})).note, "");
}

}  // namespace
}  // namespace kiln
