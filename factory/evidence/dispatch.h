// Distinguishes functions that are chosen at run time by the processor's features from functions that always
// run.
//
// Separately for each tier of features (feature.h), a function counts as dispatched when
//   ifunc    an IFUNC resolver (gABI's STT_GNU_IFUNC, R_*_IRELATIVE) hands it out: proven by the file;
//   asks     it asks the processor itself: CPUID, XGETBV, a known query, or a variable that such code sets;
//   name     its name follows a convention of multi-versioned code (dispatch_names.json), in a file that
//            asks;
//   pointer  it uses the tier, nothing calls it directly, it is not exported, and the file asks: this is how
//            tables of kernels look (DispatchStub of ATen, virtual functions) once the names are stripped;
//   mixed    nothing names it, it is not exported, and the file asks and was not compiled for the tier as a
//            whole: it has at least half as many functions with SSE in the old encoding as functions of the
//            tier, and a compiler that may use AVX never writes the old one;
//   called   everything in the file that refers to it is dispatched or asks, and it is not exported.
// All else is unconditional. `ifunc` is proof, the others are heuristics; docs/images.md weighs them.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "factory/base/digest.h"
#include "factory/base/enum_names.h"
#include "factory/evidence/code_scan.h"
#include "factory/evidence/feature.h"

namespace kiln::evidence {

// dispatch_names.json as a value: the conventions by which multi-versioned code is recognised.
struct DispatchNames {
  Digest digest;  // of the table's text
  struct Variant {
    std::string part;
    Tier tier = Tier::baseline;
  };
  std::vector<Variant> variants;    // highest tier first
  std::vector<Variant> vector_abi;  // as well
  std::vector<std::string> queries;
  std::vector<Variant> folders;

  Tier tier_of(std::string_view symbol) const;      // of `variants`; baseline: the name promises nothing
  Tier tier_of_abi(std::string_view symbol) const;  // of `vector_abi`
  bool is_query(std::string_view symbol) const;
};

// The table compiled in, parsed once.
const DispatchNames& dispatch_names();
DispatchNames read_dispatch_names(std::string_view json);

enum class Choice : std::uint8_t { unconditional, ifunc, asks, name, pointer, called, mixed };
inline constexpr auto kChoiceNames = enum_names<Choice>({{Choice::unconditional, "unconditional"},
                                                         {Choice::ifunc, "ifunc"},
                                                         {Choice::asks, "asks"},
                                                         {Choice::name, "name"},
                                                         {Choice::pointer, "pointer"},
                                                         {Choice::called, "called"},
                                                         {Choice::mixed, "mixed"}});
constexpr std::string_view name_of(Choice choice) { return kChoiceNames.of(choice); }

struct Dispatch {
  std::vector<std::array<Choice, std::size(kTiers)>> choices;  // of each function, for each of kTiers
  bool asks = false;                                           // the file asks what the processor can do
  std::vector<std::string> queries;                            // how: "cpuid", "getauxval", …; sorted
};

Dispatch find_dispatch(const ElfFile& file, const FunctionMap& map, const CodeScan& scan);

// The most that the loader asks the processor for before it opens a file of this path (glibc-hwcaps folders).
Tier tier_of_folder(std::string_view path);

}  // namespace kiln::evidence
