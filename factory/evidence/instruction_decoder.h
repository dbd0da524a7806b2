// Decodes the properties of one instruction that code_scan needs, for each architecture.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "factory/evidence/elf_file.h"
#include "factory/evidence/feature.h"

namespace kiln::evidence {

struct Decoded {
  unsigned length = 0;  // bytes; 0: no instruction
  FeatureSet features = 0;
  std::uint64_t branch = 0;   // target of a direct call or jump, 0: none
  std::uint64_t address = 0;  // of memory read or written, or taken, relative to the program counter; 0: none
  std::uint64_t absolute = 0;  // an immediate that may be an address in code that is not position-independent
  bool asks_processor = false;
  bool tests_for_atomics = false;  // the end of the words by which out-of-line atomics choose
};

// Keeps state between instructions of one function (AArch64 builds addresses in two steps): one object for
// each thread, reset() at each function.
class InstructionDecoder {
 public:
  virtual ~InstructionDecoder() = default;
  virtual void reset() {}
  virtual Decoded decode(std::string_view bytes, std::uint64_t address) = 0;
  virtual std::string text(std::string_view bytes, std::uint64_t address) = 0;
};

std::unique_ptr<InstructionDecoder> make_arm_decoder();

// x86-64, or i386 when not `is_64`.
std::unique_ptr<InstructionDecoder> make_x86_decoder(bool is_64);

}  // namespace kiln::evidence
