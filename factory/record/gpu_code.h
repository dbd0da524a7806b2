// Which code runs on which GPU, and how well. Pure.
// NVIDIA: CUDA C++ Programming Guide, "Application Compatibility" and "Feature Set Compatibility"
// (arch-specific `a`, family-specific `f` targets); its "Binary Compatibility" (13.0, read in November 2026):
// "Binary compatibility is supported only for the desktop. It is not supported for Tegra. Also, the binary
// compatibility between desktop and Tegra is not supported." AMD: LLVM's AMDGPU usage guide, "Target ID".
#pragma once

#include <compare>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kiln {

// "nvidia:sm_61" → {"nvidia", "sm_61"}; "nvidia" → {"nvidia", ""}.
std::pair<std::string, std::string> split_accelerator(std::string_view text);

// Whether a host can have it: a GPU ("nvidia:sm_90", "amd:gfx90a:xnack-"), or a vendor alone.
bool is_host_accelerator(std::string_view text);

// 61 of sm_61, sm_61a and compute_61f; 0 for anything else.
int compute_capability(std::string_view code);

// Whether a vendor has a GPU, or code for one, of such a name: nvidia sm_61, amd gfx90a.
bool is_gpu_code(std::string_view vendor, std::string_view code);

// How well code suits a GPU: less is better.
struct GpuFit {
  // own: for exactly this GPU, with features that no other has. older: an earlier one of its generation. ptx:
  // the driver compiles it. unnamed: for a vendor's GPUs, whichever.
  enum class Level { own, exact, older, ptx, unnamed, none } level = Level::none;
  int distance = 0;  // between the GPU's number and the code's

  bool runs() const { return level != Level::none; }
  auto operator<=>(const GpuFit&) const = default;
};

// The best of `codes` (sm_80, compute_90, gfx90a; "" for a vendor alone) on `gpu` of the same vendor; "" is a
// GPU that nothing is known of, which all of its vendor's code suits.
GpuFit best_fit(const std::vector<std::string>& codes, std::string_view gpu);

// The code that kiln builds for the declared targets of an image: code for each, and PTX for the newest,
// unless that is an arch- or family-specific one.
std::vector<std::string> with_ptx(std::vector<std::string> codes);

}  // namespace kiln
