#include "factory/bench/restriction.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "factory/base/error.h"
#include "factory/base/text.h"

namespace kiln {
namespace {

// Of the libraries that choose their kernels when they are loaded, the variables that bound the choice:
// oneDNN's CPU dispatcher control, ATen's native/DispatchStub.cpp, OpenBLAS's driver/others/dynamic.c, and
// oneMKL's "Instruction Set Specific Dispatching".
struct LevelVariables {
  std::string_view level;
  std::map<std::string, std::string> variables;
};

const std::vector<LevelVariables>& level_variables() {
  static const std::vector<LevelVariables> kLevels = {
      {"x86_64_v2",
       {{"ONEDNN_MAX_CPU_ISA", "SSE41"},
        {"ATEN_CPU_CAPABILITY", "default"},
        {"OPENBLAS_CORETYPE", "Nehalem"},
        {"MKL_ENABLE_INSTRUCTIONS", "SSE4_2"}}},
      {"x86_64_v3",
       {{"ONEDNN_MAX_CPU_ISA", "AVX2"},
        {"ATEN_CPU_CAPABILITY", "avx2"},
        {"OPENBLAS_CORETYPE", "Haswell"},
        {"MKL_ENABLE_INSTRUCTIONS", "AVX2"}}},
  };
  return kLevels;
}

const LevelVariables* level_named(std::string_view name) {
  const auto found = std::ranges::find(level_variables(), name, &LevelVariables::level);
  return found == level_variables().end() ? nullptr : &*found;
}

int read_cores(std::string_view word) {
  int cores = 0;
  const auto [end, problem] = std::from_chars(word.data(), word.data() + word.size(), cores);
  if (problem != std::errc{} || end != word.data() + word.size() || cores < 1)
    throw Error(ExitCode::usage, fmt::format("--restrict: 'cores={}' is no number of cores", word),
                "for example cores=1");
  return cores;
}

}  // namespace

Restriction read_restriction(std::span<const std::string> words) {
  constexpr std::string_view kCores = "cores=";
  Restriction restriction;
  for (const std::string& word : words) {
    const bool is_cores = word.starts_with(kCores);
    if (is_cores ? restriction.cores > 0 : !restriction.level.empty())
      throw Error(ExitCode::usage, fmt::format("--restrict: '{}' is a second restriction of its kind", word),
                  "one level of instruction sets, and one number of cores");
    if (is_cores)
      restriction.cores = read_cores(std::string_view(word).substr(kCores.size()));
    else if (level_named(word) != nullptr)
      restriction.level = word;
    else
      throw Error(ExitCode::usage, fmt::format("--restrict: '{}' is no restriction", word),
                  "x86_64_v2, x86_64_v3, or cores=N");
  }
  return restriction;
}

std::map<std::string, std::string> restricting_variables(const Restriction& restriction) {
  const LevelVariables* level = level_named(restriction.level);
  return level == nullptr ? std::map<std::string, std::string>{} : level->variables;
}

HostDescription restricted_host(HostDescription host, const Restriction& restriction,
                                const Microarchitectures& cpus) {
  std::string what = restriction.level;
  if (!restriction.level.empty()) {
    if (!cpus.runs(host.cpu, restriction.level) || host.cpu == restriction.level)
      throw Error(ExitCode::usage, fmt::format("--restrict: {} is no less than this machine, which is {}",
                                               restriction.level, host.cpu));
    host.cpu = restriction.level;
    host.features.clear();
  }
  if (restriction.cores > 0) {
    if (restriction.cores >= host.cores)
      throw Error(ExitCode::usage,
                  fmt::format("--restrict: cores={} is no less than this machine, which has {}",
                              restriction.cores, counted(static_cast<std::size_t>(host.cores), "core")));
    what += fmt::format("{}{} of {} cores", what.empty() ? "" : ", ", restriction.cores, host.cores);
    host.cores = restriction.cores;
  }
  if (!what.empty()) host.model += fmt::format(" (restricted to {})", what);
  return host;
}

}  // namespace kiln
