// plan: Resolution → BuildPlan, what can be built: every image under a unique name, and the reason for every
// cell without an image. The third stage. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "factory/expand/expand.h"
#include "factory/resolve/resolve.h"

namespace kiln {

// A resolution whose images have unique names. It owns everything that it refers to.
class BuildPlan {
 public:
  const std::string& name() const { return resolution_.expansion().matrix().name; }
  std::size_t size() const { return resolution_.size(); }  // images
  ResolvedImage image(std::size_t number) const { return resolution_.image(number); }
  const StepTable& steps() const { return resolution_.steps(); }
  std::size_t excluded() const { return resolution_.excluded(); }
  ExcludedCell excluded(std::size_t number) const { return resolution_.excluded(number); }
  std::size_t broken() const { return resolution_.broken(); }
  BrokenCell broken(std::size_t number) const { return resolution_.broken(number); }
  const std::vector<std::string>& warnings() const { return resolution_.expansion().warnings(); }
  const Resolution& resolution() const { return resolution_; }

 private:
  friend BuildPlan make_plan(Resolution resolution);
  explicit BuildPlan(Resolution resolution) : resolution_(std::move(resolution)) {}
  Resolution resolution_;
};

// Throws Error(input) when two cells get one tag, naming both.
BuildPlan make_plan(Resolution resolution);

// expand → resolve → plan in one go.
BuildPlan plan_matrix(Matrix matrix, const ResolveInput& input);

using ImageNumbers = std::vector<std::uint32_t>;
ImageNumbers all_images(const BuildPlan& plan);

// Which steps, tests included, images of a plan need, and how many of them need each.
class StepUses {
 public:
  using Number = StepTable::Number;
  StepUses(const BuildPlan& plan, const ImageNumbers& images);

  // Each once, by first need. The second is for a loop over a temporary.
  const std::vector<Number>& steps() const& { return steps_; }
  std::vector<Number> steps() && { return std::move(steps_); }
  std::vector<Number> by_key() const;  // the same
  std::size_t of(Number step) const { return uses_[table_->first(step)]; }
  std::size_t runs() const { return runs_; }  // were each image to run its own
  std::size_t shared() const;                 // steps that several images need

 private:
  const StepTable* table_;
  std::vector<std::uint32_t> uses_;  // by number
  std::vector<Number> steps_;
  std::size_t runs_ = 0;
};

}  // namespace kiln
