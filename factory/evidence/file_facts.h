// Findings in one ELF file, independent of its purpose: found once, kept by the digest of the file's bytes.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "factory/base/json.h"
#include "factory/evidence/dispatch.h"
#include "factory/evidence/elf_file.h"
#include "factory/evidence/fat_binary.h"

namespace kiln::evidence {

// The digest of dispatch_names.json: another table finds other facts in the same bytes.
const std::string& dispatch_table();

// A place in the file that shows something.
struct Witness {
  std::string symbol;  // demangled; "" when nothing names it
  std::uint64_t address = 0;
  std::string instruction;
};

// A feature that the file's code uses.
struct FeatureFacts {
  std::uint64_t instructions = 0;                  // in all of the file
  std::map<std::string, std::uint64_t> functions;  // by name_of(Choice)
  std::optional<Witness> unconditional;            // the first function in which it is
  std::string dispatched;                          // the name of one function that was chosen at run time
  std::uint64_t unconditional_functions() const;
};

struct FileFacts {
  Machine machine = Machine::other;
  ElfType type = ElfType::other;
  std::string interpreter;
  DynamicFacts dynamic;
  std::string needs_glibc;     // "2.34": the newest version that it asks for; "" for none
  std::string provides_glibc;  // libc.so.6's own
  std::uint64_t code_bytes = 0;
  std::uint64_t functions = 0;
  std::string boundaries;  // how functions were found: symbols, unwinding, none
  std::uint64_t undecodable_bytes = 0;
  std::map<std::string, FeatureFacts> features;  // by archspec's name
  std::vector<std::string> queries;              // how it asks what the processor can do
  GpuCode gpu;
  std::vector<std::string> problems;
};

// Throws Error(input) for a file that is no ELF file or has damaged headers.
FileFacts examine(std::string_view bytes, unsigned jobs);

std::string_view family_of(Machine machine);  // archspec's: x86_64 (i386 too), aarch64; "" for others
std::string_view name_of(Machine machine);

Json to_json(const FileFacts& facts);  // as the report has a file

}  // namespace kiln::evidence
