// AArch64: 32-bit words, told apart by fixed bits (Arm ARM DDI 0487, chapter C4, "A64 instruction set
// encoding"). The disassemblers of Debian 12 that have an API either know no SVE (Capstone 4) or no AArch64
// (Zydis); which extension a word belongs to needs no full disassembler.
#include <fmt/format.h>

#include <array>

#include "factory/evidence/byte_reader.h"
#include "factory/evidence/instruction_decoder.h"
#include "factory/evidence/sve2_words.h"

namespace kiln::evidence {
namespace {

// A word belongs to the first row whose fixed bits it has. Exceptions to a row stand above it, with the
// feature "".
struct Pattern {
  std::uint32_t mask;
  std::uint32_t value;
  std::string_view feature;  // "" takes the word out of the patterns below
  std::string_view what;
};

constexpr Pattern kPatterns[] = {
    {0x3ffffc00, 0x38bfc000, "", "ldapr"},
    {0x3f200c00, 0x38200000, "atomics", "atomic read-modify-write (LSE)"},
    {0x3fa07c00, 0x08a07c00, "atomics", "cas"},
    {0xbfa07c00, 0x08207c00, "atomics", "casp"},
    {0x7fe0e000, 0x1ac04000, "crc32", "crc32"},
    {0xffffcc00, 0x4e284800, "aes", "aese/aesd/aesmc/aesimc"},
    {0xffffcc00, 0x5e280800, "sha2", "sha1h/sha1su1/sha256su0"},
    {0xffe08c00, 0x5e000000, "sha2", "sha1/sha256, three registers"},
    {0x9fe0fc00, 0x0e809400, "asimddp", "sdot/udot"},
    {0x9fc0f400, 0x0f80e000, "asimddp", "sdot/udot, by element"},
    {0xdfe0f400, 0x4e80a400, "i8mm", "smmla/ummla/usmmla"},
    {0xbfe0fc00, 0x0e809c00, "i8mm", "usdot"},
    {0xbfe0fc00, 0x2e40fc00, "bf16", "bfdot"},
    {0xffe0fc00, 0x6e40ec00, "bf16", "bfmmla"},
    {0xbfe0fc00, 0x2ec0fc00, "bf16", "bfmlalb/bfmlalt"},
    {0xbffffc00, 0x0ea16800, "bf16", "bfcvtn"},
    {0xfffffc00, 0x1e634000, "bf16", "bfcvt"},
    {0xfffffc00, 0x1ee24000, "", "fcvt s, h"},
    {0xfffffc00, 0x1ee2c000, "", "fcvt d, h"},
    {0xffe00000, 0x1ee00000, "asimdhp", "half-precision arithmetic"},
    {0x9f60c400, 0x0e400400, "asimdhp", "half-precision vector arithmetic"},
};

// cntd x0: libgcc's unwinder asks so for the length of SVE's registers, once it has met a frame with some
// (libgcc/config/aarch64/value-unwind.h). Functions that use SVE have other words of it, too.
constexpr std::uint32_t kUnwindersSve = 0x04e0e3e0;

struct Meaning {
  FeatureSet features = 0;
  std::string_view what;
};

Meaning meaning_of(std::uint32_t word) {
  static const FeatureSet kSve = feature("aarch64", "sve"), kSve2 = feature("aarch64", "sve2"),
                          kSme = feature("aarch64", "sme");
  // op0, bits 28:25 (C4.1): 0010 is SVE; 0000 with bit 31 set is SME.
  unsigned group = word >> 25 & 15;
  if (group == 2 && word != kUnwindersSve)
    return is_sve2(word) ? Meaning{kSve | kSve2, "SVE2"} : Meaning{kSve, "SVE"};
  if (group == 0 && (word >> 31) != 0) return {kSme, "SME"};
  for (const Pattern& pattern : kPatterns)
    if ((word & pattern.mask) == pattern.value)
      return {pattern.feature.empty() ? 0 : feature("aarch64", pattern.feature), pattern.what};
  return {};
}

// Two's complement of `bits` bits.
std::int64_t signed_bits(std::uint32_t value, unsigned bits) {
  std::int64_t top = std::int64_t{1} << (bits - 1);
  return (static_cast<std::int64_t>(value) ^ top) - top;
}

class ArmDecoder final : public InstructionDecoder {
 public:
  void reset() override {
    pages_ = {};
    test_ = 0;
  }

  Decoded decode(std::string_view bytes, std::uint64_t address) override {
    Decoded decoded;
    if (bytes.size() < 4) return decoded;
    auto word = number_at<std::uint32_t>(bytes, 0);
    decoded.length = 4;
    // Most words are of the groups below; looking at the patterns for the others only keeps the sweep fast.
    unsigned group = word >> 25 & 15;
    if (group == 2 || group == 7 || group == 15 || group == 4 || group == 12 || group == 13 || group == 0)
      decoded.features = meaning_of(word).features;
    decoded.asks_processor = (word & 0xfffff000) == 0xd5380000;  // MRS of ID_AA64*
    // B and BL with 26 bits, B.cond with 19, all in words of 4 bytes. CBZ and TBZ stay within their function.
    if ((word & 0x7c000000) == 0x14000000)
      decoded.branch = address + static_cast<std::uint64_t>(signed_bits(word & 0x3ffffff, 26) * 4);
    if ((word & 0xff000000) == 0x54000000)
      decoded.branch = address + static_cast<std::uint64_t>(signed_bits(word >> 5 & 0x7ffff, 19) * 4);
    decoded.address = address_of(word, address);
    decoded.tests_for_atomics = ends_test_for_atomics(word);
    return decoded;
  }

  std::string text(std::string_view bytes, std::uint64_t) override {
    auto word = number_at<std::uint32_t>(bytes, 0);
    return fmt::format("{:08x} ({})", word, meaning_of(word).what);
  }

 private:
  // ADRP gives a register a page; ADD, LDR and STR on that register complete the address.
  std::uint64_t address_of(std::uint32_t word, std::uint64_t address) {
    // Immediates of ADRP: immhi in bits 23:5, immlo in 30:29, in pages of 4 KiB. ADD (0x91) has the rest in
    // bits 21:10; LDR and STR (0x39) the same, scaled by the size of what is loaded. A register that is
    // written otherwise in between is not noticed: a wrong address is one that no function or word begins at.
    unsigned target = word & 31, base = word >> 5 & 31;
    if ((word & 0x9f000000) == 0x90000000) {
      std::int64_t pages = signed_bits((word >> 5 & 0x7ffff) << 2 | (word >> 29 & 3), 21);
      pages_[target] = (address & ~std::uint64_t{0xfff}) + static_cast<std::uint64_t>(pages * 4096);
      return 0;
    }
    if (pages_[base] == 0) return 0;
    std::uint64_t offset = word >> 10 & 0xfff;
    if ((word & 0xffc00000) == 0x91000000) {
      std::uint64_t whole = pages_[base] + offset;
      pages_[target] = 0;
      return whole;
    }
    if ((word & 0x3f000000) == 0x39000000) return pages_[base] + (offset << (word >> 30));
    return 0;
  }

  // adrp x16, PAGE; ldrb w16, [x16, OFFSET]; cbz w16, FALLBACK: how each helper of -moutline-atomics begins,
  // in GCC (libgcc/config/aarch64/lse.S, JUMP_IF_NOT_LSE) and in LLVM
  // (compiler-rt/lib/builtins/aarch64/lse.S). A stripped file keeps no other sign of them.
  bool ends_test_for_atomics(std::uint32_t word) {
    const bool ends = test_ == 2 && (word & 0xff00001f) == 0x34000010;
    if (test_ == 1 && (word & 0xffc003ff) == 0x39400210)
      test_ = 2;
    else
      test_ = (word & 0x9f00001f) == 0x90000010 ? 1 : 0;
    return ends;
  }

  std::array<std::uint64_t, 32> pages_{};
  int test_ = 0;  // how many words of it were just seen
};

}  // namespace

std::unique_ptr<InstructionDecoder> make_arm_decoder() { return std::make_unique<ArmDecoder>(); }

}  // namespace kiln::evidence
