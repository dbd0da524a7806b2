#include "factory/record/gpu_code.h"

#include <gtest/gtest.h>

namespace kiln {
namespace {

using Level = GpuFit::Level;
using Codes = std::vector<std::string>;

GpuFit fit(const std::string& code, const std::string& gpu) { return best_fit({code}, gpu); }

TEST(GpuCode, MachineCodeRunsOnItsGenerationFromItsMinorVersionOn) {
  EXPECT_EQ(fit("sm_80", "sm_80"), (GpuFit{Level::exact, 0}));
  EXPECT_EQ(fit("sm_80", "sm_86"), (GpuFit{Level::older, 6}));
  EXPECT_FALSE(fit("sm_86", "sm_80").runs());
  EXPECT_FALSE(fit("sm_80", "sm_90").runs());
  EXPECT_FALSE(fit("sm_90", "sm_89").runs());
  EXPECT_FALSE(fit("sm_90", "sm_100").runs()) << "10.0 is another major version, not a longer number";
  EXPECT_EQ(fit("sm_100", "sm_103"), (GpuFit{Level::older, 3}));
}

// NVIDIA: no binary compatibility among Tegra's GPUs, nor between them and others.
TEST(GpuCode, MachineCodeOfTegraAndOfOthersRunsOnItsOwnGpuOnly) {
  for (const auto& [code, gpu] :
       std::vector<std::pair<std::string, std::string>>{{"sm_80", "sm_87"},  // A100's on Orin
                                                        {"sm_86", "sm_87"},
                                                        {"sm_87", "sm_89"},    // Orin's on Ada
                                                        {"sm_87", "sm_88"},    // Orin's on another Tegra
                                                        {"sm_70", "sm_72"},    // Volta's on Xavier
                                                        {"sm_72", "sm_75"},    // Xavier's on Turing
                                                        {"sm_60", "sm_62"},    // Pascal's on TX2
                                                        {"sm_50", "sm_53"},    // Maxwell's on TX1
                                                        {"sm_30", "sm_32"},    // Kepler's on TK1
                                                        {"sm_100", "sm_101"},  // Blackwell's on Thor
                                                        {"sm_100f", "sm_101"},
                                                        {"compute_100f", "sm_101"},
                                                        {"sm_101", "sm_103"}})
    EXPECT_FALSE(fit(code, gpu).runs()) << code << " on " << gpu;
  for (const char* tegra : {"53", "62", "72", "87", "88", "101", "110"}) {
    EXPECT_EQ(fit("sm_" + std::string(tegra), "sm_" + std::string(tegra)), (GpuFit{Level::exact, 0}));
    EXPECT_EQ(fit("compute_" + std::string(tegra), "sm_121").level, Level::ptx)
        << "PTX reaches all later ones";
  }
  EXPECT_EQ(fit("compute_80", "sm_87"), (GpuFit{Level::ptx, 7}));
  EXPECT_EQ(fit("sm_110f", "sm_110"), (GpuFit{Level::exact, 0}));
  EXPECT_EQ(fit("sm_120", "sm_121"), (GpuFit{Level::older, 1})) << "DGX Spark is no Tegra";
  EXPECT_EQ(best_fit(with_ptx({"sm_80"}), "sm_87").level, Level::ptx) << "by the PTX that kiln adds";
}

TEST(GpuCode, ArchSpecificCodeRunsOnOneGpu) {
  EXPECT_EQ(fit("sm_90a", "sm_90"), (GpuFit{Level::own, 0}));
  EXPECT_FALSE(fit("sm_100a", "sm_103").runs());
  EXPECT_LT(fit("sm_90a", "sm_90"), fit("sm_90", "sm_90"));
}

TEST(GpuCode, FamilySpecificCodeRunsOnLaterOnesOfTheFamily) {
  EXPECT_EQ(fit("sm_100f", "sm_100"), (GpuFit{Level::exact, 0}));
  EXPECT_EQ(fit("sm_100f", "sm_103"), (GpuFit{Level::older, 3}));
  EXPECT_FALSE(fit("sm_100f", "sm_120").runs());
  EXPECT_FALSE(fit("sm_103f", "sm_100").runs());
}

TEST(GpuCode, PtxReachesLaterGpus) {
  EXPECT_EQ(fit("compute_80", "sm_90"), (GpuFit{Level::ptx, 10}));
  EXPECT_EQ(fit("compute_90", "sm_90"), (GpuFit{Level::ptx, 0}));
  EXPECT_FALSE(fit("compute_90", "sm_89").runs());
  EXPECT_FALSE(fit("compute_90a", "sm_100").runs());
  EXPECT_TRUE(fit("compute_90a", "sm_90").runs());
  EXPECT_TRUE(fit("compute_100f", "sm_103").runs());
  EXPECT_FALSE(fit("compute_100f", "sm_120").runs());
}

TEST(GpuCode, TheBestOfSeveralCounts) {
  EXPECT_EQ(best_fit({"sm_70", "sm_80", "compute_80"}, "sm_86"), (GpuFit{Level::older, 6}));
  EXPECT_EQ(best_fit({"sm_61", "compute_61", "sm_90a"}, "sm_90"), (GpuFit{Level::own, 0}))
      << "not the PTX of the name that sorts first";
  EXPECT_EQ(best_fit({"compute_61", "compute_80"}, "sm_90"), (GpuFit{Level::ptx, 10})) << "the nearest PTX";
  EXPECT_FALSE(best_fit({}, "sm_90").runs());
}

TEST(GpuCode, AVendorAloneFitsAll) {
  EXPECT_EQ(fit("", "sm_90"), (GpuFit{Level::unnamed, 0}));
  EXPECT_EQ(fit("sm_80", ""), (GpuFit{Level::unnamed, 0}));
}

TEST(GpuCode, AmdsGpusRunTheirOwn) {
  EXPECT_EQ(fit("gfx90a", "gfx90a"), (GpuFit{Level::exact, 0}));
  EXPECT_FALSE(fit("gfx90a", "gfx942").runs());
  EXPECT_TRUE(fit("gfx90a:sramecc+:xnack-", "gfx90a").runs()) << "modes of the same processor";
  EXPECT_FALSE(fit("gfx90a:xnack-", "gfx908:xnack-").runs());
  EXPECT_FALSE(fit("gfx90a", "sm_90").runs());
}

TEST(GpuCode, NumbersThatAreNone) {
  for (const char* code :
       {"sm_", "sm_x", "sm_8x", "sm_90b", "sm_9", "sm_1000", "compute_", "sm_90aa", "80", "gfx90a"})
    EXPECT_EQ(compute_capability(code), 0) << code;
  EXPECT_EQ(compute_capability("sm_90a"), 90);
  EXPECT_EQ(compute_capability("compute_120f"), 120);
  EXPECT_FALSE(fit("sm_8x", "sm_80").runs());
}

TEST(GpuCode, KilnAddsPtxOfTheNewest) {
  EXPECT_EQ(with_ptx({"sm_90", "sm_80"}), (Codes{"sm_90", "sm_80", "compute_90"}));
  EXPECT_EQ(with_ptx({"sm_90", "sm_100"}), (Codes{"sm_90", "sm_100", "compute_100"})) << "by number";
  EXPECT_EQ(with_ptx({"sm_90", "sm_90a"}), (Codes{"sm_90", "sm_90a"})) << "whose PTX runs nowhere else";
  EXPECT_EQ(with_ptx({""}), (Codes{""}));
  EXPECT_EQ(with_ptx({}), Codes{});
}

TEST(GpuCode, AcceleratorsByVendorAndCode) {
  EXPECT_EQ(split_accelerator("nvidia:sm_61"), (std::pair<std::string, std::string>{"nvidia", "sm_61"}));
  EXPECT_EQ(split_accelerator("nvidia"), (std::pair<std::string, std::string>{"nvidia", ""}));
  EXPECT_EQ(split_accelerator(""), (std::pair<std::string, std::string>{"", ""}));
}

}  // namespace
}  // namespace kiln
