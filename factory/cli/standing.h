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
#include "plan/site.h"

namespace kiln {

// to_retag: the bits are there, name or labels are new; to_package: all is there but a format that the site
// wants by now.
enum class CellState { built, to_build, to_retag, to_package };
std::string_view name_of(CellState state);  // "built", "to build", "to re-tag", "to package"

struct Standing {
  const PlannedImage* image;
  CellState state;
  std::vector<std::string> why;  // empty when it is built
};

// The state folder as the next build would find it.
class StateView {
 public:
  // `name`: of the plan. The folders are looked into once, when something of them is first asked for.
  // REQUIRES: all but `name` outlive this.
  StateView(const std::string& name, const Site& site, const StatePaths& state, const FileSystem& files);

  Standing standing(const PlannedImage& image) const;
  // The same of the image that the planner has gone to, without its `image`.
  Standing standing(Planner& planner) const;
  bool is_whole(const PlannedImage& image) const;  // it stands at CellState::built
  NodeState step(const std::string& key) const;
  // From the record of the step's last run; nothing when it was never run here.
  StepCost cost(const std::string& key) const;
  GraphStates graph_states(const std::vector<Standing>& rows) const;

 private:
  NodeState state_of(const std::string& key, bool test) const;
  // Of an image that is built: that it is, or what it lacks.
  Standing packaged(const PlannedImage* image, const std::string& record_name) const;
  std::vector<std::string> reasons(const PlannedImage& image, const std::string& missing) const;
  const std::optional<PlanFile>& last_plan() const;  // of the last build, read when first asked for

  const Site& site_;
  const StatePaths& state_;
  const FileSystem& files_;
  fs::path last_plan_file_;
  bool has_formats_;
  mutable StateNames names_;
  mutable bool last_plan_read_ = false;
  mutable std::optional<PlanFile> last_plan_;
};

}  // namespace kiln
