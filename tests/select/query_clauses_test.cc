#include "registry/select/query_clauses.h"

#include "select/select_samples.h"

namespace kiln {
namespace {

using testing::archspec;
using testing::error_of;
using testing::host;
using testing::image;
using testing::on;
using testing::optimised;
using testing::query;
using testing::with;

// The sentence with which the one image is refused; "" when it qualifies.
std::string refusal(const ImageQuery& asked, const IndexEntry& entry, const Host& where = {}) {
  const auto known = known_host(where.description, where.known, archspec());
  return QueryClauses(asked, known, archspec())(entry.image).failed;
}

TEST(Clauses, FamilyOfTheProcessor) {
  ImageQuery asked = query();
  asked.cpu_type = "arm";
  EXPECT_EQ(refusal(asked, image("a")), "asks for arm; built for x86_64_v3 (x86_64)");
  EXPECT_EQ(refusal(asked, image("a", "1", "neoverse_n1")), "");
  asked.cpu_type = "power";
  EXPECT_EQ(refusal(asked, image("a", "1", "power9le")), "");
  asked.cpu_type = "amd";
  EXPECT_EQ(refusal(asked, image("a", "1", "zen3")), "");
  EXPECT_EQ(refusal(asked, image("a")), "") << "x86_64_v3 is nobody's in particular";
  EXPECT_EQ(refusal(asked, image("a", "1", "broadwell")), "asks for amd; built for broadwell (GenuineIntel)");
  EXPECT_EQ(refusal(query(), image("a", "1", "neoverse_n1"), host("haswell")),
            "built for aarch64; host is x86_64");
  EXPECT_EQ(refusal(query(), image("a", "1", "k1om")), "built for k1om, which archspec does not know");
}

TEST(Clauses, AnImageThatNeedsAVendorsProcessorIsNoAnswerForAnothers) {
  ImageQuery asked = query();
  IndexEntry amds = image("a", "1", "x86_64");
  amds.image.needs.vendor = "AuthenticAMD";
  IndexEntry intels = image("a", "1", "x86_64");
  intels.image.needs.vendor = "GenuineIntel";
  EXPECT_EQ(refusal(asked, amds, host("sapphirerapids")),
            "needs a processor of AuthenticAMD; host has one of GenuineIntel");
  EXPECT_EQ(refusal(asked, amds, host("zen4")), "");
  EXPECT_EQ(refusal(asked, amds, host("x86_64_v3")), "") << "its vendor is not known";
  asked.cpu_type = "amd";
  EXPECT_EQ(refusal(asked, amds), "");
  EXPECT_EQ(refusal(asked, intels), "asks for amd; needs a processor of GenuineIntel");
  asked.cpu_type = "x86";
  EXPECT_EQ(refusal(asked, intels), "");
  asked.cpu = "icelake";
  EXPECT_EQ(refusal(asked, intels), "");
  EXPECT_EQ(refusal(asked, amds), "asks for icelake; needs a processor of AuthenticAMD");
  asked.cpu = "x86_64_v4";
  EXPECT_EQ(refusal(asked, amds), "");
}

TEST(Clauses, AnImageForAnyProcessorRunsEverywhere) {
  ImageQuery asked = query();
  asked.cpu_type = "arm";
  asked.cpu = "neoverse_n1";
  EXPECT_EQ(refusal(asked, image("a", "1", ""), host("haswell")), "");
}

TEST(Clauses, PowerIsLittleEndianUnlessTheHostIsNot) {
  ImageQuery asked = query();
  asked.cpu_type = "power";
  EXPECT_EQ(refusal(asked, image("a", "1", "power9le")), "");
  EXPECT_EQ(refusal(asked, image("a", "1", "power9")), "asks for power; built for power9 (ppc64)");
  EXPECT_EQ(refusal(asked, image("a", "1", "power9"), host("power9")), "");
  EXPECT_EQ(refusal(asked, image("a")), "asks for power; built for x86_64_v3 (x86_64)");
  asked.cpu_type = "x86";
  EXPECT_EQ(refusal(asked, image("a", "1", "power9")), "asks for x86; built for power9 (ppc64)");
}

TEST(Clauses, WhatTheHostLacks) {
  EXPECT_EQ(refusal(query(), image("a", "1", "neoverse_v1"), host("neoverse_n1")),
            "needs sve; host neoverse_n1 lacks it");
  EXPECT_EQ(refusal(query(), image("a", "1", "skylake_avx512"), host("haswell")),
            "needs avx512f; host haswell lacks it");
  EXPECT_EQ(refusal(query(), image("a", "1", "x86_64_v3"), host("x86_64_v2")),
            "needs avx2; host x86_64_v2 lacks it");
  EXPECT_EQ(refusal(query(), image("a", "1", "haswell"), host("skylake_avx512")), "");
  EXPECT_EQ(refusal(query(), image("a", "1", "skylake_avx512")), "") << "nothing is known of the host";
  EXPECT_EQ(refusal(query(), image("a", "1", "skylake_avx512"), host("a-new-one")), "") << "nor here";
}

TEST(Clauses, Accelerators) {
  ImageQuery asked = query();
  EXPECT_EQ(refusal(asked, on(image("a"), {"nvidia:sm_80"})),
            "asks for no accelerator; built for nvidia:sm_80");
  asked.acc_type = "nvidia";
  EXPECT_EQ(refusal(asked, image("a")), "asks for nvidia; built for no accelerator");
  EXPECT_EQ(refusal(asked, on(image("a"), {"amd:gfx90a"})), "asks for nvidia; built for amd:gfx90a");
  EXPECT_EQ(refusal(asked, on(image("a"), {"nvidia:sm_80"})), "");
  EXPECT_EQ(refusal(asked, on(image("a"), {"nvidia:sm_80"}), host("haswell")),
            "needs nvidia:sm_80; host has no accelerator");
  EXPECT_EQ(refusal(asked, on(image("a"), {"nvidia:sm_80"}), host("haswell", {"nvidia:sm_61"})),
            "needs nvidia:sm_80; host has nvidia:sm_61");
  EXPECT_EQ(refusal(asked, on(image("a"), {"nvidia:sm_80"}), host("haswell", {"nvidia"})), "")
      << "which one is not known";
}

TEST(Clauses, AnyAcceleratorOfTheHostWillDo) {
  ImageQuery asked = query();
  asked.acc_type = "nvidia";
  IndexEntry entry = on(image("a"), {"amd:gfx90a", "nvidia:sm_80"});
  EXPECT_EQ(refusal(asked, entry, host("haswell", {"amd:gfx942", "nvidia:sm_80"})), "");
  EXPECT_EQ(refusal(asked, entry, host("haswell", {"amd:gfx942", "nvidia:sm_70"})),
            "needs amd:gfx90a, nvidia:sm_80; host has amd:gfx942, nvidia:sm_70");
  asked.acc_type = "";
  EXPECT_EQ(refusal(asked, image("a"), host("haswell", {"nvidia"})), "") << "an image need not use it";
}

TEST(Clauses, TheGpuThatIsAskedFor) {
  ImageQuery asked = query();
  asked.acc_type = "nvidia";
  asked.gpu = "sm_70";
  EXPECT_EQ(refusal(asked, on(image("a"), {"nvidia:sm_60", "nvidia:sm_90"})),
            "asks for sm_70; built for nvidia:sm_60, nvidia:sm_90");
  EXPECT_EQ(refusal(asked, on(image("a"), {"nvidia:sm_60", "nvidia:sm_61"})), "");
  EXPECT_EQ(refusal(asked, on(image("a"), {"nvidia"})), "");
}

TEST(Clauses, ApplicationAndVersion) {
  ImageQuery asked = query();
  asked.application = "tensorflow";
  EXPECT_EQ(refusal(asked, image("a")), "asks for tensorflow; this is pytorch");
  asked.application = "PyTorch";
  EXPECT_EQ(refusal(asked, image("a")), "");
  asked.version = VersionRange::parse("2.1");
  EXPECT_EQ(refusal(asked, image("a", "2.10.0")), "asks for 2.1; this is 2.10.0");
  EXPECT_EQ(refusal(asked, image("a", "2.1.3")), "");
  IndexEntry unknown = image("a");
  unknown.image.version = Version();
  EXPECT_EQ(refusal(asked, unknown), "asks for 2.1; the version of this one is not known");
}

TEST(Clauses, ALibrarysVersionIsThatOfTheLibrary) {
  ImageQuery asked = query();
  asked.version = VersionRange::parse("3.1");
  asked.selectors["library"] = "mpich";
  EXPECT_EQ(refusal(asked, with(image("a", "14.4"), "distributed", "mpich", "3.1.4")), "");
  EXPECT_EQ(refusal(asked, with(image("a", "3.1"), "distributed", "mpich", "3.3.1")),
            "asks for mpich 3.1; this is mpich 3.3.1");
  EXPECT_EQ(refusal(asked, image("a", "3.1")), "asks for library mpich; nothing here answers to that");
  asked.selectors = {{"compiler", "pgi"}};
  EXPECT_EQ(refusal(asked, with(image("a", "14.4"), "toolchain", "pgi", "3.1.2")), "");
  EXPECT_EQ(refusal(asked, with(image("a", "3.1"), "toolchain", "pgi", "20.1")),
            "asks for pgi 3.1; this is pgi 20.1");
}

TEST(Clauses, StockAndOptimised) {
  for (auto opt_build : {std::optional<bool>(), std::optional(false)}) {
    EXPECT_EQ(refusal(query(opt_build), optimised(image("a"))),
              "asks for the stock image; this is an optimised build");
    EXPECT_EQ(refusal(query(opt_build), image("a")), "");
  }
  EXPECT_EQ(refusal(query(true), optimised(image("a"))), "");
  EXPECT_EQ(refusal(query(true), image("a")), "") << "measured speed decides";
  IndexEntry mapped = image("a");
  mapped.image.manifest = Digest();
  EXPECT_EQ(refusal(query(true), mapped), "asks for an optimised build; this is mapped as stock");
  mapped.image.accelerators = {"nvidia"};
  EXPECT_EQ(refusal(query(false), mapped), "") << "MODAK looks at the target of optimised builds only";
}

// What a project itself publishes for GPUs is its stock image, built here or mapped.
TEST(Clauses, AStockQuestionIsAnsweredByAStockImageForTheHostsGpus) {
  const IndexEntry wheel = on(image("a"), {"nvidia:sm_90"});
  for (auto opt_build : {std::optional<bool>(), std::optional(false)}) {
    EXPECT_EQ(refusal(query(opt_build), wheel, host("zen4", {"nvidia:sm_90"})), "");
    EXPECT_EQ(refusal(query(opt_build), wheel), "") << "no host is known";
    EXPECT_EQ(refusal(query(opt_build), wheel, host("zen4")), "needs nvidia:sm_90; host has no accelerator");
    EXPECT_EQ(refusal(query(opt_build), wheel, host("zen4", {"nvidia:sm_61"})),
              "needs nvidia:sm_90; host has nvidia:sm_61");
    EXPECT_EQ(refusal(query(opt_build), optimised(wheel), host("zen4", {"nvidia:sm_90"})),
              "asks for the stock image; this is an optimised build");
  }
  EXPECT_EQ(refusal(query(true), wheel, host("zen4", {"nvidia:sm_90"})),
            "asks for no accelerator; built for nvidia:sm_90");
}

TEST(Clauses, Compilers) {
  IndexEntry inductor = with(image("a"), "compiler", "inductor");
  EXPECT_EQ(refusal(query(), inductor), "has inductor, which is not asked for");
  ImageQuery asked = query();
  asked.compilers["inductor"] = true;
  EXPECT_EQ(refusal(asked, inductor), "");
  EXPECT_EQ(refusal(asked, image("a")), "asks for inductor; this is without");
  EXPECT_EQ(refusal(asked, with(image("a"), "library", "inductor")), "asks for inductor; this is without");
  asked.compilers["inductor"] = false;
  EXPECT_EQ(refusal(asked, inductor), "asks for no inductor; this has it");
  EXPECT_EQ(refusal(asked, image("a")), "");
}

TEST(Clauses, CompilersOfAMappingThatWasImportedWhereNoRecipeNamedThem) {
  IndexEntry mapped = optimised(image("a"));
  mapped.image.manifest = Digest();
  mapped.image.selectors = {{"xla", "true"}, {"mpicc", "true"}, {"glow", "false"}};
  EXPECT_EQ(refusal(query(), mapped), "has xla, which is not asked for");
  ImageQuery asked = query();
  asked.compilers["xla"] = true;
  EXPECT_EQ(refusal(asked, mapped), "");
  asked.compilers["glow"] = false;
  EXPECT_EQ(refusal(asked, mapped), "");
  asked.compilers["xla"] = false;
  EXPECT_EQ(refusal(asked, mapped), "asks for no xla; this has it");
}

TEST(Clauses, OnlyCompilersMustBeAskedFor) {
  EXPECT_EQ(refusal(query(), with(with(image("a"), "base", "debian"), "library", "openblas")), "");
}

TEST(Clauses, MethodAndFurtherChoices) {
  ImageQuery asked = query();
  asked.method = "source";
  EXPECT_EQ(refusal(asked, image("a")), "asks for method source; this is made by distro");
  asked.method = "distro";
  asked.selectors["backend"] = "openblas";
  EXPECT_EQ(refusal(asked, image("a")), "asks for backend openblas; nothing here answers to that");
  EXPECT_EQ(refusal(asked, with(image("a"), "library", "openblas")), "");
  asked.selectors = {{"cudnn", "7.6"}};
  EXPECT_EQ(refusal(asked, with(image("a"), "library", "cudnn", "7.6.5")), "");
  EXPECT_NE(refusal(asked, with(image("a"), "library", "cudnn", "7.60")), "");
  asked.selectors = {{"horovod", "true"}};
  EXPECT_EQ(refusal(asked, with(image("a"), "distributed", "horovod")), "");
  asked.selectors = {{"horovod", "false"}};
  EXPECT_EQ(refusal(asked, with(image("a"), "distributed", "horovod")),
            "asks for horovod false; nothing here answers to that");
  EXPECT_EQ(refusal(asked, image("a")), "");
  asked.selectors = {{"mpicc", "true"}};
  IndexEntry mapped = image("a");
  mapped.image.selectors = {{"mpicc", "true"}, {"mpifort", "true"}};
  EXPECT_EQ(refusal(asked, mapped), "");
  mapped.image.selectors = {{"mpicc", "false"}};
  EXPECT_EQ(refusal(asked, mapped), "asks for mpicc true; mapped for false");
}

// torchrun and TF_CONFIG need nothing beside the framework; ranks of MPI do, and so does a framework without
// a launcher of its own.
TEST(Clauses, DistributedTrainingNeedsMpiOrALauncherOfTheFramework) {
  ImageQuery asked;
  asked.application = "pytorch";
  asked.selectors = {{"distributed_training", "true"}};
  EXPECT_EQ(refusal(asked, image("a")), "");
  asked.mpi_ranks = true;
  EXPECT_EQ(refusal(asked, image("a")), "asks for distributed_training true; nothing here answers to that");
  EXPECT_EQ(refusal(asked, with(image("a"), "distributed", "openmpi")), "");
  EXPECT_TRUE(has_own_launcher("tensorflow"));
  EXPECT_FALSE(has_own_launcher("mxnet"));
}

IndexEntry with_runtime(IndexEntry entry, const std::string& name, const std::string& role = "") {
  entry.image.components.push_back({"runtime", name, Version("1.0"), "distro", false, role});
  return entry;
}

TEST(Clauses, AStockImageHasNoRuntimeOfAnotherKind) {
  const IndexEntry entry = with_runtime(image("a"), "jemalloc", "allocator");
  EXPECT_EQ(refusal(query(false), entry), "asks for the stock image; this has the runtime jemalloc");
  EXPECT_EQ(refusal(query(true), entry), "") << "it need not be asked for";
}

TEST(Clauses, AChoiceOfARuntimeOrOfARole) {
  const IndexEntry plain = image("a"), one = with_runtime(plain, "tcmalloc", "allocator"),
                   both = with_runtime(one, "onednn");
  auto refused = [](const char* choice, const char* value, const IndexEntry& entry) {
    ImageQuery asked = query();
    asked.selectors = {{choice, value}};
    return refusal(asked, entry);
  };
  EXPECT_EQ(refused("allocator", "tcmalloc", one), "");
  EXPECT_EQ(refused("allocator", "jemalloc", one),
            "asks for allocator jemalloc; nothing here answers to that");
  EXPECT_EQ(refused("allocator", "true", one), "");
  EXPECT_NE(refused("allocator", "true", with_runtime(plain, "onednn")), "");
  EXPECT_EQ(refused("allocator", "false", with_runtime(plain, "onednn")), "");
  EXPECT_NE(refused("allocator", "false", one), "");
  EXPECT_EQ(refused("runtime", "onednn+tcmalloc", both), "");
  EXPECT_EQ(refused("runtime", "tcmalloc", both), "") << "more than is asked for";
  EXPECT_EQ(refused("runtime", "onednn+tcmalloc", one),
            "asks for runtime onednn+tcmalloc; nothing here answers to that");
  EXPECT_NE(refused("runtime", "false", one), "");
  EXPECT_EQ(refused("runtime", "false", plain), "");
  EXPECT_NE(refused("runtime", "", one), "");
}

TEST(Clauses, OneAnswerOfManyIsEnoughForAChoice) {
  ImageQuery asked = query();
  asked.selectors = {{"library", "true"}, {"mkl", "true"}};
  IndexEntry both = with(with(image("a"), "library", "openblas"), "tool", "mkl");
  EXPECT_EQ(refusal(asked, both), "");
  EXPECT_EQ(refusal(asked, with(image("a"), "library", "openblas")),
            "asks for mkl true; nothing here answers to that");
  EXPECT_EQ(refusal(asked, with(image("a"), "tool", "mkl")),
            "asks for library true; nothing here answers to that");
  asked.selectors = {{"mkl", "openblas"}};
  EXPECT_EQ(refusal(asked, with(image("a"), "tool", "mkl")),
            "asks for mkl openblas; nothing here answers to that");
  asked.selectors = {{"mkl", ">=2"}};
  EXPECT_EQ(refusal(asked, with(image("a"), "tool", "mkl", "2.1")), "");
}

TEST(Clauses, AMethodThatIsNotKnown) {
  ImageQuery asked = query();
  asked.method = "source";
  IndexEntry unknown = image("a");
  unknown.image.method = "";
  EXPECT_EQ(refusal(asked, unknown), "asks for method source; this is made by an unknown one");
}

TEST(Clauses, AFileForApptainer) {
  ImageQuery asked = query();
  IndexEntry packaged = image("a");
  packaged.image.attachments = {{"sif", {}, {}}};
  IndexEntry described = image("a");
  described.image.attachments = {{"spdx", {}, {}}};
  asked.format = "sif";
  EXPECT_EQ(refusal(asked, packaged), "");
  EXPECT_EQ(refusal(asked, described), "asks for a SIF; this image was packaged without");
  IndexEntry mapped = optimised(image("a"));
  mapped.image.manifest = {};
  mapped.image.reference = "docker://ethcscs/openmpi:3.1.3";
  EXPECT_EQ(refusal(asked, mapped), "") << "Apptainer pulls it";
  asked.format = "oci";
  EXPECT_EQ(refusal(asked, described), "");
}

TEST(Clauses, TheGpuAskedForMayNameItsVendor) {
  ImageQuery asked = query();
  asked.acc_type = "amd";
  IndexEntry entry = on(image("a"), {"amd:gfx90a"});
  for (const char* gpu : {"gfx90a", "amd:gfx90a"}) {
    asked.gpu = gpu;
    EXPECT_EQ(refusal(asked, entry), "") << gpu;
  }
  asked.gpu = "nvidia:sm_80";
  EXPECT_EQ(refusal(asked, entry), "asks for nvidia:sm_80; built for amd:gfx90a");
  asked.gpu = "sm_80";
  asked.acc_type = "";
  EXPECT_EQ(refusal(asked, image("a")), "asks for sm_80; built for no accelerator");
}

TEST(Clauses, TheTargetAskedFor) {
  ImageQuery asked = query();
  asked.cpu = "haswell";
  EXPECT_EQ(refusal(asked, image("a", "1", "skylake")),
            "asks for a target that haswell runs; built for skylake");
  EXPECT_EQ(refusal(asked, image("a")), "");
  asked.cpu = "hasswell";
  Error error = error_of([&] { select_image(asked, {}, {}, archspec()); });
  EXPECT_EQ(error.code(), ExitCode::input);
  EXPECT_EQ(error.format(), "error: archspec knows no microarchitecture 'hasswell'; did you mean 'haswell'?");
}

}  // namespace
}  // namespace kiln
