// The small readers: wheels, secrets, CUDA's tables.
#include <gtest/gtest.h>

#include "factory/lint/checks.h"
#include "factory/lint/release_facts.h"
#include "factory/source/secret_words.h"

namespace kiln::lint {
namespace {

TEST(Wheels, AreTakenApart) {
  EXPECT_EQ(wheel_name("dist/torch-1.4.0-cp36-cp36m-linux_x86_64.whl"),
            "torch-1.4.0-cp36-cp36m-linux_x86_64.whl");
  EXPECT_EQ(wheel_name("dist/*.whl"), "");
  EXPECT_EQ(wheel_python("torch-1.4.0-cp36-cp36m-linux_x86_64.whl"), "cp36");
  EXPECT_EQ(wheel_python("six-1.0-py2.py3-none-any.whl"), "");
  EXPECT_EQ(wheel_python("x-1-cp37-abi3-linux_x86_64.whl"), "");
}

TEST(Secrets, AreKnownByNamePrefixAndEntropy) {
  EXPECT_NE(secret_in("DB_PASSWORD", "hunter2hunter2"), "");
  EXPECT_NE(secret_in("X", "AKIA0123456789ABCDEF"), "");
  EXPECT_NE(secret_in("X", "q7Zp2LxV9aTn4RkW8sYd3MfB6cHj1Eug"), "");
  EXPECT_EQ(secret_in("TOKENIZERS_PARALLELISM", "something"), "");
  EXPECT_EQ(secret_in("TOKEN", "$TOKEN"), "");
  EXPECT_EQ(secret_in("SECRET_FILE", "/run/secrets/a"), "");
  EXPECT_EQ(secret_in("CHECKSUM", "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"), "");
  EXPECT_EQ(secret_in("PATH", "/opt/kiln/pytorch/bin:/usr/local/cuda/bin:/usr/local/sbin:/usr/local/bin"),
            "");
}

TEST(CudaLimits, AreTheDocumentedOnes) {
  EXPECT_EQ(smallest_driver("10.1"), "418.39");
  EXPECT_EQ(smallest_driver("11.8"), "450.80.02");
  EXPECT_EQ(smallest_driver("12.4.1"), "525.60.13");
  EXPECT_EQ(smallest_driver("none"), std::nullopt);
  EXPECT_EQ(smallest_driver("7.5"), std::nullopt);
  EXPECT_FALSE(capability_gap("10.1", "sm_80").reason.empty());
  EXPECT_FALSE(capability_gap("10.1", "sm_80").dropped);
  EXPECT_TRUE(capability_gap("13.0", "sm_61").dropped);
  EXPECT_TRUE(capability_gap("12.8", "sm_100").reason.empty());
  EXPECT_FALSE(capability_gap("11.8", "sm_90a").reason.empty());
  EXPECT_TRUE(capability_gap("11.8", "sm_999").reason.empty());
  EXPECT_EQ(newest_host_compiler("10.1", "gcc"), "8");
  EXPECT_EQ(newest_host_compiler("12.6", "gcc"), "13");
  EXPECT_EQ(newest_host_compiler("12.6", "clang"), "18");
  EXPECT_EQ(newest_host_compiler("14.0", "gcc"), std::nullopt);
  EXPECT_EQ(last_cuda_for("ppc64le"), "12.4");
  EXPECT_EQ(last_cuda_for("x86_64"), std::nullopt);
}

}  // namespace
}  // namespace kiln::lint
