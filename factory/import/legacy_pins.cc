#include "factory/import/legacy_pins.h"

#include <algorithm>
#include <array>

#include "factory/base/text.h"

namespace kiln {
namespace {

// "==0.8.5" of pip, "0.8.5" of conda, "=2024.4-1" of apt.
std::string exact_version(std::string_view written) {
  while (written.starts_with('=')) written.remove_prefix(1);
  return leading_version(written);
}

std::string plain_name(std::string_view text) {
  std::string name = lower_case(text);
  std::ranges::replace(name, '_', '-');
  return name;
}

// "2024.4" of ".../gromacs-2024.4.tar.gz" and of ".../v2024.4.tar.gz" in a repository of that name.
std::string version_in_address(const std::string& address, const std::string& name) {
  const std::string file = plain_name(last_part(address));
  for (std::string_view between : {"-", "-v", ""})
    if (file.starts_with(name + std::string(between)))
      if (std::string version = leading_version(file.substr(name.size() + between.size())); !version.empty())
        return version;
  return !contains(plain_name(address), "/" + name + "/") ? "" : leading_version(file);
}

std::string repository_name(const std::string& url) {
  std::string name = plain_name(last_part(url));
  if (const std::size_t at = name.find('@'); at != std::string::npos) name.resize(at);
  return name.ends_with(".git") ? name.substr(0, name.size() - 4) : name;
}

Said version_of(const LegacyFacts& facts, const std::string& name) {
  for (const SaidMap* packages : {&facts.pip, &facts.conda, &facts.wheels, &facts.packages}) {
    auto found = packages->find(name);
    if (found == packages->end()) continue;
    if (std::string version = exact_version(found->second.value); !version.empty())
      return {version, found->second.line};
  }
  for (const auto& [url, reference] : facts.clones) {
    std::string reference_version = reference.value;
    if (plain_name(reference_version).starts_with(name + "-"))  // tags such as gromacs-2024.4
      reference_version.erase(0, name.size() + 1);
    if (std::string version = leading_version(reference_version);
        repository_name(url) == name && !version.empty())
      return {version, reference.line};
  }
  for (const auto& [url, said] : facts.downloads)
    if (std::string version = version_in_address(url, name); !version.empty()) return {version, said.line};
  std::string variable = upper_case(name);
  std::ranges::replace(variable, '-', '_');
  for (const char* end : {"_VERSION", "_VER", "_TAG"})
    if (auto found = facts.settings.find(variable + end); found != facts.settings.end())
      if (std::string version = leading_version(found->second.value); !version.empty())
        return {version, found->second.line};
  return {};
}

}  // namespace

std::string leading_version(std::string_view text) {
  if (text.starts_with('v') || text.starts_with('V') || text.starts_with('r')) text.remove_prefix(1);
  std::size_t end = 0;
  while (end < text.size() && (is_digit(text[end]) || text[end] == '.')) ++end;
  std::string version(text.substr(0, end));
  while (version.ends_with('.')) version.pop_back();
  return version;
}

Said pinned_version(const LegacyFacts& facts, const std::string& name) {
  const std::string whole = plain_name(name);
  std::vector<std::string> candidates;
  for (std::string front = whole;;) {  // "a-b-c", "a-b", "a"
    candidates.push_back(front);
    const std::size_t end = front.rfind('-');
    if (end == std::string::npos) break;
    front.resize(end);
  }
  for (std::string_view word : split(whole, '-'))
    if (word.size() > 2) candidates.emplace_back(word);
  for (const std::string& candidate : candidates)
    if (Said said = version_of(facts, candidate); !said.value.empty()) return said;
  return {};
}

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
    const bool called = std::ranges::any_of(cpu.compilers.all(), [&](const auto& compiler) {
      return std::ranges::any_of(compiler.second, [&](const auto& entry) { return entry.name == name; });
    });
    if (!called || (!found.empty() && cpu.ancestors.size() >= fewest)) continue;
    found = one;
    fewest = cpu.ancestors.size();
  }
  return found;
}

std::string cpu_named(std::string_view word, const Microarchitectures& cpus) {
  std::string plain(word);
  std::ranges::replace(plain, '-', '_');
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
  auto holds = [&](std::string_view option) { return contains(flag, option); };
  return flag.starts_with("-mavx") ||
         (flag.starts_with("-x") && flag.size() > 2 && upper_case(flag[2]) == flag[2]) ||
         std::any_of(kCpuOptions.begin(), kCpuOptions.end() - 1, holds) ||
         std::ranges::any_of(kGpuOptions, holds);
}

std::string cpu_of_build(const LegacyFacts& facts, const Microarchitectures& cpus) {
  std::string best;
  auto add = [&](const std::string& cpu) {
    if (!cpu.empty() && (best.empty() || !cpus.runs(best, cpu))) best = cpu;
  };
  for (const auto& [word, said] : facts.tuning) add(cpu_of_word(word, cpus));
  for (const auto& [option, said] : facts.options) {
    if (definition_of(option) == "GMX_SIMD") add(named(said.value));
    for (std::string_view word : words_in(option)) add(cpu_of_word(word, cpus));
    for (std::string_view word : words_in(said.value)) add(cpu_of_word(word, cpus));
  }
  for (const auto& [name, said] : facts.settings) {
    if (name == "GMX_SIMD") add(named(said.value));
    for (std::string_view word : words_in(said.value)) add(cpu_of_word(word, cpus));
  }
  return best;
}

std::vector<std::string> gpus_of_build(const LegacyFacts& facts) {
  std::vector<std::string> values;
  for (std::string_view name : kGpuNames)
    if (auto said = facts.settings.find(std::string(name)); said != facts.settings.end())
      values.push_back(said->second.value);
  for (const auto& [option, said] : facts.options)
    if (contains(kGpuDefinitions, definition_of(option))) values.push_back(said.value);
  for (const auto& [word, said] : facts.tuning)
    for (std::string_view option : kGpuOptions)
      if (const std::size_t at = word.find(option); at != std::string::npos)
        values.push_back(word.substr(at + option.size()));
  return values;
}

}  // namespace kiln
