// Fat binaries of the real compilers (tests/data/evidence/make.sh), whole and damaged.
#include "factory/evidence/fat_binary.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

namespace kiln::evidence {
namespace {

using Names = std::vector<std::string>;

std::string fixture(const std::string& name) {
  std::ifstream in(std::string(KILN_TEST_DATA) + "/evidence/" + name, std::ios::binary);
  EXPECT_TRUE(in) << name;
  std::ostringstream bytes;
  bytes << in.rdbuf();
  return bytes.str();
}

TEST(FatBinary, CudaMachineCodeAndPtx) {
  GpuCode code;
  std::vector<std::string> problems;
  read_cuda_fat_binaries(fixture("cuda_80_90a.fatbin"), code, problems);
  EXPECT_EQ(code.sm, (Names{"sm_80", "sm_90a"}));
  EXPECT_EQ(code.compute, Names{"compute_90"});
  EXPECT_TRUE(problems.empty());
}

TEST(FatBinary, CudaFamiliesAndSeveralContainers) {
  GpuCode code;
  std::vector<std::string> problems;
  read_cuda_fat_binaries(fixture("cuda_100f.fatbin") + fixture("cuda_80_90a.fatbin"), code, problems);
  EXPECT_EQ(code.sm, (Names{"sm_100f", "sm_80", "sm_90a"}));
  EXPECT_EQ(code.compute, (Names{"compute_100a", "compute_103f", "compute_90"}));
}

TEST(FatBinary, HipTargetsWithTheirFeatures) {
  GpuCode code;
  std::vector<std::string> problems;
  read_offload_bundles(fixture("hip.bundle"), code, problems);
  EXPECT_EQ(code.gfx, (Names{"gfx906", "gfx90a:xnack-"}));
  EXPECT_TRUE(problems.empty());
}

TEST(FatBinary, DamageIsSaidAndEndsTheReading) {
  std::string bytes = fixture("cuda_80_90a.fatbin");
  for (std::size_t size = 0; size < bytes.size(); size += 31) {
    GpuCode code;
    std::vector<std::string> problems;
    read_cuda_fat_binaries(std::string_view(bytes).substr(0, size), code, problems);
    EXPECT_EQ(problems.size(), size < 16 ? 0u : 1u) << size;
  }
  bytes[8 + 7] = '\x7f';  // the size of all entries
  GpuCode code;
  std::vector<std::string> problems;
  read_cuda_fat_binaries(bytes, code, problems);
  EXPECT_EQ(problems, Names{"a CUDA fat binary leaves its section"});
}

TEST(FatBinary, SurvivesEveryDamagedByte) {
  for (const char* name : {"cuda_100f.fatbin", "hip.bundle"}) {
    std::string bytes = fixture(name);
    for (std::size_t at = 0; at < std::min<std::size_t>(bytes.size(), 512); ++at) {
      std::string damaged = bytes;
      damaged[at] = static_cast<char>(~damaged[at]);
      GpuCode code;
      std::vector<std::string> problems;
      read_cuda_fat_binaries(damaged, code, problems);
      read_offload_bundles(damaged, code, problems);
      for (const std::string& gfx : code.gfx) EXPECT_LT(gfx.size(), 128u);
    }
  }
}

TEST(OffloadBundle, CompressedOnesHideTheirTargets) {
  GpuCode code;
  std::vector<std::string> problems;
  read_offload_bundles("CCOB and what zstd made of it", code, problems);
  ASSERT_EQ(problems.size(), 1u);
  EXPECT_TRUE(hides_gfx(problems[0]));
  EXPECT_TRUE(code.gfx.empty());
  EXPECT_FALSE(hides_gfx("the section table is cut"));
}

}  // namespace
}  // namespace kiln::evidence
