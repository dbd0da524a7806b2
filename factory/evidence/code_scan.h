// One pass over the machine code of a file: the features that each function uses, the functions that it calls
// or whose address it takes, and whether it queries the processor. Linear sweep from the beginning of each
// function, in parallel.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "factory/evidence/feature.h"
#include "factory/evidence/function_map.h"

namespace kiln::evidence {

struct FunctionScan {
  FeatureSet features = 0;      // up to the first undecodable byte: what follows data may be out of step
  bool legacy_sse = false;      // SSE2 and older in their own encoding, which no compiler mixes with AVX's
  bool asks_processor = false;  // CPUID, XGETBV; MRS of an ID register
  bool out_of_line_atomic = false;  // GCC's and LLVM's helper that has both forms of an atomic operation
  bool undecodable =
      false;  // bytes inside that are no instruction: data, or an extension newer than the decoder
};

// A reference of function `from` (its number) to an address.
struct CodeReference {
  std::uint32_t from = 0;
  std::uint64_t to = 0;
};

struct CodeScan {
  std::vector<FunctionScan> functions;           // as FunctionMap::functions
  std::vector<CodeReference> to_code;            // calls, jumps out of the function, addresses taken
  std::vector<CodeReference> to_data;            // words of writable sections, the GOT included
  std::array<std::uint64_t, 64> instructions{};  // by FeatureId
  std::uint64_t all_instructions = 0;
  std::uint64_t undecodable_bytes = 0;
};

// An instruction as text, for people.
struct Instruction {
  std::uint64_t address = 0;
  std::string text;
};

// Whether this machine's code can be scanned.
bool can_scan(Machine machine);
// `jobs` threads; the result does not depend on it.
CodeScan scan_code(const ElfFile& file, const FunctionMap& map, unsigned jobs);
// The first instruction of the function that needs one of `features`.
Instruction first_instruction(Machine machine, const Function& function, FeatureSet features);

}  // namespace kiln::evidence
