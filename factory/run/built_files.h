// Files of a build stage that a script sees at their places while it runs, and that are in no layer.
#pragma once

#include <memory>
#include <vector>

#include "factory/engine/engine.h"
#include "factory/resolve/resolve.h"

namespace kiln {

class BuiltFiles {
 public:
  // What `step` mounts, of a container on `stage`, for a run in `container`. Throws Error(images_failed) for
  // a path that the stage lacks or has as a link, which would lead out of it. REQUIRES: `container` outlives
  // this.
  BuiltFiles(const Step& step, const StepRecord& stage, Container& container, Engine& engine);

  const std::vector<Mount>& mounts() const { return mounts_; }
  // Of `container`, after the run: the empty folders that were made to mount upon.
  void take_away();

 private:
  Container& container_;
  std::unique_ptr<Container> stage_;
  std::vector<Mount> mounts_;
  std::vector<std::string> made_;  // innermost first
};

}  // namespace kiln
