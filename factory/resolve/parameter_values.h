// The values of the parameters that a script declares. Used by resolve only.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "factory/base/packed_map.h"
#include "factory/resolve/choose.h"
#include "factory/resolve/flags/flags.h"
#include "factory/resolve/resolve.h"

namespace kiln {

// The value of declared compiler flags in a stage without a compiler: an error, or "". `none`: tests, which
// get no flags, but always get the component's name, version and method.
enum class FlagPolicy { required, optional, none };

// Where a script runs, for the values that depend on it.
struct ScriptContext {
  const Chosen* self;
  const Choice* image;                  // all components of the image, in layering order
  std::span<const Chosen* const> laid;  // the earlier components of this stage
  FlagPolicy flags;
};

class ParameterValues {
 public:
  // REQUIRES: all outlive this. `cell_optimise`: what the cell's axis says.
  ParameterValues(const Target& target, const Microarchitectures& cpus, const Optimise& cell_optimise)
      : target_(&target), cpus_(&cpus), cell_optimise_(&cell_optimise) {}

  // Values of the method's declared parameters; "" for one that has no value in this image. Throws
  // Error(input), Unsolvable.
  std::map<std::string, std::string> of(const ScriptContext& script);
  // The same for a test, which also gets its subject and the target.
  std::map<std::string, std::string> of_test(const ScriptContext& script);

  // Every flag that was given so far, each once for each component.
  const std::vector<FlagOrigin>& flags() const { return flags_; }
  // True when a script was given something that the cell's optimise may change.
  bool cell_optimise_used() const { return cell_optimise_used_; }

 private:
  std::string value_of(const std::string& name, const ScriptContext& script);
  std::string flag_value(const std::string& name, const ScriptContext& script,
                         std::optional<CompilerFlags>& flags);
  std::string optimise_value(const std::string& name, const ScriptContext& script);
  CompilerFlags find_flags(const ScriptContext& script, const Chosen& compiler) const;
  Optimise optimise_of(const Chosen& chosen) const;
  static bool takes_cell_optimise(const Chosen& chosen);  // bases and tools are built as ever
  std::string noted(FlagOrigin origin, const Chosen& reader);

  const Target* target_;
  const Microarchitectures* cpus_;
  const Optimise* cell_optimise_;
  std::vector<FlagOrigin> flags_;
  bool cell_optimise_used_ = false;
};

// The values of one script's parameters.
struct ScriptValues {
  PackedMap parameters;
  std::vector<FlagOrigin> flags;  // where those of them that are flags came from
  bool cell_optimise_used = false;
};

// The values of many scripts, each worked out once: scripts that see the same get the same object.
class ScriptValueBook {
 public:
  // REQUIRES: `cpus`, and the recipes, targets and wishes asked about, outlive this and stay where they are.
  explicit ScriptValueBook(const Microarchitectures& cpus) : cpus_(&cpus) {}
  // Valid as long as this. Throws as ParameterValues does.
  const ScriptValues* of(const ScriptContext& script, const Target& target, const Optimise& cell_optimise);

 private:
  using Seen = std::vector<std::uintptr_t>;
  struct SeenHash {
    std::size_t operator()(const Seen& seen) const;
  };
  // The inputs of a method's parameters, in addition to its component, version and method.
  struct Reads {
    bool target = false;
    bool optimise = false;    // as the cell states it
    bool toolchains = false;  // those laid in the stage
    bool everything = false;  // parameters whose sources are not known here
    std::vector<Kind> kinds;  // the image's components of these kinds
  };
  static Reads reads_of(const Method& method, FlagPolicy flags);
  void see(const ScriptContext& script, const Target& target, const Optimise& cell_optimise);

  const Microarchitectures* cpus_;
  std::unordered_map<const Method*, std::array<std::optional<Reads>, 3>> reads_;
  std::unordered_map<Seen, ScriptValues, SeenHash> values_;
  Seen seen_;  // of the last script
};

}  // namespace kiln
