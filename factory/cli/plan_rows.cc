#include "cli/plan_rows.h"

#include <fmt/format.h>

#include "cli/plan_text.h"
#include "cli/table.h"

namespace kiln {
namespace {

// Each one's record is a file to read: of more, --explain and --format json say what they took.
constexpr std::size_t kMostMeasured = 1000;

void print_excluded(const Planner& planner) {
  if (planner.excluded() == 0) return;
  Table table({"EXCLUDED", "REASON"});
  for (std::size_t index = 0; index < planner.excluded(); ++index) {
    ExcludedCell cell = planner.excluded(index);
    table.add({axes_text(cell.axes), cell.reason});
  }
  fmt::print("\n");
  table.print();
}

Sharing sharing_of(const Planner& planner, const StateView& state) {
  Sharing sharing;
  sharing.steps = planner.steps();
  sharing.without = planner.steps_before_sharing();
  sharing.shared = planner.shared_steps();
  if (sharing.shared <= kMostMeasured)
    planner.each_shared_step(
        [&](const std::string& key, std::size_t uses) { sharing.add_saved(uses - 1, state.cost(key)); });
  return sharing;
}

}  // namespace

void print_plan_rows(const std::string& matrix_file, Invocation& invocation) {
  CatalogueFiles read = invocation.read(matrix_file);
  Planner planner(read.matrix, {read.recipes, read.targets, invocation.cpus()});
  StatePaths paths = invocation.state();
  Site site = invocation.site();
  StateView state(read.matrix.name, site, paths, invocation.files);
  Table table({"CELL", "IMAGE", "STATE", "WHY"});
  PlanCounts counts;
  while (planner.next()) {
    Standing standing = state.standing(planner);
    counts.add(standing.state);
    table.add({planner.request().id, planner.repository() + ":" + planner.tag(),
               std::string(name_of(standing.state)), short_reason(standing.why)});
  }
  counts.excluded = planner.excluded();
  invocation.note_plan(read.matrix.name, planner.warnings(), planner.images(), planner.excluded());
  table.print();
  print_excluded(planner);
  fmt::print("\n{}", plan_summary(counts, sharing_of(planner, state)));
}

}  // namespace kiln
