#include "registry/select/host_clauses.h"

#include "select/select_samples.h"

namespace kiln {
namespace {

using testing::archspec;
using testing::image;
using testing::on;

HostDescription node(const std::string& cpu = "haswell", testing::Strings accelerators = {}) {
  HostDescription host;
  host.cpu = cpu;
  host.accelerators = std::move(accelerators);
  return host;
}

std::string refusal(const IndexEntry& entry, const HostDescription& host, const std::string& vendor = "") {
  const KnownHost known(host, archspec());
  int met = 0;
  return host_refusal({entry.image, archspec().find(entry.image.cpu), known, vendor}, met);
}

IndexEntry gpu_image(testing::Strings accelerators = {"nvidia:sm_80"}, const std::string& cuda = "12.9") {
  IndexEntry entry = on(image("a"), std::move(accelerators));
  entry.image.needs.cuda = Version(cuda);
  return entry;
}

TEST(HostClauses, RefuseAProcessorOfAnotherVendor) {
  IndexEntry entry = image("a");
  entry.image.needs.vendor = "GenuineIntel";
  EXPECT_EQ(refusal(entry, node("haswell")), "");
  EXPECT_EQ(refusal(entry, node("zen4")), "needs a processor of GenuineIntel; host has one of AuthenticAMD");
  EXPECT_EQ(refusal(entry, node("x86_64_v4")), "") << "whose it is, is not known";
  HostDescription machine = node("x86_64_v4");
  machine.vendor = "AuthenticAMD";
  EXPECT_NE(refusal(entry, machine), "");
}

TEST(HostClauses, AllGpusOfAVendorCount) {
  EXPECT_EQ(
      refusal(gpu_image({"nvidia:sm_80", "nvidia:sm_90"}), node("haswell", {"nvidia:sm_80", "nvidia:sm_90"})),
      "");
  EXPECT_EQ(refusal(gpu_image({"nvidia:sm_80"}), node("haswell", {"nvidia:sm_70", "nvidia:sm_80"})),
            "needs nvidia:sm_80; host has nvidia:sm_70, nvidia:sm_80");
  EXPECT_EQ(
      refusal(gpu_image({"nvidia:sm_80", "amd:gfx90a"}), node("haswell", {"amd:gfx90a", "nvidia:sm_70"})), "")
      << "on AMD's it runs";
  EXPECT_EQ(refusal(gpu_image({"nvidia:sm_80", "amd:gfx90a"}),
                    node("haswell", {"amd:gfx90a", "nvidia:sm_70"}), "nvidia"),
            "needs nvidia:sm_80, amd:gfx90a; host has amd:gfx90a, nvidia:sm_70");
}

TEST(HostClauses, WhatWasFoundCounts) {
  IndexEntry entry = gpu_image({"nvidia:sm_61"});
  entry.image.evidence.gpu = {"sm_80", "compute_80"};
  entry.image.evidence.shown_by["sm_80"] = "/opt/lib/libx.so";
  EXPECT_EQ(refusal(entry, node("haswell", {"nvidia:sm_61"})),
            "has no code for nvidia:sm_61; found sm_80, compute_80 (/opt/lib/libx.so)");
  EXPECT_EQ(refusal(entry, node("haswell", {"nvidia:sm_80"})), "") << "by PTX of what is declared, and found";
  entry.image.evidence.gpu = {"sm_80"};
  EXPECT_EQ(refusal(entry, node("haswell", {"nvidia:sm_90"})),
            "has no code for nvidia:sm_90; found sm_80 (/opt/lib/libx.so)")
      << "no PTX for a newer GPU";
  entry.image.evidence.gpu = {"gfx90a"};
  EXPECT_EQ(refusal(entry, node("haswell", {"nvidia:sm_61"})), "") << "says nothing of NVIDIA's";
}

TEST(HostClauses, WhatIsHiddenRefusesNothing) {
  IndexEntry entry = on(image("a"), {"amd:gfx942"});
  entry.image.evidence.gpu = {"gfx90a"};
  EXPECT_NE(refusal(entry, node("zen4", {"amd:gfx942"})), "");
  entry.image.evidence.gpu_hidden = true;
  EXPECT_EQ(refusal(entry, node("zen4", {"amd:gfx942"})), "") << "compressed bundles may have it";
}

TEST(HostClauses, RefuseAnOlderDriver) {
  HostDescription host = node("haswell", {"nvidia:sm_80"});
  EXPECT_EQ(refusal(gpu_image(), host), "") << "not known";
  host.driver = "470.82.01";
  EXPECT_EQ(refusal(gpu_image(), host), "needs NVIDIA's driver 525.60.13; host has 470.82.01");
  EXPECT_EQ(refusal(gpu_image({"nvidia:sm_80"}, "11.8"), host), "");
  host.driver = "525.60.13";
  EXPECT_EQ(refusal(gpu_image(), host), "") << "minor-version compatibility";
  IndexEntry entry = gpu_image();
  entry.image.needs.driver = Version("535");
  EXPECT_EQ(refusal(entry, host), "needs NVIDIA's driver 535; host has 525.60.13") << "its components say so";
}

TEST(HostClauses, PtxNeedsTheDriverOfItsCuda) {
  HostDescription host = node("haswell", {"nvidia:sm_90"});
  host.driver = "535.104.05";
  EXPECT_EQ(
      refusal(gpu_image(), host),
      "runs on this GPU by PTX only, which needs NVIDIA's driver 575.51.03 (CUDA 12.9); host has 535.104.05");
  EXPECT_EQ(refusal(gpu_image({"nvidia:sm_80"}, "12.1"), host), "");
  EXPECT_EQ(refusal(gpu_image({"nvidia:sm_90"}), host), "") << "machine code";
  host.accelerators.emplace_back("nvidia");
  EXPECT_NE(refusal(gpu_image(), host), "") << "one of them needs PTX, whatever the other is";
  IndexEntry found = gpu_image({"nvidia"});
  found.image.evidence.gpu = {"compute_61"};
  EXPECT_NE(refusal(found, host), "") << "what was found there is PTX only";
}

TEST(HostClauses, ADriverConcernsNvidiasImagesOnly) {
  HostDescription host = node("haswell", {"amd:gfx90a"});
  host.driver = "1.0";
  IndexEntry entry = on(image("a"), {"amd:gfx90a"});
  entry.image.needs.driver = Version("535");
  EXPECT_EQ(refusal(entry, host), "");
  EXPECT_EQ(refusal(image("a"), host), "");
}

TEST(HostClauses, RefuseAnOlderKernel) {
  IndexEntry entry = image("a");
  entry.image.needs.kernel = Version("3.2");
  HostDescription host = node();
  host.kernel = "2.6.32-754.el6.x86_64";
  EXPECT_EQ(refusal(entry, host), "needs Linux 3.2 (its glibc does); host has 2.6.32");
  host.kernel = "3.10.0-1160.el7.x86_64";
  EXPECT_EQ(refusal(entry, host), "") << "3.10 is newer than 3.2";
}

TEST(HostClauses, RefuseAHostWithoutHugePages) {
  IndexEntry entry = image("a");
  entry.image.needs.transparent_hugepages = "madvise";
  HostDescription host = node();
  EXPECT_EQ(refusal(entry, host), "") << "what the kernel grants is not known";
  host.transparent_hugepages = "never";
  EXPECT_EQ(refusal(entry, host),
            "needs transparent huge pages (setting madvise); host has the setting never");
  EXPECT_EQ(refusal(image("a"), host), "");
  for (const char* enough : {"madvise", "always"}) {
    host.transparent_hugepages = enough;
    EXPECT_EQ(refusal(entry, host), "") << enough;
  }
  entry.image.needs.transparent_hugepages = "always";
  host.transparent_hugepages = "madvise";
  EXPECT_EQ(refusal(entry, host),
            "needs transparent huge pages (setting always); host has the setting madvise");
}

TEST(HostClauses, RefuseAnotherMpi) {
  IndexEntry entry = image("a");
  entry.image.needs.mpi = mpi_library("openmpi@4.1.4");
  HostDescription host = node();
  host.mpi = "openmpi@4.1.6";
  EXPECT_EQ(refusal(entry, host), "");
  host.mpi = "openmpi@5.0.1";
  EXPECT_EQ(refusal(entry, host),
            "linked with openmpi 4.1.4; host starts jobs with openmpi 5.0.1, of another ABI");
  host.mpi = "openmpi";
  EXPECT_EQ(refusal(entry, host), "") << "which version is not known";
  host.mpi = "cray-mpich@8.1.25";
  EXPECT_EQ(refusal(entry, host),
            "linked with openmpi 4.1.4; host starts jobs with cray-mpich 8.1.25, of another ABI");
  entry.image.needs.mpi = mpi_library("mpich@4.2.0");
  EXPECT_EQ(refusal(entry, host), "") << "one ABI";
  host.glibc = "2.41";
  entry.image.needs.glibc = Version("2.31");
  EXPECT_EQ(refusal(entry, host), "has glibc 2.31; the host's MPI, which is bound in, may need 2.41");
  host.mpi.clear();
  EXPECT_EQ(refusal(entry, host), "") << "an image has a glibc of its own";
}

TEST(HostClauses, RefuseByEvidence) {
  IndexEntry entry = image("a");
  entry.image.evidence.verdict = "exceeds";
  entry.image.evidence.exceeding = {"avx512f"};
  entry.image.evidence.shown_by = {
      {"avx512f", "/usr/lib/libx.so"}, {"libfoo.so.1", "/usr/bin/foo"}, {"glibc", "/g"}};
  EXPECT_EQ(refusal(entry, node("haswell")),
            "runs avx512f beyond its target (/usr/lib/libx.so); host haswell lacks it");
  EXPECT_EQ(refusal(entry, node("skylake_avx512")), "") << "there it runs";
  entry.image.evidence.exceeding.clear();
  entry.image.evidence.unconditional = {"avx2", "avx512bw"};
  EXPECT_EQ(refusal(entry, node("haswell")), "runs avx512bw beyond its target; host haswell lacks it")
      << "a record that names no more";
  entry.image.evidence.verdict = "conforms";
  EXPECT_EQ(refusal(entry, node("haswell")), "");
  entry.image.evidence.missing = {"libfoo.so.1"};
  EXPECT_EQ(nowhere_refusal(entry.image), "lacks libfoo.so.1, which something in it needs (/usr/bin/foo)");
  entry.image.evidence.missing.clear();
  entry.image.evidence.glibc = "2.38";
  entry.image.needs.glibc = Version("2.36");
  EXPECT_EQ(nowhere_refusal(entry.image), "needs glibc 2.38 (/g) and has 2.36");
  EXPECT_EQ(refusal(entry, node("haswell")), "needs glibc 2.38 (/g) and has 2.36");
  entry.image.needs.glibc = Version("2.38");
  EXPECT_EQ(nowhere_refusal(entry.image), "");
}

TEST(ReadHost, ChecksWhatItReads) {
  auto fault = [](const std::string& text) -> std::string {
    try {
      read_host(JsonDocument::parse(text, "node.json").root(), archspec());
      return "";
    } catch (const Error& error) {
      return error.format();
    }
  };
  EXPECT_EQ(fault("{}"), "node.json:1:1: error: the key 'cpu' is missing");
  EXPECT_EQ(
      fault(R"({"cpu": "zen44"})"),
      "node.json:1:9: error: archspec knows no microarchitecture 'zen44' (at /cpu); did you mean 'zen4'?");
  EXPECT_EQ(fault(R"({"cpu": "zen4", "kernel": "garbage"})"),
            "node.json:1:27: error: 'garbage' is no version of a kernel (at /kernel); for example "
            "5.15.0-91-generic");
  EXPECT_NE(fault(R"({"cpu": "zen4", "driver": "new"})").find("'new' is no version of NVIDIA's driver"),
            std::string::npos);
  EXPECT_NE(fault(R"({"cpu": "zen4", "glibc": ""})").find("'' is no version of glibc"), std::string::npos);
  EXPECT_NE(fault(R"({"cpu": "zen4", "mpi": "lam@7"})").find("kiln knows no MPI library 'lam'"),
            std::string::npos);
  EXPECT_NE(fault(R"({"cpu": "zen4", "mpi": "openmpi@"})").find("/mpi"), std::string::npos);
  EXPECT_NE(fault(R"({"cpu": "zen4", "accelerators": ["nvidia:sm_9000"]})").find("expected an accelerator"),
            std::string::npos);
  EXPECT_EQ(
      fault(R"({"cpu": "zen4", "transparent_hugepages": "on"})"),
      "node.json:1:42: error: 'on' is no setting of transparent huge pages (at /transparent_hugepages); "
      "settings: never, madvise, always");
  EXPECT_EQ(fault(R"({"cpu": "zen4", "transparent_hugepages": "madvise"})"), "");
  EXPECT_NE(fault(R"({"cpu": "zen4", "gpu": "a"})").find("unknown key 'gpu'"), std::string::npos);
  EXPECT_EQ(
      fault(R"({"cpu": "zen4", "mpi": "openmpi@4.1.6", "driver": "535.104.05", "kernel": "5.15.0-91-generic",
    "accelerators": ["nvidia", "amd:gfx90a", "fpga"], "features": ["avx2"], "vendor": "AuthenticAMD"})"),
      "");
}

}  // namespace
}  // namespace kiln
