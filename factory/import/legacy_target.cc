#include "factory/import/legacy_target.h"

#include <algorithm>
#include <array>

#include "factory/base/text.h"

namespace kiln {
namespace {

constexpr std::array<std::string_view, 5> kCpuOptions = {"-march=", "-mcpu=", "target-cpu=", "-tp=", "-x"};
constexpr std::array<std::string_view, 4> kGpuOptions = {
    "-arch=", "--gpu-architecture=", "--offload-arch=", "arch=compute_"};
constexpr std::array<std::string_view, 8> kGpuNames = {"TF_CUDA_COMPUTE_CAPABILITIES",
                                                       "TORCH_CUDA_ARCH_LIST",
                                                       "PYTORCH_ROCM_ARCH",
                                                       "HCC_AMDGPU_TARGET",
                                                       "CUDAARCHS",
                                                       "CUDA_ARCH_LIST",
                                                       "AMDGPU_TARGETS",
                                                       "GPU_TARGETS"};
constexpr std::array<std::string_view, 6> kGpuDefinitions = {
    "CMAKE_CUDA_ARCHITECTURES", "CMAKE_HIP_ARCHITECTURES", "GMX_CUDA_TARGET_SM", "GPU_TARGETS",
    "AMDGPU_TARGETS",           "TORCH_CUDA_ARCH_LIST"};

struct Named {
  std::string_view word;
  std::string_view cpu;
};
// What the words of build systems and of compilers without a name in archspec's tables need at least.
constexpr Named kProcessors[] = {
    {"AVX_512", "x86_64_v4"},       {"AVX_512_KNL", "mic_knl"},
    {"AVX2_256", "x86_64_v3"},      {"AVX2_128", "x86_64_v3"},
    {"AVX_256", "sandybridge"},     {"AVX_128_FMA", "bulldozer"},
    {"SSE4.1", "x86_64_v2"},        {"SSE2", "x86_64"},
    {"ARM_NEON_ASIMD", "aarch64"},  {"CORE-AVX512", "x86_64_v4"},
    {"COMMON-AVX512", "x86_64_v4"}, {"CORE-AVX2", "x86_64_v3"},
    {"AVX2", "x86_64_v3"},          {"AVX", "sandybridge"},
    {"SSE4.2", "x86_64_v2"},        {"-mavx512f", "x86_64_v4"},
    {"-mavx2", "x86_64_v3"},        {"core-avx2", "haswell"},
    {"core-avx-i", "ivybridge"},    {"corei7-avx", "sandybridge"},
};

std::string named(std::string_view word) {
  for (const Named& one : kProcessors)
    if (one.word == word) return std::string(one.cpu);
  return "";
}

// The processor that compilers call so: the oldest one, as compilers that do not know a newer one take its
// name for it.
std::string called_by_compilers(std::string_view name, const Microarchitectures& cpus) {
  std::string found;
  std::size_t fewest = 0;
  for (const std::string& one : cpus.names()) {
    const Microarchitecture& cpu = *cpus.find(one);
    const auto& entries = cpu.compilers.all();
    const bool called = std::any_of(entries.begin(), entries.end(), [&](const auto& compiler) {
      return std::any_of(compiler.second.begin(), compiler.second.end(),
                         [&](const auto& entry) { return entry.name == name; });
    });
    if (!called || (!found.empty() && cpu.ancestors.size() >= fewest)) continue;
    found = one;
    fewest = cpu.ancestors.size();
  }
  return found;
}

std::string cpu_named(std::string_view word, const Microarchitectures& cpus) {
  std::string plain(word);
  std::replace(plain.begin(), plain.end(), '-', '_');
  if (cpus.find(plain) != nullptr) return plain;
  std::string known = named(word);
  if (known.empty()) known = called_by_compilers(word, cpus);
  return cpus.find(known) == nullptr ? "" : known;
}

std::string cpu_of_word(std::string_view word, const Microarchitectures& cpus) {
  if (word.starts_with("-mavx")) return named(word);
  for (std::string_view option : kCpuOptions) {
    const std::size_t at = word.find(option);
    if (at == std::string_view::npos || (option == "-x" && at != 0)) continue;
    if (std::string cpu = cpu_named(word.substr(at + option.size()), cpus); !cpu.empty()) return cpu;
  }
  return "";
}

// The words of a value such as that of CFLAGS.
std::vector<std::string_view> words_in(std::string_view text) {
  std::vector<std::string_view> words;
  constexpr std::string_view kBetween = " \t,;'\"";
  for (std::size_t begin = text.find_first_not_of(kBetween); begin != std::string_view::npos;) {
    const std::size_t end = std::min(text.find_first_of(kBetween, begin), text.size());
    words.push_back(text.substr(begin, end - begin));
    begin = text.find_first_not_of(kBetween, end);
  }
  return words;
}

// "CMAKE_CUDA_ARCHITECTURES" of "-DCMAKE_CUDA_ARCHITECTURES:STRING".
std::string_view definition_of(std::string_view option) {
  if (option.starts_with("-D")) option.remove_prefix(2);
  return option.substr(0, option.find(':'));
}

}  // namespace

bool is_tuning(std::string_view flag) {
  auto holds = [&](std::string_view option) { return flag.find(option) != std::string_view::npos; };
  return flag.starts_with("-mavx") ||
         (flag.starts_with("-x") && flag.size() > 2 && upper_case(flag[2]) == flag[2]) ||
         std::any_of(kCpuOptions.begin(), kCpuOptions.end() - 1, holds) ||
         std::any_of(kGpuOptions.begin(), kGpuOptions.end(), holds);
}

std::string cpu_of_build(const LegacyFacts& facts, const Microarchitectures& cpus) {
  std::string best;
  auto take = [&](const std::string& cpu) {
    if (!cpu.empty() && (best.empty() || !cpus.runs(best, cpu))) best = cpu;
  };
  for (const auto& [word, said] : facts.tuning) take(cpu_of_word(word, cpus));
  for (const auto& [option, said] : facts.options) {
    if (definition_of(option) == "GMX_SIMD") take(named(said.value));
    for (std::string_view word : words_in(option)) take(cpu_of_word(word, cpus));
    for (std::string_view word : words_in(said.value)) take(cpu_of_word(word, cpus));
  }
  for (const auto& [name, said] : facts.settings) {
    if (name == "GMX_SIMD") take(named(said.value));
    for (std::string_view word : words_in(said.value)) take(cpu_of_word(word, cpus));
  }
  return best;
}

std::vector<std::string> gpus_of_build(const LegacyFacts& facts) {
  std::vector<std::string> values;
  for (std::string_view name : kGpuNames)
    if (auto said = facts.settings.find(std::string(name)); said != facts.settings.end())
      values.push_back(said->second.value);
  for (const auto& [option, said] : facts.options)
    if (std::find(kGpuDefinitions.begin(), kGpuDefinitions.end(), definition_of(option)) !=
        kGpuDefinitions.end())
      values.push_back(said.value);
  for (const auto& [word, said] : facts.tuning)
    for (std::string_view option : kGpuOptions)
      if (const std::size_t at = word.find(option); at != std::string::npos)
        values.push_back(word.substr(at + option.size()));
  return values;
}

}  // namespace kiln
