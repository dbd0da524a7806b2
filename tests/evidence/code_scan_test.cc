// Which extension an instruction belongs to: real instructions through the real assembler.
#include "factory/evidence/code_scan.h"

#include <nlohmann/json.hpp>

#include "compiled.h"
#include "factory/evidence/arm_decoder.h"
#include "factory/evidence/file_examiner.h"
#include "factory/evidence/x86_decoder.h"

namespace kiln::evidence {
namespace {

struct Case {
  const char* assembly;
  std::vector<std::string> features;
};

class X86Features : public ::testing::TestWithParam<Case> {};

TEST_P(X86Features, AreThoseOfTheInstruction) {
  std::string source = std::string("asm(\".globl f\\n.type f, @function\\nf: ") + GetParam().assembly +
                       "\\nret\\n.size f, .-f\");";
  FileFacts facts = testing::facts_of(testing::Compiler().shared(source));
  std::vector<std::string> found;
  for (const Feature& feature : feature_table()) {
    auto fact = facts.features.find(std::string(feature.name));
    if (feature.family == "x86_64" && feature.tier != Tier::baseline && fact != facts.features.end())
      found.emplace_back(feature.name);
  }
  EXPECT_EQ(found, GetParam().features) << GetParam().assembly;
}

INSTANTIATE_TEST_SUITE_P(
    Instructions, X86Features,
    ::testing::Values(Case{"addsubps %xmm1, %xmm0", {"sse3"}}, Case{"pshufb %xmm1, %xmm0", {"ssse3"}},
                      Case{"pmulld %xmm1, %xmm0", {"sse4_1"}}, Case{"crc32l %eax, %ecx", {"sse4_2"}},
                      Case{"popcnt %eax, %ecx", {"popcnt"}}, Case{"vaddps %ymm0, %ymm1, %ymm2", {"avx"}},
                      Case{"vpaddd %ymm0, %ymm1, %ymm2", {"avx2"}},
                      Case{"vfmadd213ps %ymm0, %ymm1, %ymm2", {"fma"}},
                      Case{"vcvtph2ps %xmm0, %ymm1", {"f16c"}}, Case{"andn %eax, %ebx, %ecx", {"bmi1"}},
                      Case{"shlx %eax, %ebx, %ecx", {"bmi2"}}, Case{"lzcnt %eax, %ecx", {"abm"}},
                      Case{"movbe (%rax), %ecx", {"movbe"}}, Case{"aesenc %xmm0, %xmm1", {"aes"}},
                      Case{"pclmulqdq $0, %xmm0, %xmm1", {"pclmulqdq"}},
                      Case{"sha256msg1 %xmm0, %xmm1", {"sha_ni"}}, Case{"adcx %eax, %ecx", {"adx"}},
                      Case{"vaddps %zmm0, %zmm1, %zmm2", {"avx512f"}},
                      Case{"vaddps %xmm0, %xmm17, %xmm2", {"avx512f", "avx512vl"}},
                      Case{"vpaddb %zmm0, %zmm1, %zmm2", {"avx512f", "avx512bw"}},
                      Case{"vpmullq %zmm0, %zmm1, %zmm2", {"avx512f", "avx512dq"}},
                      Case{"vpconflictd %zmm0, %zmm1", {"avx512f", "avx512cd"}},
                      Case{"vpermb %zmm0, %zmm1, %zmm2", {"avx512f", "avx512vbmi"}},
                      Case{"vpdpbusd %zmm0, %zmm1, %zmm2", {"avx512f", "avx512_vnni"}},
                      Case{"vdpbf16ps %zmm0, %zmm1, %zmm2", {"avx512f", "avx512_bf16"}},
                      Case{"vaddph %zmm0, %zmm1, %zmm2", {"avx512f", "avx512_fp16"}},
                      Case{"vpmadd52luq %zmm0, %zmm1, %zmm2", {"avx512f", "avx512ifma"}},
                      Case{"{vex} vpdpbusd %ymm0, %ymm1, %ymm2", {"avx_vnni"}},
                      Case{"tdpbssd %tmm0, %tmm1, %tmm2", {"amx_int8"}}, Case{"tilezero %tmm0", {"amx_tile"}},
                      // What compilers write for every processor, and older ones read otherwise.
                      Case{"tzcnt %eax, %ecx", {}}, Case{"endbr64", {}}, Case{"pause", {}},
                      Case{"addps %xmm0, %xmm1", {}}));

TEST(X86Decoder, FollowsBranchesAndAddresses) {
  auto decoder = make_x86_decoder(true);
  EXPECT_EQ(decoder->decode(std::string_view("\xe8\x10\x00\x00\x00", 5), 0x1000).branch, 0x1015u);
  EXPECT_EQ(decoder->decode(std::string_view("\x48\x8d\x05\x10\x00\x00\x00", 7), 0x1000).address, 0x1017u);
  EXPECT_TRUE(decoder->decode(std::string_view("\x0f\xa2", 2), 0).asks_processor);
  EXPECT_EQ(decoder->decode(std::string_view("\x0f\xff\xff", 1), 0).length, 0u);  // cut off
  EXPECT_EQ(decoder->decode("", 0).length, 0u);
}

// Words as llvm-mc 14 assembles them.
TEST(ArmDecoder, TellsExtensionsApart) {
  auto decoder = make_arm_decoder();
  auto features = [&](std::uint32_t word) {
    return names_of(decoder->decode({reinterpret_cast<const char*>(&word), 4}, 0x1000).features);
  };
  using Names = std::vector<std::string>;
  EXPECT_EQ(features(0x65820020), Names{"sve"});            // fadd z0.s, z1.s, z2.s
  EXPECT_EQ(features(0x04e0e3e1), Names{"sve"});            // cntd x1
  EXPECT_EQ(features(0x04e0e3e0), Names{});                 // cntd x0, of libgcc's unwinder
  EXPECT_EQ(features(0x45420020), (Names{"sve", "sve2"}));  // saddlb z0.h, z1.b, z2.b
  EXPECT_EQ(features(0xb8210062), Names{"atomics"});        // ldadd w1, w2, [x3]
  EXPECT_EQ(features(0x88a17c62), Names{"atomics"});        // cas w1, w2, [x3]
  EXPECT_EQ(features(0xb8bfc062), Names{});                 // ldapr w2, [x3]
  EXPECT_EQ(features(0x1ac24020), Names{"crc32"});          // crc32b w0, w1, w2
  EXPECT_EQ(features(0x4e284820), Names{"aes"});            // aese v0.16b, v1.16b
  EXPECT_EQ(features(0x4e829420), Names{"asimddp"});        // sdot v0.4s, v1.16b, v2.16b
  EXPECT_EQ(features(0x4e82a420), Names{"i8mm"});           // smmla v0.4s, v1.16b, v2.16b
  EXPECT_EQ(features(0x6e42fc20), Names{"bf16"});           // bfdot v0.4s, v1.8h, v2.8h
  EXPECT_EQ(features(0x1ee22820), Names{"asimdhp"});        // fadd h0, h1, h2
  EXPECT_EQ(features(0x1ee24020), Names{});                 // fcvt s0, h1
  EXPECT_EQ(features(0x4e22d420), Names{});                 // fadd v0.4s, v1.4s, v2.4s
  EXPECT_EQ(features(0xd503201f), Names{});                 // nop
  std::uint32_t branch = 0x94000004;
  EXPECT_EQ(decoder->decode({reinterpret_cast<const char*>(&branch), 4}, 0x1000).branch, 0x1010u);
  EXPECT_EQ(decoder->decode("abc", 0).length, 0u);
}

// As aarch64-linux-gnu-gcc 12 has __aarch64_cas4_acq in a static program of Debian 12.
TEST(ArmDecoder, KnowsTheTestBeforeAnOutOfLineAtomic) {
  auto decoder = make_arm_decoder();
  auto last_of = [&](std::vector<std::uint32_t> words) {
    bool found = false;
    decoder->reset();
    for (std::uint32_t word : words)
      found = decoder->decode({reinterpret_cast<const char*>(&word), 4}, 0x1000).tests_for_atomics;
    return found;
  };
  constexpr std::uint32_t adrp = 0xd0000950, ldrb = 0x39566210, cbz = 0x34000070, cas = 0x88a07c41;
  EXPECT_TRUE(last_of({adrp, ldrb, cbz}));
  EXPECT_TRUE(last_of({adrp, adrp, ldrb, cbz}));
  EXPECT_FALSE(last_of({adrp, ldrb, cbz, cas}));
  EXPECT_FALSE(last_of({adrp, ldrb, cas}));
  EXPECT_FALSE(last_of({adrp, cbz}));
  EXPECT_FALSE(last_of({ldrb, cbz}));
  EXPECT_FALSE(last_of({adrp, ldrb, 0x34000071})) << "cbz w17";
}

TEST(CodeScan, DoesNotDependOnTheNumberOfThreads) {
  std::string bytes = testing::Compiler().shared(
      "void f(float* x, long n) { for (long i = 0; i < n; ++i) x[i] = x[i] * 3 + 1; }", "-O3 -march=haswell");
  EXPECT_EQ(to_json(examine(bytes, 1)), to_json(examine(bytes, 7)));
}

TEST(CodeScan, BytesThatAreNoCodeAreNotJudged) {
  // 62 f1 7c 48 58 c1 is vaddps zmm0, zmm0, zmm1; here it stands behind bytes that are no instruction.
  FileFacts facts = testing::facts_of(testing::Compiler().shared(
      "asm(\".text\\n.byte 0x06, 0x06, 0x62, 0xf1, 0x7c, 0x48, 0x58, 0xc1\\n.skip 8, 0x06\");\n"
      "int f(void) { return 1; }"));
  EXPECT_EQ(testing::functions(facts, "avx512f", Choice::unconditional), 0u);
  EXPECT_GT(facts.undecodable_bytes, 0u);
}

TEST(FileFacts, SurviveTheCache) {
  FileFacts facts = testing::facts_of(
      testing::Compiler().shared("#include <stdio.h>\nvoid f(float* x, long n) { puts(\"\"); for (long i = "
                                 "0; i < n; ++i) x[i] = x[i] * 3 + 1; }",
                                 "-O3 -march=skylake-avx512"));
  Content content;
  content.facts = facts;
  EXPECT_EQ(to_json(*content_from_bytes(to_bytes(content)).facts), to_json(facts));
}

}  // namespace
}  // namespace kiln::evidence
