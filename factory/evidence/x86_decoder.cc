// x86 by Zydis, which names the extension ("ISA set") of every instruction. Zydis is visible here only.
#include <Zydis/Zydis.h>

#include <array>
#include <map>
#include <string>

#include "factory/base/text.h"
#include "factory/evidence/instruction_decoder.h"

namespace kiln::evidence {
namespace {

// Zydis' names (Generated/EnumISASet.h) of what archspec names otherwise; the others are archspec's in
// capital letters. Those of AVX-512 are taken apart in avx512_set().
const std::map<std::string_view, std::vector<std::string>>& named_sets() {
  static const std::map<std::string_view, std::vector<std::string>> kNames = {
      {"SSE2MMX", {"sse2"}},      {"SSE3X87", {"sse3"}},
      {"SSSE3MMX", {"ssse3"}},    {"SSE4", {"sse4_1"}},
      {"SSE42", {"sse4_2"}},      {"CMPXCHG16B", {"cx16"}},
      {"AVXAES", {"avx", "aes"}}, {"AVX2GATHER", {"avx2"}},
      {"LZCNT", {"abm"}},         {"ADOX_ADCX", {"adx"}},
      {"SHA", {"sha_ni"}},        {"AVX_GFNI", {"avx", "gfni"}},
      {"VAES", {"avx", "vaes"}},  {"VPCLMULQDQ", {"avx", "vpclmulqdq"}}};
  return kNames;
}

// "AVX512_VBMI_256": avx512vbmi, and avx512vl for vectors of 128 and 256 bits ("128N" is a scalar move).
FeatureSet avx512_set(std::string_view name) {
  static const std::map<std::string_view, std::string_view> kNames = {{"AVX512_IFMA", "avx512ifma"},
                                                                      {"AVX512_VBMI", "avx512vbmi"},
                                                                      {"AVX512_GFNI", "gfni"},
                                                                      {"AVX512_VAES", "vaes"},
                                                                      {"AVX512_VPCLMULQDQ", "vpclmulqdq"}};
  std::size_t underscore = name.rfind('_');
  std::string_view size = name.substr(underscore + 1);
  auto found = kNames.find(name.substr(0, underscore));
  FeatureSet set = feature("x86_64", "avx512f");
  const std::string own(found == kNames.end() ? lower_case(name.substr(0, underscore)) : found->second);
  set |= set_of("x86_64", {own});
  if (size == "128" || size == "256") set |= feature("x86_64", "avx512vl");
  return set;
}

// By Zydis' number of the set, filled once: a map by name would be asked for every instruction.
using IsaTable = std::array<FeatureSet, ZYDIS_ISA_SET_MAX_VALUE + 1>;

const IsaTable& isa_table() {
  static const IsaTable kTable = [] {
    IsaTable table{};
    for (std::size_t i = 0; i < table.size(); ++i) {
      std::string_view name = ZydisISASetGetString(static_cast<ZydisISASet>(i));
      if (name.starts_with("AVX512"))
        table[i] = avx512_set(name);
      else if (auto found = named_sets().find(name); found != named_sets().end())
        table[i] = set_of("x86_64", found->second);
      else
        table[i] = set_of("x86_64", {lower_case(name)});
    }
    return table;
  }();
  return kTable;
}

class X86Decoder final : public InstructionDecoder {
 public:
  explicit X86Decoder(bool is_64) : is_64_(is_64), table_(isa_table()) {
    ZydisDecoderInit(&decoder_, is_64 ? ZYDIS_MACHINE_MODE_LONG_64 : ZYDIS_MACHINE_MODE_LEGACY_32,
                     is_64 ? ZYDIS_STACK_WIDTH_64 : ZYDIS_STACK_WIDTH_32);
  }

  // Without operands, which only text() needs: this runs for every instruction of an image. Never reads
  // beyond `bytes`.
  Decoded decode(std::string_view bytes, std::uint64_t address) override {
    ZydisDecodedInstruction instruction;
    Decoded decoded;
    if (!ZYAN_SUCCESS(
            ZydisDecoderDecodeInstruction(&decoder_, nullptr, bytes.data(), bytes.size(), &instruction)))
      return decoded;
    decoded.length = instruction.length;
    // F3 0F BC is BSF to processors without BMI1, and compilers write it for them, too.
    if (instruction.mnemonic != ZYDIS_MNEMONIC_TZCNT)
      decoded.features = table_[static_cast<std::size_t>(instruction.meta.isa_set)];
    decoded.asks_processor =
        instruction.mnemonic == ZYDIS_MNEMONIC_CPUID || instruction.mnemonic == ZYDIS_MNEMONIC_XGETBV;
    // CALL and Jcc are relative to the next instruction. An immediate of 32 bits may be an address (MOV edi,
    // imm32 of programs at a fixed address); who asks decides.
    const auto& raw = instruction.raw;
    std::uint64_t next = address + instruction.length;
    if (raw.imm[0].is_relative != 0)
      decoded.branch = next + static_cast<std::uint64_t>(raw.imm[0].value.s);
    else if (raw.imm[0].size == 32)
      decoded.absolute = raw.imm[0].value.u & 0xffffffff;
    // [RIP + disp32] is ModRM 00 xxx 101 in 64-bit mode (Intel SDM vol. 2, table 2-7).
    if (is_64_ && (instruction.attributes & ZYDIS_ATTRIB_HAS_MODRM) != 0 && raw.modrm.mod == 0 &&
        raw.modrm.rm == 5)
      decoded.address = next + static_cast<std::uint64_t>(raw.disp.value);
    return decoded;
  }

  std::string text(std::string_view bytes, std::uint64_t address) override {
    ZydisDecodedInstruction instruction;
    ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
    if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder_, bytes.data(), bytes.size(), &instruction, operands)))
      return "(bad)";
    ZydisFormatter formatter;
    ZydisFormatterInit(&formatter, ZYDIS_FORMATTER_STYLE_INTEL);
    char buffer[256];
    if (!ZYAN_SUCCESS(ZydisFormatterFormatInstruction(&formatter, &instruction, operands,
                                                      instruction.operand_count_visible, buffer,
                                                      sizeof buffer, address, nullptr)))
      return "(bad)";
    return buffer;
  }

 private:
  bool is_64_;
  const IsaTable& table_;
  ZydisDecoder decoder_;
};

}  // namespace

std::unique_ptr<InstructionDecoder> make_x86_decoder(bool is_64) {
  return std::make_unique<X86Decoder>(is_64);
}

}  // namespace kiln::evidence
