// What counts as chosen at run time, and what as just running.
#include "factory/evidence/dispatch.h"

#include "compiled.h"

namespace kiln::evidence {
namespace {

using testing::Compiler;
using testing::facts_of;
using testing::functions;

constexpr const char* kKernel = R"(
__attribute__((noinline, target("avx512f"))) static void KERNEL(float* x, long n) {
  for (long i = 0; i < n; ++i) x[i] = x[i] * 3 + 1;
}
)";

std::string with_kernel(const std::string& name, const std::string& rest) {
  std::string text = kKernel + rest;
  for (std::size_t at; (at = text.find("KERNEL")) != text.npos;) text.replace(at, 6, name);
  return text;
}

class DispatchTest : public ::testing::Test {
 protected:
  std::uint64_t count(const FileFacts& facts, Choice choice) { return functions(facts, "avx512f", choice); }
  std::uint64_t all(const FileFacts& facts) {
    std::uint64_t sum = 0;
    for (const auto& [choice, name] : kChoiceNames.rows) sum += count(facts, choice);
    return sum;
  }
  Compiler compiler;
};

TEST_F(DispatchTest, CodeThatIsJustCalledIsUnconditional) {
  FileFacts facts =
      facts_of(compiler.shared(with_kernel("work", "void api(float* x, long n) { KERNEL(x, n); }"), "-O3"));
  EXPECT_GE(count(facts, Choice::unconditional), 1u);
  ASSERT_TRUE(facts.features.at("avx512f").unconditional);
  EXPECT_EQ(facts.features.at("avx512f").unconditional->symbol, "work");
  EXPECT_NE(facts.features.at("avx512f").unconditional->instruction.find("zmm"), std::string::npos);
  EXPECT_TRUE(facts.queries.empty());
}

TEST_F(DispatchTest, ANameAloneExcusesNothing) {
  FileFacts facts = facts_of(
      compiler.shared(with_kernel("work_avx512", "void api(float* x, long n) { KERNEL(x, n); }"), "-O3"));
  EXPECT_GE(count(facts, Choice::unconditional), 1u);
}

TEST_F(DispatchTest, ANameCountsInAFileThatAsks) {
  FileFacts facts =
      facts_of(compiler.shared(with_kernel("work_avx512",
                                           "int asks(void) { return __builtin_cpu_supports(\"avx512f\"); }\n"
                                           "void api(float* x, long n) { KERNEL(x, n); }"),
                               "-O3"));
  EXPECT_EQ(count(facts, Choice::unconditional), 0u);
  EXPECT_EQ(count(facts, Choice::name), all(facts));
}

TEST_F(DispatchTest, ANameExcusesNoMoreThanItPromises) {
  FileFacts facts =
      facts_of(compiler.shared(with_kernel("work_avx2",
                                           "int asks(void) { return __builtin_cpu_supports(\"avx512f\"); }\n"
                                           "void api(float* x, long n) { KERNEL(x, n); }"),
                               "-O3"));
  EXPECT_GE(count(facts, Choice::unconditional), 1u);
}

TEST_F(DispatchTest, CalledByAFunctionThatAsks) {
  FileFacts facts = facts_of(compiler.shared(
      with_kernel("work",
                  "void api(float* x, long n) { if (__builtin_cpu_supports(\"avx512f\")) KERNEL(x, n); }"),
      "-O3"));
  EXPECT_EQ(count(facts, Choice::unconditional), 0u);
  EXPECT_EQ(count(facts, Choice::called), all(facts));
}

TEST_F(DispatchTest, OneCallerThatDoesNotAskIsEnough) {
  FileFacts facts = facts_of(compiler.shared(
      with_kernel("work",
                  "void api(float* x, long n) { if (__builtin_cpu_supports(\"avx512f\")) KERNEL(x, n); }\n"
                  "void other(float* x, long n) { KERNEL(x, n); }"),
      "-O3"));
  EXPECT_GE(count(facts, Choice::unconditional), 1u);
}

TEST_F(DispatchTest, AnInitialiserRunsBeforeAnybodyAsks) {
  FileFacts facts =
      facts_of(compiler.shared("int asks(void) { return __builtin_cpu_supports(\"avx512f\"); }\n"
                               "static float x[64];\n"
                               "__attribute__((constructor, target(\"avx512f\"))) static void start(void) {\n"
                               "  for (int i = 0; i < 64; ++i) x[i] = x[i] * 3 + 1; }",
                               "-O3"));
  EXPECT_GE(count(facts, Choice::unconditional), 1u);
}

TEST_F(DispatchTest, ResolversHandOutTheirCandidates) {
  FileFacts facts = facts_of(
      compiler.shared("__attribute__((target_clones(\"default\", \"avx2\", \"arch=skylake-avx512\")))\n"
                      "void api(float* x, long n) { for (long i = 0; i < n; ++i) x[i] = x[i] * 3 + 1; }",
                      "-O3"));
  EXPECT_GE(functions(facts, "avx512f", Choice::ifunc) + functions(facts, "avx512vl", Choice::ifunc), 1u);
  EXPECT_EQ(count(facts, Choice::unconditional), 0u);
  EXPECT_EQ(functions(facts, "avx2", Choice::unconditional), 0u);
}

// A static program has no dynamic section that would name its relocations.
TEST_F(DispatchTest, ResolversOfStaticProgramsHandOutTheirCandidates) {
  FileFacts facts = facts_of(
      compiler.compile("__attribute__((target_clones(\"default\", \"arch=skylake-avx512\"), noinline))\n"
                       "void api(float* x, long n) { for (long i = 0; i < n; ++i) x[i] = x[i] * 3 + 1; }\n"
                       "int main(int n, char** v) { api((float*)v, n); return 0; }",
                       "-O3 -static -s"));
  EXPECT_GE(functions(facts, "avx512f", Choice::ifunc) + functions(facts, "avx512vl", Choice::ifunc), 1u);
  EXPECT_EQ(functions(facts, "avx512f", Choice::unconditional), 0u);
}

TEST_F(DispatchTest, KernelsInATableOfAFileThatAsks) {
  std::string table =
      "void (*const kernels[])(float*, long) = {KERNEL};\n"
      "int asks(void) { return __builtin_cpu_supports(\"avx512f\"); }";
  EXPECT_EQ(count(facts_of(compiler.stripped(with_kernel("work", table), "-O3")), Choice::unconditional), 0u);
  // The same table in a file that never asks.
  FileFacts careless = facts_of(
      compiler.stripped(with_kernel("work", "void (*const kernels[])(float*, long) = {KERNEL};"), "-O3"));
  EXPECT_GE(count(careless, Choice::unconditional), 1u);
}

// As in BoringSSL: the kernel uses SSSE3, the function whose address is taken does not.
TEST_F(DispatchTest, AKernelBehindAFunctionOfTheBaselineIsKnownByItsName) {
  const std::string kernel =
      "#include <tmmintrin.h>\n"
      "__attribute__((noinline, target(\"ssse3\"))) static void NAME_core(__m128i* x) {\n"
      "  *x = _mm_shuffle_epi8(*x, x[1]);\n}\n"
      "__attribute__((noinline)) static void NAME(__m128i* x) { NAME_core(x); }\n"
      "void (*const methods[])(__m128i*) = {NAME};\n"
      "int asks(void) { return __builtin_cpu_supports(\"ssse3\"); }\n";
  auto unconditional = [&](const std::string& name) {
    std::string text = kernel;
    for (std::size_t at; (at = text.find("NAME")) != text.npos;) text.replace(at, 4, name);
    return functions(facts_of(compiler.shared(text, "-O2")), "ssse3", Choice::unconditional);
  };
  EXPECT_EQ(unconditional("vpaes_encrypt"), 0u);
  EXPECT_EQ(unconditional("work"), 1u) << "a name that promises nothing";
}

TEST_F(DispatchTest, AFileCompiledForTheTierAsAWholeIsNotMixed) {
  std::string many = "int asks(void) { return __builtin_cpu_supports(\"avx512f\"); }\n";
  for (int i = 0; i < 8; ++i) {
    std::string n = std::to_string(i);
    many += "__attribute__((noinline)) static void f" + n +
            "(float* x, long n) { for (long i = 0; i < n; ++i) x[i] *= " + n + ".5f; }\nvoid g" + n +
            "(float* x, long n) { f" + n + "(x, n); }\n";
  }
  FileFacts facts = facts_of(compiler.stripped(many, "-O3 -march=skylake-avx512 -mprefer-vector-width=512"));
  EXPECT_GE(count(facts, Choice::unconditional), 8u);
}

// The functions of BoringSSL, aws-lc and ring that need more than SSE2 and whose names say it in no other
// way: all of them, from their perlasm at the commits that the table names. `aws_lc_0_45_0_` and
// `ring_core_0_17_8_` stand before them in Rust's crates.
TEST(DispatchNames, KernelsOfBoringSslAndItsKinAreKnown) {
  const std::pair<Tier, std::vector<const char*>> kernels[] = {
      {Tier::v2,
       {"_vpaes_decrypt_core", "_vpaes_encrypt_core", "_vpaes_encrypt_core_2x", "_vpaes_schedule_core",
        "_vpaes_schedule_low_round", "_vpaes_schedule_mangle", "_vpaes_schedule_round",
        "_vpaes_schedule_transform", "vpaes_encrypt", "vpaes_ctr32_encrypt_blocks",
        "aws_lc_0_45_0_vpaes_set_encrypt_key", "chacha20_poly1305_open", "chacha20_poly1305_seal"}},
      {Tier::v3,
       {"sha1_block_data_order_hw",
        "sha256_block_data_order_hw",
        "ring_core_0_17_8_sha256_block_data_order_hw",
        "sha1_block_data_order_shaext",
        "__ecp_nistz256_mul_montx",
        "__ecp_nistz256_sqr_montx",
        "ecp_nistz256_ord_mul_montx",
        "ecp_nistz256_ord_sqr_montx",
        "beeu_mod_inverse_vartime",
        "bignum_montmul_p384",
        "bignum_kmul_16_32",
        "curve25519_x25519base",
        "edwards25519_scalarmuldouble",
        "p256_montjscalarmul",
        "p521_jdouble",
        "mlkem_ntt_x86",
        "sha3_keccak4_f1600",
        "aes_hw_ctr32_encrypt_blocks",
        "gcm_ghash_avx",
        "aesni_gcm_encrypt",
        "fiat_p256_adx_mul",
        "bn_mulx4x_mont"}},
      {Tier::v4,
       {"extract_multiplier_2x20_win5", "ossl_extract_multiplier_2x30_win5", "aes_gcm_encrypt_avx512",
        "gcm_ghash_vpclmulqdq_avx512", "rsaz_amm52x20_x1_ifma256"}}};
  for (const auto& [tier, names] : kernels)
    for (const char* name : names) EXPECT_GE(dispatch_names().tier_of(name), tier) << name;
}

TEST(DispatchNames, AnotherTableIsAnotherVersionOfWhatIsFound) {
  const char* table =
      R"({"variants": [{"contains": ["N_AVX3"], "tier": "v4", "reason": "r"}], "vector_abi": [],
                         "queries": [], "hwcaps": []})";
  EXPECT_NE(read_dispatch_names(table).digest, dispatch_names().digest);
  EXPECT_EQ(dispatch_table(), dispatch_names().digest.hex());
}

TEST(DispatchNames, EveryEntryIsRead) {
  const DispatchNames& names = dispatch_names();
  EXPECT_EQ(names.tier_of_abi("__arm_tpidr2_restore"), Tier::v4);
  EXPECT_EQ(names.tier_of("_ZN2at6native6AVX51212_GLOBAL__N_1L3addE"), Tier::v4);
  EXPECT_EQ(names.tier_of("sgemm_kernel_HASWELL"), Tier::v3);
  EXPECT_EQ(names.tier_of("_ZN3jxl6N_AVX39InvHSqueezeERNS_5ImageEjjPNS_10ThreadPoolE"), Tier::v4);
  EXPECT_EQ(names.tier_of("_ZN3jxl6N_AVX29InvHSqueezeERNS_5ImageEjjPNS_10ThreadPoolE"), Tier::v3);
  EXPECT_EQ(names.tier_of("ossl_aes_cfb128_vaes_enc"), Tier::v4);
  EXPECT_EQ(names.tier_of("poly1305_blocks_vpmadd52"), Tier::v4);
  EXPECT_EQ(names.tier_of("aes_hw_encrypt"), Tier::v3);
  EXPECT_EQ(names.tier_of("mkl_vml_kernel_dPowx_B3EPnnn"), Tier::v4);
  EXPECT_EQ(names.tier_of("par_cvFltBlkJitDCFwdToSimple"), Tier::v4);
  EXPECT_EQ(names.tier_of("mkl_blas_def_zgemm_kernel_0_bdz"), Tier::v3);
  EXPECT_EQ(names.tier_of("_ZN5arrow7compute8internal8MeanImplINS_7Int8ELNS0_9SimdLevel4typeE4E"), Tier::v4);
  EXPECT_EQ(names.tier_of("_ZN5arrow7compute8internal8MeanImplINS_7Int8ELNS0_9SimdLevel4typeE0E"),
            Tier::baseline);
  EXPECT_EQ(names.tier_of("memcpy"), Tier::baseline);
  EXPECT_EQ(names.tier_of("std::frozen"), Tier::baseline);
  EXPECT_EQ(names.tier_of_abi("_ZGVdN4v_sin"), Tier::v3);
  EXPECT_TRUE(names.is_query("__cpu_model@GCC_4.8.0"));
  EXPECT_FALSE(names.is_query("__cpu_mode"));
  EXPECT_EQ(tier_of_folder("/usr/lib/x86_64-linux-gnu/glibc-hwcaps/x86-64-v3/libx.so"), Tier::v3);
  EXPECT_EQ(tier_of_folder("/usr/lib/libx.so"), Tier::baseline);
}

}  // namespace
}  // namespace kiln::evidence
