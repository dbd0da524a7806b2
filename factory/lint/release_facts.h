// The abilities of CUDA releases: the tables of data/cuda.json, with their sources there.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "factory/base/version.h"
#include "factory/source/pip_words.h"

namespace kiln::lint {

// "450.80.02" for "11.8"; nullopt for an invalid version ("none") and for one older than the table.
std::optional<std::string> smallest_driver(std::string_view cuda);

// Why this release makes no code for an accelerator such as "sm_90": "CUDA 11.8 is the first that does", "…
// the last …"; "" if it makes code for it, or if nothing is known. `dropped`: it is "the last".
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

// The needs of TensorFlow's releases: the table of data/tensorflow.json.

// Whether the wheel of this release takes every later protobuf.
bool takes_any_protobuf(const Version& tensorflow);

// The Python that a base image calls python3, "3.6"; "" where it is not known.
std::string python_of_base(const std::string& reference);

// The Bazel releases that a release or a branch of TensorFlow is built with.
struct BazelRange {
  Version first;
  Version last;
  bool derived = false;  // no upstream file states it: concluded from neighbouring releases
};
std::optional<BazelRange> bazel_for(const Version& tensorflow);

// Python packages that are for GPUs, or for CPUs only: the table of data/wheels.json.
struct WheelKind {
  std::string name;
  std::string version = "*";
  std::string extra = "*";
  std::string unless_index;
  std::string architecture;
  std::vector<std::string> unless_with;  // globs over `name==version` of packages that are installed with it
  bool gpu = false;
  bool runs_anywhere = false;  // it is only larger than a CPU needs
  std::string why;
};

// `index`: of the call or file that names the package; `architecture`: amd64, "" where it is not known;
// `beside`: `name==version` of all packages that are installed with it. Null for a package that is for any
// machine.
const WheelKind* wheel_kind(const PipPackage& package, const std::string& index,
                            const std::string& architecture, const std::vector<std::string>& beside = {});

}  // namespace kiln::lint
