#include "factory/record/gpu_code.h"

#include <algorithm>
#include <charconv>
#include <optional>

namespace kiln {
namespace {

using Level = GpuFit::Level;

// NVIDIA's names of code: machine code of a GPU, or PTX of one.
struct CudaCode {
  bool ptx = false;
  int number = 0;     // 90: major version 9, minor 0
  char suffix = '-';  // 'a', 'f', or none

  int major() const { return number / 10; }
};

std::optional<CudaCode> cuda_code(std::string_view name) {
  CudaCode code;
  code.ptx = name.starts_with("compute_");
  if (!code.ptx && !name.starts_with("sm_")) return std::nullopt;
  name.remove_prefix(name.find('_') + 1);
  auto [rest, error] = std::from_chars(name.data(), name.data() + name.size(), code.number);
  if (error != std::errc() || code.number < 10 || code.number > 999) return std::nullopt;
  name.remove_prefix(static_cast<std::size_t>(rest - name.data()));
  if (name == "a" || name == "f") code.suffix = name.front();
  return name.empty() || code.suffix != '-' ? std::optional(code) : std::nullopt;
}

GpuFit cuda_fit(const CudaCode& code, const CudaCode& gpu) {
  const int distance = gpu.number - code.number;
  const bool family = code.major() == gpu.major() && distance >= 0;
  bool runs = false;
  if (code.suffix == 'a')
    runs = distance == 0;
  else if (code.ptx && code.suffix == '-')
    runs = distance >= 0;
  else
    runs = family;
  if (!runs) return {};
  if (code.ptx) return {Level::ptx, distance};
  if (distance > 0) return {Level::older, distance};
  return {code.suffix == 'a' ? Level::own : Level::exact, 0};
}

GpuFit fit(std::string_view code, std::string_view gpu) {
  if (gpu.empty() || code.empty()) return {Level::unnamed, 0};
  auto built = cuda_code(code);
  auto here = cuda_code(gpu);
  if (built && here) return cuda_fit(*built, *here);
  // AMD's names may end in modes (gfx90a:xnack-), which a GPU is switched to.
  auto processor = [](std::string_view name) { return name.substr(0, name.find(':')); };
  return processor(code) == processor(gpu) ? GpuFit{Level::exact, 0} : GpuFit{};
}

}  // namespace

std::pair<std::string, std::string> split_accelerator(std::string_view text) {
  const std::size_t colon = std::min(text.find(':'), text.size());
  return {std::string(text.substr(0, colon)), std::string(text.substr(std::min(colon + 1, text.size())))};
}

int compute_capability(std::string_view code) {
  auto parsed = cuda_code(code);
  return parsed ? parsed->number : 0;
}

GpuFit best_fit(const std::vector<std::string>& codes, std::string_view gpu) {
  GpuFit best;
  for (const std::string& code : codes) best = std::min(best, fit(code, gpu));
  return best;
}

std::vector<std::string> with_ptx(std::vector<std::string> codes) {
  std::optional<CudaCode> newest;
  for (const std::string& name : codes) {
    auto code = cuda_code(name);
    if (code &&
        (!newest || std::pair(newest->number, newest->suffix) < std::pair(code->number, code->suffix)))
      newest = code;
  }
  if (newest && newest->suffix == '-') codes.push_back("compute_" + std::to_string(newest->number));
  return codes;
}

}  // namespace kiln
