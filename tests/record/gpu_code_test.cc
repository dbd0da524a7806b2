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
