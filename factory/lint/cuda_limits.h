// What a CUDA release can do: the tables of data/cuda.json, with their sources there.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace kiln::lint {

// "450.80.02" for "11.8"; nullopt for what is no version ("none") or older than the table.
std::optional<std::string> smallest_driver(std::string_view cuda);

// Why this release makes no code for an accelerator such as "sm_90": "CUDA 11.8 is the first that does", "…
// the last …"; "" when it does, or when nothing is known. `dropped` tells the two apart.
struct CapabilityGap {
  std::string reason;
  bool dropped = false;
};
CapabilityGap capability_gap(std::string_view cuda, std::string_view accelerator);

// The newest major version of "gcc" or "clang" that this release's nvcc takes; nullopt when nothing is known.
std::optional<std::string> newest_host_compiler(std::string_view cuda, std::string_view compiler);

// The last release for an archspec family ("ppc64le"); nullopt when there is no end.
std::optional<std::string> last_cuda_for(std::string_view family);

bool is_cuda_version(std::string_view text);  // digits and dots

}  // namespace kiln::lint
