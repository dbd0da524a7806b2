// The stages of an image and the keys of their steps. Used by resolve only.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "plan/image_sketch.h"

namespace kiln {

// What stages are made of: kept from image to image.
struct StageMemory {
  const ResolveInput& input;
  StepStore& steps;
  ScriptValueBook& values;
};

class StageBuilder {
 public:
  // Build stages in the order of need, the image last; then tests and flags. `choice` learns the tools of its
  // build stages. REQUIRES: all arguments outlive this. Throws Error(input), Unsolvable.
  static void build(const StageMemory& memory, const SharedTarget& target, SharedChoice& choice,
                    ImageSketch& sketch);

 private:
  StageBuilder(const StageMemory& memory, const SharedTarget& target, SharedChoice& choice,
               ImageSketch& sketch)
      : memory_(&memory), target_(&target), choice_(&choice), sketch_(&sketch) {}

  using Laid = std::vector<const Chosen*>;
  void lay(SketchedStage& stage, const Chosen& chosen, Laid& laid);
  void lay_base(SketchedStage& stage, const Chosen& base);
  void lay_tests();
  void lay_test(const Chosen& chosen, const SmokeTest& test);
  StepStore::Number build_stage(const Chosen& chosen);
  const Choice& tools_of(const Chosen& chosen);
  const ScriptValues* values_of(const ScriptPlace& place);
  void add_script(SketchedStage& stage, StepRole role, const ScriptPlace& place);
  void add_step(SketchedStage& stage, StepRole role, const Chosen& chosen, const ScriptValues* values,
                StepStore::Number from);
  std::string stage_name(const Chosen& chosen) const;

  struct Built {
    const Chosen* chosen;
    StepStore::Number last_step;
  };
  const StageMemory* memory_;
  const SharedTarget* target_;
  SharedChoice* choice_;
  ImageSketch* sketch_;
  std::vector<Built> built_;
  std::vector<const Chosen*> open_;  // being built, outermost first
  std::string text_;
};

}  // namespace kiln
