#include "factory/recipe/native_flag.h"

#include <algorithm>
#include <array>
#include <vector>

#include "factory/base/text.h"

namespace kiln {
namespace {

// Whether an option or variable of this name chooses a processor: -march, --offload-arch,
// CMAKE_CUDA_ARCHITECTURES. In lower case.
bool chooses_processor(std::string_view name) {
  if (name.starts_with("-d")) name = name.substr(0, name.find(':'));  // -DNAME:STRING=native
  static constexpr std::array<std::string_view, 13> kLast = {
      "march",         "mcpu", "mtune", "arch", "archs", "cudaarchs", "architecture",
      "architectures", "cpu",  "tune",  "tp",   "gpu",   "isa"};
  std::string parts(name);
  std::replace_if(
      parts.begin(), parts.end(), [](char c) { return !is_letter_or_digit(c); }, '-');
  const std::vector<std::string_view> words = split(parts, '-');
  const std::string_view before = words.size() > 1 ? words[words.size() - 2] : "";
  if (words.back() == "list") return before == "arch";            // TORCH_CUDA_ARCH_LIST
  if (words.back() == "targets") return before.ends_with("gpu");  // AMDGPU_TARGETS
  return contains(kLast, words.back());
}

// Whether this switch of a build system, in lower case, means the same when it is on.
bool is_native_switch(std::string_view name) {
  static constexpr std::array<std::string_view, 15> kSwitches = {
      "ggml_native",  "llama_native", "whisper_native", "sd_native",           "arch_native",
      "march_native", "for_native",   "opt_native",     "optimize_native",     "optimise_native",
      "native_arch",  "native_march", "native_cpu",     "native_optimization", "native_optimizations"};
  if (name.starts_with("-d")) name.remove_prefix(2);
  name = name.substr(0, name.find(':'));  // -DGGML_NATIVE:BOOL=ON
  return std::ranges::any_of(kSwitches, [&](std::string_view one) {
    return name == one || (name.ends_with(one) && name[name.size() - one.size() - 1] == '_');
  });
}

// In lower case.
bool is_native(std::string_view word) {
  static constexpr std::array<std::string_view, 4> kOn = {"on", "1", "true", "yes"};
  if (word.ends_with("-xhost") || word.ends_with("qxhost") || word.ends_with("tp=host")) return true;
  const std::size_t equals = word.rfind('=');
  if (equals == std::string_view::npos || equals == 0) return false;
  const std::string_view name = word.substr(0, equals);
  const std::string_view value = word.substr(equals + 1);
  if (value == "native" || value == "ccnative") return chooses_processor(name);
  return contains(kOn, value) && is_native_switch(name);
}

// "-march=native" of "--copt=-march=native" and of "CFLAGS=-march=native".
std::string_view innermost(std::string_view word) {
  const std::size_t inner = word.rfind("=-");
  return inner == std::string_view::npos ? word : word.substr(inner + 1);
}

}  // namespace

std::string native_flag(std::string_view text) {
  const std::string lower = lower_case(text);
  constexpr std::string_view kSeparators = " \t\r\n,;'\"()[]{}";
  std::size_t last = std::string::npos;  // where the word before begins
  for (std::size_t begin = lower.find_first_not_of(kSeparators); begin != std::string::npos;) {
    const std::size_t end = std::min(lower.find_first_of(kSeparators, begin), lower.size());
    const std::string_view word = std::string_view(lower).substr(begin, end - begin);
    if (is_native(word)) return std::string(innermost(text.substr(begin, end - begin)));
    if (word == "native" && last != std::string::npos && lower[last] == '-' &&
        chooses_processor(trimmed(std::string_view(lower).substr(last, begin - last))))
      return std::string(text.substr(last, end - last));  // `nvcc -arch native`
    last = begin;
    begin = lower.find_first_not_of(kSeparators, end);
  }
  return "";
}

bool is_for_gpu(std::string_view native_flag) {
  static constexpr std::array<std::string_view, 4> kWords = {"cuda", "gpu", "offload", "hip"};
  const std::string lower = lower_case(native_flag);
  return lower.starts_with("-arch") ||
         std::ranges::any_of(kWords, [&](std::string_view word) { return contains(lower, word); });
}

}  // namespace kiln
