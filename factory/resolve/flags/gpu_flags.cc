#include "factory/resolve/flags/gpu_flags.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "factory/base/text.h"

namespace kiln {
namespace {

// A compute capability: 90 and "a" of sm_90a.
struct Capability {
  int number;
  std::string suffix;
  auto operator<=>(const Capability&) const = default;
  std::string digits() const { return fmt::format("{}{}", number, suffix); }
};

std::vector<Capability> capabilities(const Target& target) {
  constexpr std::string_view kPrefix = "nvidia:sm_";
  std::vector<Capability> found;
  for (const std::string& accelerator : target.accelerators) {
    if (!accelerator.starts_with(kPrefix)) continue;
    std::string text = accelerator.substr(kPrefix.size());
    std::size_t digits = 0;
    while (digits < text.size() && digits < 4 && is_digit(text[digits])) ++digits;
    if (digits < 2) throw Error(ExitCode::input, fmt::format("'{}' is no compute capability", accelerator));
    found.push_back({std::stoi(text.substr(0, digits)), text.substr(digits)});
  }
  std::ranges::sort(found);
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

// One word for each capability; `newest` is true for the last.
std::string spell(const Target& target, std::string_view between,
                  const std::function<std::string(const Capability&, bool newest)>& word) {
  const std::vector<Capability> all = capabilities(target);
  std::vector<std::string> words;
  for (const Capability& one : all) words.push_back(word(one, &one == &all.back()));
  return joined(words, between);
}

}  // namespace

std::string gpu_targets(const Target& target) {
  std::string words;
  for (const std::string& accelerator : target.accelerators)
    words += (words.empty() ? "" : " ") + accelerator.substr(accelerator.find(':') + 1);
  return words;
}

std::vector<std::string> nvidia_targets(const Target& target) {
  std::vector<std::string> names;
  for (const Capability& one : capabilities(target)) names.push_back("sm_" + one.digits());
  return names;
}

std::vector<std::string> amd_targets(const Target& target) {
  constexpr std::string_view kPrefix = "amd:";
  std::vector<std::string> names;
  for (const std::string& accelerator : target.accelerators)
    if (accelerator.starts_with(kPrefix)) names.push_back(accelerator.substr(kPrefix.size()));
  std::ranges::sort(names);
  return names;
}

std::string cuda_archs(const Target& target) {
  return spell(target, ";", [](const Capability& one, bool newest) {
    return fmt::format("{}.{}{}{}", one.number / 10, one.number % 10, one.suffix, newest ? "+PTX" : "");
  });
}

std::string cuda_cmake_archs(const Target& target) {
  return spell(target, ";",
               [](const Capability& one, bool newest) { return one.digits() + (newest ? "" : "-real"); });
}

std::string cuda_tensorflow(const Target& target) {
  return spell(target, ",", [](const Capability& one, bool newest) {
    return (newest ? "compute_" : "sm_") + one.digits();
  });
}

std::string cuda_gencode(const Target& target) {
  return spell(target, " ", [](const Capability& one, bool newest) {
    const std::string arch = "-gencode=arch=compute_" + one.digits();
    std::string words = arch + ",code=sm_" + one.digits();
    if (newest) words += " " + arch + ",code=compute_" + one.digits();
    return words;
  });
}

std::string hip_archs(const Target& target) { return joined(amd_targets(target), ";"); }

std::string hip_offload_archs(const Target& target) {
  std::string words;
  for (const std::string& name : amd_targets(target))
    words += fmt::format("{}--offload-arch={}", words.empty() ? "" : " ", name);
  return words;
}

std::string ptx_note(const Target& target) {
  const std::vector<Capability> all = capabilities(target);
  if (all.empty() || all.back().suffix.empty()) return "";
  return fmt::format("the PTX of compute_{} runs on {} only: later GPUs cannot use it", all.back().digits(),
                     all.back().suffix == "f" ? "that family" : "that architecture");
}

}  // namespace kiln
