// Where functions begin and end in an ELF file: symbols, and the ranges that .eh_frame gives for unwinding
// (LSB 10.6.1; stripped files keep it), so that each can be judged separately.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "factory/evidence/elf_file.h"

namespace kiln::evidence {

struct Function {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::string_view name;  // mangled; "" when nothing names it
  std::string_view bytes;
  bool exported = false;  // another file can call it by name
  bool root = false;      // runs without being called from this file: entry point, initialisers
  bool indirect = false;  // an IFUNC resolver
  bool gap = false;       // executable bytes that no symbol and no unwinding entry covers
};

struct FunctionMap {
  std::vector<Function> functions;  // by address, not overlapping
  std::uint64_t code_bytes = 0;     // of all executable sections; never more than the file has
  bool has_symbols = false;         // .symtab
  bool has_unwinding = false;

  static constexpr std::uint32_t kNone = UINT32_MAX;
  std::uint32_t starting_at(std::uint64_t address) const;  // kNone: no function begins there
};

// The views point into the bytes of `file`.
FunctionMap map_functions(const ElfFile& file);

struct AddressRange {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

}  // namespace kiln::evidence
