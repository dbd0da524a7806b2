// CPU microarchitectures and compiler flags, from archspec's own tables (microarchitectures.json of the
// archspec package; never a list of kiln's). Behaviour is that of archspec/cpu/microarchitecture.py, alias.py
// and detect.py, which the tests compare with. Files: _read.cc reads the table, _detect.cc recognises a
// processor.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "factory/base/json.h"

namespace kiln {

struct Microarchitecture {
  struct CompilerEntry {
    std::string versions;  // "4.9:8.0", either side may be empty, optional "-suffix"
    std::string flags;     // complete: {name} and the like are filled in
    std::string name;      // the compiler's own name for it
    std::string warning;   // archspec's remark on using it, mostly ""
  };
  // archspec's data on each compiler. They are two thirds of its table, and selection never needs them, so
  // they are read with the first flags. May be shared by threads.
  class Compilers {
   public:
    Compilers() = default;  // none
    Compilers(JsonNode table, std::string cpu);
    using Entries = std::map<std::string, std::vector<CompilerEntry>, std::less<>>;
    // By compiler. Throws Error(input) for a table that cannot be read.
    const Entries& all() const;
    // nullptr: archspec does not list the compiler. Throws like all().
    const std::vector<CompilerEntry>* find(std::string_view compiler) const;

   private:
    struct Table;
    std::shared_ptr<Table> table_;
  };
  std::string name;
  std::string vendor;                  // "generic" for families and levels
  std::vector<std::string> parents;    // nearest first, as archspec lists them
  std::vector<std::string> ancestors;  // as archspec's Microarchitecture.ancestors orders them
  std::string family;                  // the one ancestor without ancestors, or itself
  std::set<std::string> features;      // with sse3 added where ssse3 is (as archspec does)
  int generation = 0;                  // POWER: 9; else 0
  std::string cpu_part;                // AArch64: "0xd40"; else ""
  Compilers compilers;
};

// The answer to "which flags", as archspec gives it.
struct FlagsAnswer {
  enum class Kind { flags, unknown_compiler, unsupported, invalid_version } kind = Kind::unknown_compiler;
  std::string flags;    // Kind::flags only
  std::string warning;  // Kind::flags only, mostly ""
  std::string reason;   // Kind::unsupported and Kind::invalid_version: archspec's message
};

class Microarchitectures {
 public:
  // Reads archspec's microarchitectures.json, but for its compilers. Throws Error(input).
  static Microarchitectures parse(std::string_view json, std::string file);

  const Microarchitecture* find(std::string_view name) const;
  std::vector<std::string> names() const;  // sorted
  // archspec's order: `a` can run what was built for `b` (b is a or an ancestor of a). Unknown names: false.
  bool runs(std::string_view a, std::string_view b) const;
  std::string family(std::string_view name) const;  // x86_64, aarch64, ppc64le, …; "" for an unknown name
  bool has_feature(std::string_view name, std::string_view feature) const;  // aliases included

  // archspec's Microarchitecture.optimization_flags(compiler, version). Throws Error(input) for an unknown
  // `name`.
  FlagsAnswer flags(std::string_view name, std::string_view compiler, std::string_view version) const;

  // As `flags`, but never gives up early: a version that no entry admits is tried as a patch release of the
  // upper bounds ("10.3:12.2" then admits 12.2.0), and after that the nearest ancestor that the compiler
  // knows is asked. `target` names the microarchitecture that answered, `versions` the range of archspec's
  // entry; `note` says what was done and archspec's warning, "" when there is nothing to say. An entry that
  // asks for the build machine's own processor ("native") is passed over. nullopt: archspec has no flags for
  // this compiler and version in the whole family. Throws Error(input) for an unknown `name` and for a
  // version that is not dot separated digits.
  struct BestFlags {
    std::string target;
    std::string flags;
    std::string note;
    std::string versions;
  };
  std::optional<BestFlags> best_flags(std::string_view name, std::string_view compiler,
                                      std::string_view version) const;

  // The microarchitecture of a Linux host, by archspec's rules: `cpuinfo` is the text of /proc/cpuinfo,
  // `machine` is uname's. A machine that archspec has no rules for (i686) is returned as it is.
  std::string detect(std::string_view cpuinfo, std::string_view machine) const;
  // Vendor, by archspec's name (GenuineIntel, AuthenticAMD, ARM); "" if it is not stated.
  std::string vendor(std::string_view cpuinfo, std::string_view machine) const;

 private:
  // A further name of a feature: it holds when every rule given holds.
  struct FeatureAlias {
    std::optional<std::vector<std::string>> any_of;
    std::optional<std::set<std::string>> families;
  };
  class Reader;

  const Microarchitecture& known(std::string_view name) const;  // throws Error(input)
  bool has_feature(const Microarchitecture& cpu, const std::string& feature, std::size_t alias_depth) const;

  std::map<std::string, Microarchitecture, std::less<>> table_;
  std::vector<std::string> order_;  // as archspec fills its table; breaks ties in detection
  std::map<std::string, FeatureAlias> feature_aliases_;
  std::map<std::string, std::string> arm_vendors_;  // "0x41" → ARM
};

// Keys and values of the first processor in the text of /proc/cpuinfo.
std::map<std::string, std::string> first_processor(std::string_view cpuinfo);

// Describes a processor that archspec does not list. Pure.

// The nearest that archspec has: of a processor's code name, or of a compiler's word for it, the newest
// microarchitecture whose code it runs ("archspec's nearest is 'sapphirerapids'"); of a misspelt name "did
// you mean …". "" when nothing is near. `others`: names besides archspec's that are known.
std::string hint_for_unknown_cpu(std::string_view name, const Microarchitectures& cpus,
                                 const std::vector<std::string>& others = {});

}  // namespace kiln
