#include "registry/select/query_clauses.h"
#include "select/select_samples.h"

namespace kiln {
namespace {

using testing::archspec;

std::string lacks(const ImageQuery& asked, const std::string& cpu,
                  std::vector<std::string> accelerators = {}) {
  HostDescription host;
  host.cpu = cpu;
  host.accelerators = std::move(accelerators);
  return what_it_lacks(host, asked, archspec());
}

TEST(AskedHost, LacksAProcessorOfAnotherFamily) {
  ImageQuery asked = testing::query();
  EXPECT_EQ(lacks(asked, "haswell"), "");
  asked.cpu_type = "arm";
  EXPECT_EQ(lacks(asked, "haswell"), "is x86_64, and the document asks for arm");
  EXPECT_EQ(lacks(asked, "neoverse_v1"), "");
  asked.cpu_type = "power";
  EXPECT_EQ(lacks(asked, "power9"), "") << "big-endian, if it is what is there";
  asked.cpu_type = "amd";
  EXPECT_EQ(lacks(asked, "haswell"), "has a processor of GenuineIntel, and the document asks for amd");
  EXPECT_EQ(lacks(asked, "x86_64_v3"), "") << "whose it is, is not known";
}

TEST(AskedHost, LacksATargetThatItDoesNotRun) {
  ImageQuery asked = testing::query();
  asked.cpu = "skylake_avx512";
  EXPECT_EQ(lacks(asked, "haswell"), "runs no code for skylake_avx512, which the document asks for");
  EXPECT_EQ(lacks(asked, "icelake"), "");
}

TEST(AskedHost, LacksAnAccelerator) {
  ImageQuery asked = testing::query();
  asked.acc_type = "nvidia";
  EXPECT_EQ(lacks(asked, "haswell"), "has no nvidia accelerator, which the document asks for");
  EXPECT_EQ(lacks(asked, "haswell", {"amd:gfx90a"}),
            "has no nvidia accelerator, which the document asks for");
  EXPECT_EQ(lacks(asked, "haswell", {"nvidia"}), "");
  asked.gpu = "sm_90";
  EXPECT_EQ(lacks(asked, "haswell", {"nvidia:sm_61"}), "has no sm_90, which the document asks for");
  EXPECT_EQ(lacks(asked, "haswell", {"nvidia:sm_61", "nvidia:sm_90"}), "");
}

}  // namespace
}  // namespace kiln
