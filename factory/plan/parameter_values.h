// The values of the parameters that a script declares. Used by resolve only.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "plan/choose.h"
#include "plan/resolve.h"

namespace kiln {

// What becomes of declared compiler flags where a stage has no compiler: an error, or "". Tests get none at
// all.
enum class FlagPolicy { required, optional, none };

// Where a script runs, for the values that depend on it.
struct ScriptPlace {
  const Chosen* self;
  const Choice* image;              // all components of the image, in layering order
  std::vector<const Chosen*> laid;  // what is in this stage already
  FlagPolicy flags;
};

class ParameterValues {
 public:
  // REQUIRES: both outlive this.
  ParameterValues(const Target& target, const Microarchitectures& cpus) : target_(&target), cpus_(&cpus) {}

  // Values of the method's declared parameters; "" for one that has no value in this image. Throws
  // Error(input).
  std::map<std::string, std::string> of(const ScriptPlace& place);

  // Every flag that was given so far, each once.
  const std::vector<FlagOrigin>& flags() const { return flags_; }

 private:
  std::string value_of(const std::string& name, const ScriptPlace& place);
  std::string flag_value(const std::string& name, const ScriptPlace& place);

  const Target* target_;
  const Microarchitectures* cpus_;
  std::vector<FlagOrigin> flags_;
};

// "sm_80 sm_90": the accelerators without their vendors.
std::string gpu_targets(const Target& target);

// "8.0;9.0+PTX" for nvidia accelerators: binaries for each, PTX for the newest. "" without any.
std::string cuda_archs(const Target& target);

}  // namespace kiln
