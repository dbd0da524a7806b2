// Decides what the next build does with each cell of a plan, and why.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "factory/base/effects.h"
#include "factory/plan/build_plan.h"
#include "factory/report/explain.h"
#include "factory/report/plan_graph.h"
#include "factory/site/site.h"
#include "factory/state/plan_file.h"
#include "factory/state/state.h"
#include "factory/state/state_names.h"

namespace kiln {

// to_test: it is packaged, but has not passed every test that its recipes have by now; to_retag: the bits are
// there, name or labels are new; to_package: the layers are there, but a format that the site file now
// requests, or another product of them, is missing; failed: the layers are there, but packaging failed, for
// example because of the evidence. The next build tries again.
enum class CellState { built, to_build, to_test, to_retag, to_package, failed };
std::string_view name_of(CellState state);  // "built", "to build", "to test", "to re-tag", …

struct ExplainedState {
  CellState state;
  std::vector<std::string> why;  // empty when it is built
};

// The state folder as the next build would find it.
class StateView {
 public:
  // `moved`: what differs between the lockfiles of the last build and of this plan, if it is known.
  // REQUIRES: all others outlive this; `names` are of the same state folder.
  StateView(const BuildPlan& plan, const Site& site, const StatePaths& state, const FileSystem& files,
            StateNames& names, std::vector<LockChange> moved = {});

  ExplainedState explain(const ResolvedImage& image) const;
  bool is_whole(const ResolvedImage& image) const;  // its state is CellState::built
  NodeState step(const std::string& key) const;
  // Of an image those of its steps and tests that the next build runs, in order of execution. Steps that are
  // only below a finished step are not run: the finished one was fetched completely.
  std::vector<StepTable::Number> to_run(const ResolvedImage& image) const;
  // Where a step or test that is done was fetched from; "": it was made here.
  std::string fetched_from(const std::string& key) const;
  // From the record of the step's last run; nothing when it was never run here.
  StepCost cost(const std::string& key) const;
  // Keeps what was found of blobs for the next process. In a folder that cannot be written, nothing is kept.
  void keep(FileSystem& files) const;
  GraphStates graph_states(const ImageNumbers& images) const;

 private:
  NodeState state_of(const std::string& key, bool test) const;
  // Of an image that is built: that it is, or what it lacks.
  ExplainedState packaged(const std::string& record_name) const;
  // Of one that failed after its steps: why.
  std::vector<std::string> failure(const ResolvedImage& image) const;
  // Of one that was packaged and is not whole: what is wrong with it.
  std::string damage(const ResolvedImage& image) const;
  std::vector<std::string> reasons(const ResolvedImage& image, StepTable::Number missing) const;
  const std::optional<PlanFile>& last_plan() const;  // of the last build, read when first asked for

  const BuildPlan& plan_;
  const Site& site_;
  const StatePaths& state_;
  const FileSystem& files_;
  bool has_formats_;
  StateNames& names_;
  std::vector<LockChange> moved_;
  mutable bool last_plan_read_ = false;
  mutable std::optional<PlanFile> last_plan_;
};

}  // namespace kiln
