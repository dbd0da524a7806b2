#include "factory/resolve/flags/flags.h"

#include <fmt/format.h>

#include <array>
#include <sstream>
#include <string_view>
#include <vector>

#include "factory/base/text.h"
#include "factory/recipe/parameters.h"
#include "factory/resolve/flags/gpu_flags.h"

namespace kiln {
namespace {

// Compilers with a Fortran of their own that takes the same flags: gfortran, ifort, ifx, nvfortran, flang.
constexpr std::array<std::string_view, 6> kWithFortran = {"gcc", "intel", "oneapi", "nvhpc", "aocc", "arm"};

bool has_fortran(std::string_view compiler) { return contains(kWithFortran, compiler); }

std::string joined_filled(const std::vector<std::string>& parts, std::string_view between) {
  std::vector<std::string_view> filled;
  for (const std::string& part : parts)
    if (!part.empty()) filled.emplace_back(part);
  return joined(filled, between);
}

// Each word of `flags` with `prefix` before it.
std::string each(std::string_view prefix, const std::string& flags) {
  std::istringstream words(flags);
  std::string out;
  for (std::string word; words >> word;) out += fmt::format("{}{}{}", out.empty() ? "" : " ", prefix, word);
  return out;
}

// A shell word for `eval "set -- …"`; flags hold no quotes.
void define(std::string& words, std::string_view name, const std::string& value) {
  if (value.empty()) return;
  const bool plain = value.find_first_of(" ;") == std::string::npos;
  words += fmt::format(" -D{0}={1}{2}{1}", name, plain ? "" : "'", value);
}

std::string said(const OptimiseSetting& setting, std::string_view what) {
  if (setting.word.empty() || setting.word == "off") return "";
  return fmt::format("{} of {}", what, setting.said_by);
}

}  // namespace

std::string CompilerFlags::Language::all() const {
  return joined_filled({optimise.level, cpu.flags, optimise.compile}, " ");
}

// The optimiser of LTO runs at link time: it has to know the level.
std::string CompilerFlags::Language::link() const {
  return optimise.link.empty() ? "" : joined_filled({optimise.level, optimise.link}, " ");
}

std::variant<CompilerFlags::Language, NoFlags> CompilerFlags::language(const FlagQuestion& question,
                                                                       const CompilerVersion& compiler) {
  auto best = question.cpus->best_flags(question.target->cpu, compiler.name, compiler.version);
  if (!best)
    return NoFlags{NoFlags::Cause::unknown_compiler, fmt::format("archspec knows no compiler '{}' for {}",
                                                                 compiler.text(), question.target->cpu)};
  auto optimise = optimise_flags(question.optimise, compiler.name, compiler.version);
  if (auto* reason = std::get_if<std::string>(&optimise)) return NoFlags{NoFlags::Cause::optimise, *reason};
  OptimiseFlags flags = std::get<OptimiseFlags>(std::move(optimise));
  std::string note = joined_filled({best->note, flags.note}, "; ");
  return Language{compiler, std::move(*best), std::move(flags), std::move(note)};
}

CompilerFlags::Language CompilerFlags::fortran_of(const FlagQuestion& question, const Language& c) {
  if (has_fortran(c.compiler.name)) return c;
  FlagQuestion other = question;
  // Objects of two compilers meet in one link: neither's LTO can read the other's.
  other.optimise.lto = {};
  other.optimise.pgo = {};
  if (!question.fortran.name.empty()) {
    auto found = language(other, question.fortran);
    if (auto* fortran = std::get_if<Language>(&found)) return *fortran;
  }
  Language plain;
  plain.compiler = c.compiler;
  plain.optimise.level = c.optimise.level;
  plain.note = c.compiler.name + " has no Fortran, and no gcc is in the stage: the level alone";
  return plain;
}

std::variant<CompilerFlags, NoFlags> CompilerFlags::find(FlagQuestion question) {
  auto c = language(question, question.compiler);
  if (auto* none = std::get_if<NoFlags>(&c)) return *none;
  CompilerFlags flags(std::move(question));
  flags.c_ = std::get<Language>(std::move(c));
  flags.fortran_ = fortran_of(flags.question_, flags.c_);
  return flags;
}

FlagOrigin CompilerFlags::of(const std::string& variable) const {
  const Language& language = variable == "FFLAGS" ? fortran_ : c_;
  return {variable,       value(variable),         language.compiler.text(), language.cpu.target,
          note(variable), from(variable, language)};
}

std::string CompilerFlags::value(const std::string& variable) const {
  if (variable == "KILN_CPU_FLAGS") return c_.cpu.flags;
  if (variable == "FFLAGS") return fortran_.all();
  if (variable == "LDFLAGS") return c_.link();
  if (variable == "KILN_BAZEL_COPTS") return bazel_copts();
  if (variable == "KILN_BAZEL_LINKOPTS") return each("--linkopt=", c_.link());
  if (variable == "KILN_CMAKE_FLAGS") return cmake();
  if (variable == "KILN_NVCC_FLAGS") return nvcc();
  if (variable == "NVCC_APPEND_FLAGS") return nvcc_host();
  if (variable == "KILN_HIP_FLAGS") return hip();
  return c_.all();
}

// `bazel -c opt` says -O2 itself. No --host_copt: tools of the build run on the build machine, which may be
// older than the target. --copt is for C and C++ alike.
std::string CompilerFlags::bazel_copts() const {
  const std::string level = c_.optimise.level == "-O2" ? "" : c_.optimise.level;
  return each("--copt=", joined_filled({level, c_.cpu.flags, c_.optimise.compile}, " "));
}

// CMake puts CMAKE_<LANG>_FLAGS_RELEASE after CMAKE_<LANG>_FLAGS, and its own default there is -O3: the level
// has to stand in the former.
std::string CompilerFlags::cmake() const {
  std::string words = "-DCMAKE_BUILD_TYPE=Release";
  auto add = [&words](std::string_view name, const Language& language) {
    define(words, fmt::format("CMAKE_{}_FLAGS", name),
           joined_filled({language.cpu.flags, language.optimise.compile}, " "));
    define(words, fmt::format("CMAKE_{}_FLAGS_RELEASE", name),
           language.optimise.level + (name == "Fortran" ? "" : " -DNDEBUG"));
  };
  add("C", c_);
  add("CXX", c_);
  add("Fortran", fortran_);
  for (const char* kind : {"EXE", "SHARED", "MODULE"})
    define(words, fmt::format("CMAKE_{}_LINKER_FLAGS", kind), c_.link());
  if (std::string archs = cuda_cmake_archs(*question_.target); !archs.empty()) {
    define(words, "CMAKE_CUDA_ARCHITECTURES", archs);
    define(words, "CMAKE_CUDA_FLAGS", nvcc_host());
    define(words, "CMAKE_CUDA_FLAGS_RELEASE", nvcc_level() + " -DNDEBUG");
  }
  if (std::string archs = hip_archs(*question_.target); !archs.empty()) {
    define(words, "CMAKE_HIP_ARCHITECTURES", archs);
    define(words, "CMAKE_HIP_FLAGS", hip_host());
    define(words, "CMAKE_HIP_FLAGS_RELEASE", c_.optimise.level + " -DNDEBUG");
  }
  return words;
}

// One -Xcompiler for each flag: nvcc would split one at commas only.
std::string CompilerFlags::nvcc_host() const {
  return nvidia_targets(*question_.target).empty() ? "" : each("-Xcompiler=", c_.cpu.flags);
}

std::string CompilerFlags::nvcc() const {
  const std::string gencode = cuda_gencode(*question_.target);
  if (gencode.empty()) return "";
  return joined_filled({nvcc_level(), gencode, nvcc_host()}, " ");
}

// nvcc's own -O takes digits.
std::string CompilerFlags::nvcc_level() const {
  return c_.optimise.level == "-Os" ? "-Xcompiler=-Os" : c_.optimise.level;
}

// hipcc is a Clang: another compiler's CPU flags mean nothing to it.
std::string CompilerFlags::hip_host() const {
  return is_llvm(c_.compiler.name) ? each("-Xarch_host ", c_.cpu.flags) : "";
}

std::string CompilerFlags::hip() const {
  const std::string archs = hip_offload_archs(*question_.target);
  if (archs.empty()) return "";
  return joined_filled({c_.optimise.level, archs, hip_host()}, " ");
}

std::string CompilerFlags::note(const std::string& variable) const {
  const bool nvidia = !nvidia_targets(*question_.target).empty();
  if (variable == "FFLAGS") return fortran_.note;
  if ((variable == "LDFLAGS" || variable == "KILN_BAZEL_LINKOPTS")) return c_.optimise.note;
  if (variable == "KILN_NVCC_FLAGS")
    return nvidia ? joined_filled({c_.note, ptx_note(*question_.target)}, "; ") : "";
  if (variable == "NVCC_APPEND_FLAGS") return nvidia ? c_.cpu.note : "";
  if (variable == "KILN_CPU_FLAGS") return c_.cpu.note;
  if (variable == "KILN_HIP_FLAGS") {
    if (amd_targets(*question_.target).empty()) return "";
    if (!is_llvm(c_.compiler.name))
      return "hipcc is a Clang: the flags of " + c_.compiler.name + " are not for it";
  }
  return c_.note;
}

std::string CompilerFlags::from(const std::string& variable, const Language& language) const {
  if (value(variable).empty()) {
    if (contains(variable, "NVCC")) return "the target has no NVIDIA GPU";
    if (variable == "KILN_HIP_FLAGS") return "the target has no AMD GPU";
    return "neither LTO nor PGO was asked for";
  }
  const Optimise& optimise = question_.optimise;
  std::vector<std::string> parts;
  if (!language.cpu.target.empty() && variable != "LDFLAGS" && variable != "KILN_BAZEL_LINKOPTS")
    parts.push_back(fmt::format("archspec's {} {} for {}", language.compiler.name, language.cpu.versions,
                                language.cpu.target));
  if (depends_on_optimise(variable)) {
    const bool bazels = variable == "KILN_BAZEL_COPTS" && language.optimise.level == "-O2";
    parts.push_back(bazels                        ? "-O2 is Bazel's own (-c opt)"
                    : optimise.level.word.empty() ? "-O2 by default"
                                                  : said(optimise.level, language.optimise.level));
    if (!language.optimise.compile.empty()) {
      parts.push_back(said(optimise.lto, "LTO"));
      parts.push_back(said(optimise.pgo, "PGO"));
    }
  }
  return joined_filled(parts, "; ");
}

FlagOrigin gpu_flags(const std::string& variable, const Target& target) {
  std::string value;
  if (variable == "CUDAARCHS")
    value = cuda_cmake_archs(target);
  else if (variable == "TF_CUDA_COMPUTE_CAPABILITIES")
    value = cuda_tensorflow(target);
  else if (variable == "PYTORCH_ROCM_ARCH")
    value = hip_archs(target);
  else
    value = cuda_archs(target);
  const bool amd = variable == "PYTORCH_ROCM_ARCH";
  const std::string from = fmt::format("the target has no {} GPU", amd ? "AMD" : "NVIDIA");
  if (value.empty()) return {variable, "", "", "", "", from};
  return {variable,
          value,
          "",
          joined(amd ? amd_targets(target) : nvidia_targets(target), " "),
          amd ? "" : ptx_note(target),
          "the target's accelerators"};
}

}  // namespace kiln
