// Compiler flags: those of one compiler for one target, in the spelling of each build system. CPU flags are
// archspec's, GPU architectures are the target's, the level, LTO and PGO are what was asked for; nothing else
// is ever added. docs/formats/targets.md says which build system reads which variable. Pure.
#pragma once

#include <string>
#include <variant>

#include "factory/cpu/microarchitecture.h"
#include "factory/recipe/optimise.h"
#include "factory/recipe/target.h"

namespace kiln {

// One variable of a script, and where its value came from, for `kiln show --flags`.
struct FlagOrigin {
  std::string variable;     // CFLAGS
  std::string value;        // -O2 -march=znver3 -mtune=znver3
  std::string compiler;     // gcc 14.2.0; "" for flags that depend on the GPU alone
  std::string target;       // of the answer: zen3, or sm_80 sm_90
  std::string note{};       // why it is not the one asked for
  std::string from{};       // archspec's gcc 10.3: for zen3; -O2 by default
  std::string component{};  // whose script reads it: framework/pytorch
  bool operator==(const FlagOrigin&) const = default;
};

// A compiler by archspec's name for it; an empty name means no compiler.
struct CompilerVersion {
  std::string name;
  std::string version;
  std::string text() const { return name + " " + version; }
  bool operator==(const CompilerVersion&) const = default;
};

struct FlagQuestion {
  const Target* target = nullptr;  // both outlive the answer
  const Microarchitectures* cpus = nullptr;
  CompilerVersion compiler;
  CompilerVersion fortran;  // of the stage, if `compiler` has no Fortran compiler; mostly a GCC
  Optimise optimise;
};

// Why there are no flags.
struct NoFlags {
  enum class Cause { unknown_compiler, optimise } cause;
  std::string reason;
};

// The flags of one compiler for one target.
class CompilerFlags {
 public:
  // Throws Error(input) for a microarchitecture or compiler version that archspec cannot compare. REQUIRES:
  // question.compiler is one.
  static std::variant<CompilerFlags, NoFlags> find(FlagQuestion question);

  // REQUIRES: is_compiler_variable(variable).
  FlagOrigin of(const std::string& variable) const;
  const Microarchitectures::BestFlags& cpu() const { return c_.cpu; }

 private:
  struct Language {
    CompilerVersion compiler;
    Microarchitectures::BestFlags cpu;
    OptimiseFlags optimise;
    std::string note;
    std::string all() const;   // level, CPU, LTO and PGO
    std::string link() const;  // "" without LTO and PGO
  };
  explicit CompilerFlags(FlagQuestion question) : question_(std::move(question)) {}
  static std::variant<Language, NoFlags> language(const FlagQuestion& question,
                                                  const CompilerVersion& compiler);
  static Language fortran_of(const FlagQuestion& question, const Language& c);
  std::string value(const std::string& variable) const;
  std::string bazel_copts() const;
  std::string cmake() const;
  std::string nvcc_host() const;
  std::string nvcc() const;
  std::string nvcc_level() const;
  std::string hip_host() const;
  std::string hip() const;
  std::string note(const std::string& variable) const;
  std::string from(const std::string& variable, const Language& language) const;

  FlagQuestion question_;
  Language c_;
  Language fortran_;
};

// REQUIRES: is_gpu_variable(variable).
FlagOrigin gpu_flags(const std::string& variable, const Target& target);

}  // namespace kiln
