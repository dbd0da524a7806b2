// Where the cells of a plan stand: what the state folder has of them, and why the rest is to be made.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/effects.h"
#include "image/plan_file.h"
#include "image/state.h"
#include "image/state_names.h"
#include "plan/build_plan.h"
#include "plan/plan_graph.h"
#include "plan/planner.h"
#include "plan/sharing.h"

namespace kiln {

enum class CellState { built, to_build, to_retag };  // to_retag: the bits are there, name or labels are new
std::string_view name_of(CellState state);           // "built", "to build", "to re-tag"

struct Standing {
  const PlannedImage* image;
  CellState state;
  std::vector<std::string> why;  // empty when it is built
};

// The state folder as the next build would find it.
class StateView {
 public:
  // `name`: of the plan. The folders are looked into once, when something of them is first asked for.
  StateView(const std::string& name, const StatePaths& state, const FileSystem& files);

  Standing standing(const PlannedImage& image) const;
  // The same of the image that the planner has gone to, without its `image`.
  Standing standing(Planner& planner) const;
  NodeState step(const std::string& key) const;
  // From the record of the step's last run; nothing when it was never run here.
  StepCost cost(const std::string& key) const;
  GraphStates graph_states(const std::vector<Standing>& rows) const;

 private:
  NodeState state_of(const std::string& key, bool test) const;
  std::vector<std::string> reasons(const PlannedImage& image, const std::string& missing) const;
  const std::optional<PlanFile>& last_plan() const;  // of the last build, read when first asked for

  const StatePaths& state_;
  const FileSystem& files_;
  fs::path last_plan_file_;
  mutable StateNames names_;
  mutable bool last_plan_read_ = false;
  mutable std::optional<PlanFile> last_plan_;
};

}  // namespace kiln
