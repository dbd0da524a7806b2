#include "factory/record/gpu_code.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

namespace kiln {
namespace {

using Level = GpuFit::Level;

// Compute capabilities of the GPUs in NVIDIA's systems on a chip (Tegra): TK1, TX1, TX2, Xavier, Orin, T239,
// and Thor, which CUDA 12 calls 10.1 and CUDA 13 calls 11.0. DGX Spark (12.1) is none of them.
constexpr std::array kTegra = {32, 53, 62, 72, 87, 88, 101, 110};

// NVIDIA's names of code: machine code of a GPU, or PTX of one.
struct CudaCode {
  bool ptx = false;
  int number = 0;     // 90: major version 9, minor 0
  char suffix = '-';  // 'a', 'f', or none

  int major() const { return number / 10; }
  bool is_tegra() const { return std::find(kTegra.begin(), kTegra.end(), number) != kTegra.end(); }
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

// Whether it is the same GPU, or a later one of its generation that runs the same machine code.
bool same_family(const CudaCode& code, const CudaCode& gpu) {
  if (code.number == gpu.number) return true;
  return code.major() == gpu.major() && code.number < gpu.number && !code.is_tegra() && !gpu.is_tegra();
}

GpuFit cuda_fit(const CudaCode& code, const CudaCode& gpu) {
  const int distance = gpu.number - code.number;
  bool runs = false;
  if (code.suffix == 'a')
    runs = distance == 0;
  else if (code.ptx && code.suffix == '-')
    runs = distance >= 0;
  else
    runs = same_family(code, gpu);
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

bool is_host_accelerator(std::string_view text) {
  const auto [vendor, gpu] = split_accelerator(text);
  return !vendor.empty() && (gpu.empty() || is_gpu_code(vendor, gpu));
}

int compute_capability(std::string_view code) {
  auto parsed = cuda_code(code);
  return parsed ? parsed->number : 0;
}

bool is_gpu_code(std::string_view vendor, std::string_view code) {
  if (vendor == "nvidia") return code.starts_with("sm_") && compute_capability(code) > 0;
  return vendor == "amd" && code.starts_with("gfx");
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
