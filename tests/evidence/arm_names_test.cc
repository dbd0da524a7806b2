// Names of code for Arm that is chosen at run time, as wheels of the package index have them.
#include <gtest/gtest.h>

#include "factory/evidence/dispatch.h"

namespace kiln::evidence {
namespace {

TEST(ArmNames, KernelsOfOpenBlasAreForOneProcessorEach) {
  for (const char* name :
       {"bgemv_n_NEOVERSEV1", "sbgemm_small_kernel_nn_NEOVERSEN2", "sbgemm_small_kernel_tn_ARMV9SME",
        "dgemm_kernel_A64FX", "sdot_k_ARMV8SVE", "sbgemm_kernel_neoversev1_alpha_one",
        "_ZN2at6native6SVE25615vectorized_loopEv", "_ZN3ynn6sme_vlEf"})
    EXPECT_EQ(dispatch_names().tier_of(name), Tier::v4) << name;
  for (const char* name : {"dgemm_kernel_NEOVERSEN1", "sgemm_kernel_THUNDERX3T110", "zdot_k_TSV110"})
    EXPECT_EQ(dispatch_names().tier_of(name), Tier::v3) << name;
  for (const char* name : {"dgemm_kernel_ARMV8", "dgemm_kernel_CORTEXA57", "cblas_dgemm"})
    EXPECT_EQ(dispatch_names().tier_of(name), Tier::baseline) << name;
}

TEST(ArmNames, LibrariesNameTheExtension) {
  for (const char* name : {"_ZN8arm_gemm22sme2_gemv_bf16fp32_dot_16VLEPKN11arm_compute8bfloat16ES3_",
                           "_ZN8arm_gemm26a64_hybrid_s8qa_mmla_4x16EjPKj",
                           "_ZN8arm_conv9depthwise27interleave_a64_s8q_3x3_dot15pack_parametersEj"})
    EXPECT_EQ(dispatch_names().tier_of(name), Tier::v4) << name;
  for (const char* name : {"kai_run_matmul_clamp_f32_qai8dxp4x8_qsi4cxp8x8_8x8x32_neon_i8mm",
                           "kai_run_matmul_clamp_f32_qai8dxp1x8_qsi4cxp8x8_1x8x32_neon_dotprod",
                           "_ZN6tflite12tensor_utils43DotprodMatrixBatchFourVectorMultiplyAccumulateEPKa"})
    EXPECT_EQ(dispatch_names().tier_of(name), Tier::v3) << name;
  for (const char* name : {"sha1_block_armv8", "sha256_block_armv8", "aes_gcm_enc_kernel", "gcm_ghash_v8"})
    EXPECT_GE(dispatch_names().tier_of(name), Tier::v2) << name;
  EXPECT_TRUE(dispatch_names().is_query("OPENSSL_armcap_P"));
}

}  // namespace
}  // namespace kiln::evidence
