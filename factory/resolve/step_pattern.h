// The common part of the steps of many images, and the texts of which keys are made. Used by resolve only.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <unordered_map>

#include "factory/base/digest.h"
#include "factory/resolve/choose.h"
#include "factory/resolve/resolve.h"

namespace kiln {

// A step without the parts that differ from image to image: its parameters and the steps below it.
struct StepPattern {
  Step step;  // without key, parent, from, parameters and inputs
  // The canonical inputs (step_pattern.cc), cut where the key `from`, the parameters and the key `parent` go
  // in. Of a step that has no `from` or no parameters, the place is in no text.
  std::array<std::string, 4> inputs;
};

// The role of a step in its component.
enum class StepRole : std::uint8_t { base, copy, install, build, test };

// The place of a step: with the component's version, it decides which files of its method exist.
struct StepContext {
  const Target& target;
  const Choice& image;  // components of the finished image
  const Choice& stage;  // components of the step's stage; `image` itself in the last one
};

// Patterns, each made once.
class PatternBook {
 public:
  explicit PatternBook(std::string engine_family) : engine_family_(std::move(engine_family)) {}
  // REQUIRES: component, version, method and test stay where they are. Throws Error(input) for a
  // file that was not read.
  const StepPattern& of(StepRole role, const Chosen& chosen, const SmokeTest* test,
                        const StepContext& context, const std::string& architecture);

 private:
  struct Seen {
    StepRole role;
    const ComponentVersion* version;
    const Method* method;
    const SmokeTest* test;
    std::string architecture;
    std::string files;  // of those that have a `when` for targets or components: '0' or '1' each
    bool operator==(const Seen&) const = default;
  };
  struct SeenHash {
    std::size_t operator()(const Seen& seen) const;
  };
  std::string engine_family_;
  std::unordered_map<Seen, StepPattern, SeenHash> patterns_;
};

// Inputs of a base's key in addition to its recipe.
struct BaseInputs {
  std::string architecture;   // of the platform
  std::string engine_family;  // as ResolveInput has it
};

// Step::inputs: `parent` and `from` are keys or "", `parameters` is a JSON object. Written over `out`.
void write_inputs(std::string& out, const StepPattern& pattern, std::string_view from,
                  std::string_view parameters, std::string_view parent);

}  // namespace kiln
