// CPU microarchitectures and compiler flags, from archspec's own tables (microarchitectures.json of the
// archspec package; never a list of ours). Behaviour is that of archspec/cpu/microarchitecture.py, which the
// tests compare with.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"

namespace kiln {

struct Microarchitecture {
  struct CompilerEntry {
    std::string versions;  // "4.9:8.0", either side may be empty, optional "-suffix"
    std::string flags;     // with {name}
    std::string name;      // the compiler's own name for it; "" = the microarchitecture's
  };
  std::string name;
  std::string vendor;                  // "generic" for families and levels
  std::vector<std::string> parents;    // nearest first, as archspec lists them
  std::vector<std::string> ancestors;  // as archspec's Microarchitecture.ancestors orders them
  std::set<std::string> features;      // with sse3 added where ssse3 is (as archspec does)
  std::map<std::string, std::vector<CompilerEntry>> compilers;
};

// The answer to "which flags": exactly one of three, as archspec gives them.
struct FlagsAnswer {
  enum class Kind { flags, unknown_compiler, unsupported } kind = Kind::unknown_compiler;
  std::string flags;   // Kind::flags only
  std::string reason;  // Kind::unsupported only: archspec's message
};

class Microarchitectures {
 public:
  // Reads archspec's microarchitectures.json. Throws Error(input).
  static Microarchitectures parse(std::string_view json, std::string file);

  const Microarchitecture* find(std::string_view name) const;
  std::vector<std::string> names() const;  // sorted
  // archspec's order: `a` can run what was built for `b` (b is a or an ancestor of a). Unknown names: false.
  bool runs(std::string_view a, std::string_view b) const;
  std::string family(std::string_view name) const;                          // x86_64, aarch64, ppc64le, …
  bool has_feature(std::string_view name, std::string_view feature) const;  // aliases included

  // archspec's Microarchitecture.optimization_flags(compiler, version).
  FlagsAnswer flags(std::string_view name, std::string_view compiler, std::string_view version) const;

  // As `flags`, but walks to the nearest ancestor that the compiler knows. `target` names the
  // microarchitecture that answered; `note` says why it is not the one asked for ("" when it is). nullopt:
  // the compiler is unknown.
  struct BestFlags {
    std::string target;
    std::string flags;
    std::string note;
  };
  std::optional<BestFlags> best_flags(std::string_view name, std::string_view compiler,
                                      std::string_view version) const;

  // The most specific microarchitecture of this family and vendor whose features a processor has (archspec's
  // detection rule for x86_64 and aarch64).
  std::string detect(std::string_view family, std::string_view vendor,
                     const std::set<std::string>& features) const;

 private:
  std::map<std::string, Microarchitecture, std::less<>> table_;
  std::map<std::string, std::set<std::string>> aliases_families_;
};

}  // namespace kiln
