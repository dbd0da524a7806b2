#include "factory/cli/plan_rows.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "factory/base/json_put.h"
#include "factory/base/json_stream.h"
#include "factory/cli/print.h"
#include "factory/cli/table.h"
#include "factory/plan/plan_json.h"

namespace kiln {
namespace {

// Each one's record is a file to read: of more, --explain and --format json say what they took.
constexpr std::size_t kMostMeasured = 1000;

void print_excluded(const PlanView& view) {
  if (view.cells.excluded.empty()) return;
  Table table({"EXCLUDED", "REASON"});
  for (std::uint32_t number : view.cells.excluded) {
    ExcludedCell cell = view.plan.excluded(number);
    table.add({axes_text(cell.axes), cell.reason});
  }
  say("\n");
  table.print();
}

std::vector<std::string> hex_of(const std::vector<StepTable::Number>& steps, const StepTable& table) {
  std::vector<std::string> keys;
  for (StepTable::Number step : steps) keys.push_back(table.hex(step));
  return keys;
}

Json cell_json(const ResolvedImage& image, const StepTable& table, const CellStatus& standing) {
  ImageRequest request = image.request();
  return {{"id", std::move(request.id)},
          {"axes", std::move(request.axes)},
          {"repository", image.repository()},
          {"tag", image.tag()},
          {"immutable_tag", image.immutable_tag()},
          {"key", image.key()},
          {"steps", hex_of(image.steps(), table)},
          {"tests", hex_of(image.tests(), table)},
          {"state", name_of(standing.state)},
          {"why", standing.why}};
}

Json step_json(StepTable::Number number, const StepTable& table, NodeState state, const std::string& from) {
  const Step& step = table.pattern(number);
  Json json{{"title", step.title},
            {"kind", name_of(step.kind)},
            {"component", step.component},
            {"parent", table.hex(table.parent(number))},
            {"from", table.hex(table.from(number))},
            {"state", word_for(state)}};
  put(json, "fetched_from", from);
  return json;
}

}  // namespace

void print_plan_table(const PlanView& view, bool every_cell) {
  Table table({"CELL", "IMAGE", "STATE", "WHY"});
  PlanCounts counts;
  for (std::uint32_t number : view.cells.images) {
    const ResolvedImage image = view.plan.image(number);
    const CellStatus standing = view.state.standing(image);
    counts.add(standing.state);
    table.add({image.id(), image.reference(), name_of(standing.state), short_reason(standing.why)});
  }
  for (std::uint32_t number : view.cells.broken) {
    const BrokenCell cell = view.plan.broken(number);
    table.add({cell.request.id, "", kBrokenState, cell.why.format("")});
  }
  counts.broken = view.cells.broken.size();
  counts.excluded = view.cells.excluded.size();
  const Sharing sharing = sharing_of(view, every_cell ? kMostMeasured : SIZE_MAX);
  table.print();
  print_excluded(view);
  say("\n{}", plan_summary(counts, view, sharing));
}

// All that can fail is done before the first byte is written: of half a document nobody sees that it is half.
void print_plan_document(const PlanView& view) {
  const BuildPlan& plan = view.plan;
  std::vector<CellStatus> standings;
  for (std::uint32_t number : view.cells.images) standings.push_back(view.state.standing(plan.image(number)));
  const Sharing sharing = sharing_of(view);

  JsonStream out(print_bytes);
  out.begin_array("broken");
  for (std::uint32_t number : view.cells.broken) out.item(to_json(plan.broken(number)));
  out.end();
  out.begin_array("cells");
  for (std::size_t index = 0; index < standings.size(); ++index)
    out.item(cell_json(plan.image(view.cells.images[index]), plan.steps(), standings[index]));
  out.end();
  out.begin_array("excluded");
  for (std::uint32_t number : view.cells.excluded) out.item(to_json(plan.excluded(number)));
  out.end();
  if (view.expected)
    out.member("expected", Json{{"error", view.expected->time.error},
                                {"jobs", view.expected->jobs},
                                {"seconds", view.expected->time.seconds},
                                {"steps", view.expected->steps}});
  out.member("name", plan.name());
  out.member("sharing", to_json(sharing));
  out.begin_object("steps");
  for (StepTable::Number step : StepUses(plan, view.cells.images).by_key()) {
    const std::string key = plan.steps().hex(step);
    const NodeState state = view.state.step(key);
    const std::string from = state == NodeState::done ? view.state.fetched_from(key) : "";
    out.item(key, step_json(step, plan.steps(), state, from));
  }
  out.end();
  out.member("warnings", plan.warnings());
  out.finish();
  print_bytes("\n");
}

}  // namespace kiln
