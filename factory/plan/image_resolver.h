// resolve for many cells: what cells share is found, and hashed, once. The answers are those of resolve().
#pragma once

#include <map>
#include <set>
#include <string>
#include <unordered_map>

#include "plan/image_sketch.h"
#include "plan/resolve.h"
#include "plan/stages.h"

namespace kiln {

class ImageResolver {
 public:
  // REQUIRES: what `input` refers to outlives this and does not change.
  explicit ImageResolver(const ResolveInput& input);

  // Fills `sketch`, or says why this combination cannot be (null: it can). The sketch points into this.
  // Throws Error(input) as resolve() does.
  const std::string* sketch(const ImageRequest& request, ImageSketch& sketch);

  // All of a sketch. REQUIRES: `request` is the one it was made of.
  ImageSpec whole(const ImageSketch& sketch, const ImageRequest& request);

  // record_name() of the whole image.
  std::string record_name(const ImageSketch& sketch, const ImageRequest& request);

  StepStore& steps() { return steps_; }
  const StepStore& steps() const { return steps_; }
  Step step(const SketchedStep& sketched);  // of a stage
  Step test(const SketchedStep& sketched, const ImageSketch& image);

 private:
  const SharedTarget& target_of(const ImageRequest& request);
  SharedChoice& choice_of(const ImageRequest& request, const SharedTarget& target);
  void choose(const ImageRequest& request, const Target& target, SharedChoice& choice);
  const Optimise& optimise_wish(const std::string& axis, const SourceLocation& where);
  Sha256 image_key(const ImageSketch& sketch);

  ResolveInput input_;
  std::set<std::string> target_globs_;  // of every `when` in the recipes
  StepStore steps_;
  ScriptValueBook values_;
  std::unordered_map<std::string, SharedTarget> targets_;  // by the axis' value
  std::map<std::string, Optimise> optimise_;               // by the axis' value
  std::unordered_map<std::string, SharedChoice> choices_;  // by the other axes' values and the answers
  std::set<std::string> reasons_;                          // why single cells cannot be
  std::string text_;                                       // scratch
};

}  // namespace kiln
