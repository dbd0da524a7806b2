// How hard a build optimises, and each compiler's words for it: level, link-time optimisation (LTO) and
// profile-guided optimisation (PGO). A method's "optimise" and the matrix axis `optimise` say it; what
// neither says is -O2 without LTO and PGO. Spellings are from the manuals: GCC 14 "Options That Control
// Optimization", Clang 19 "User's Manual" and "ThinLTO", Intel C++ Classic 2021.10 "Compiler Options".
#pragma once

#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "factory/base/error.h"

namespace kiln {

// One setting and its source; "" = none.
struct OptimiseSetting {
  std::string word;     // level: 0, 1, 2, 3, s; LTO: off, full, thin; PGO: off, generate, use
  std::string said_by;  // "the method", "the cell"
  bool operator==(const OptimiseSetting&) const = default;
};

struct Optimise {
  OptimiseSetting level;
  OptimiseSetting lto;
  OptimiseSetting pgo;
  std::string profile;  // absolute path of the folder of profiles; "" = /opt/kiln/profile/<component>

  // The statements of `other` override those of this one.
  Optimise overridden_by(const Optimise& other) const;
  bool says_nothing() const;
  // "o3+lto+pgo-use": what holds, defaults included; LTO and PGO only where they are on.
  std::string text() const;
  bool operator==(const Optimise&) const = default;
};

// A value of the axis: `none`, or words joined by `+`, one of each sort (o0 o1 o2 o3 os; lto thinlto nolto;
// pgo-generate pgo-use nopgo). Throws Error(input) at `where`.
Optimise parse_optimise(std::string_view value, const SourceLocation& where,
                        std::string_view said_by = "the cell");

// Flags for one compiler; compile and link flags are without the level.
struct OptimiseFlags {
  std::string level;    // -O3
  std::string compile;  // -flto=auto
  std::string link;     // also for the linker's command line
  std::string note;     // the replacement of an unsupported request, mostly ""
};

// `compiler` is archspec's name. The other alternative is why there are none: "nvhpc has no level 's'".
// REQUIRES: optimise.profile is set where PGO is on.
std::variant<OptimiseFlags, std::string> optimise_flags(const Optimise& optimise, std::string_view compiler,
                                                        std::string_view version);

// True for archspec's compilers that are built on LLVM and take Clang's options.
bool is_llvm(std::string_view compiler);

}  // namespace kiln
