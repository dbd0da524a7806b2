#include "factory/cli/disk_room.h"

#include <fmt/format.h>

#include <set>

#include "factory/collect/disk_need.h"
#include "factory/report/sharing.h"

namespace kiln {
namespace {

DiskNeed need_of(const BuildPlan& plan, const ImageNumbers& images, const StateView& view, const Site& site,
                 const Invocation& invocation) {
  std::set<StepTable::Number> seen;
  std::vector<std::string> steps;
  std::vector<ImageToMake> lacking;
  for (std::uint32_t number : images) {
    const ResolvedImage image = plan.image(number);
    if (view.is_whole(image)) continue;
    lacking.push_back({image.repository(), {}, site.sif});
    for (StepTable::Number step : image.steps()) {
      const StepTable::Number first = plan.steps().first(step);
      if (view.step(plan.steps().hex(first)) == NodeState::done) continue;
      const std::string& title = plan.steps().pattern(first).title;
      lacking.back().steps.push_back(title);
      if (seen.insert(first).second) steps.push_back(title);
    }
  }
  return disk_need(steps, lacking, known_sizes(invocation.state(), invocation.files));
}

}  // namespace

void look_for_room(const BuildPlan& plan, const ImageNumbers& images, const StateView& view, const Site& site,
                   const Invocation& invocation) {
  const fs::path state = invocation.state().root();
  std::error_code unknown;
  const fs::space_info space = fs::space(state, unknown);
  if (unknown) return;  // the folder is not there yet: nothing is known of any kind
  const DiskNeed need = need_of(plan, images, view, site, invocation);
  if (need.bytes <= space.available) return;
  const std::string figures = fmt::format("the disk of {} has {} free, and this build needs some {}",
                                          state.string(), size_text(space.available), size_text(need.bytes));
  if (need.least > space.available)
    throw Error(ExitCode::store, figures + ": not even its smallest image fits",
                "`kiln gc` lists what can be deleted");
  invocation.note(fmt::format(
      "warning: {}, as images of its kind did before{}; `kiln gc` lists what can be deleted", figures,
      need.unknown == 0 ? ""
                        : fmt::format(" ({} of {} are of a new kind, and not counted)", need.unknown,
                                      need.known + need.unknown)));
}

}  // namespace kiln
