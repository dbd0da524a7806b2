#include "factory/cli/plan_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "factory/base/text.h"

namespace kiln {
namespace {

std::string block(const PlanView& view, const ResolvedImage& image, const ExplainedState& cell) {
  std::string out = fmt::format("{}\n  image  {}\n  key    {}\n  state  {}\n", image.id(), image.reference(),
                                image.key(), name_of(cell.state));
  const char* word = "why";
  for (const std::string& line : cell.why) {
    out += fmt::format("  {:<6} {}\n", word, line);
    word = "";
  }
  const StepTable& table = view.plan.steps();
  std::vector<StepTable::Number> steps = image.steps();
  for (StepTable::Number test : image.tests()) steps.push_back(test);
  const std::vector<StepTable::Number> to_run = view.state.to_run(image);
  std::string lines;
  for (StepTable::Number step : steps) {
    const std::string key = table.hex(step);
    const NodeState state = view.state.step(key);
    std::string_view word_of_step = word_for(state);
    if (state == NodeState::done && !view.state.fetched_from(key).empty()) word_of_step = "fetched";
    if (state != NodeState::done && std::ranges::find(to_run, step) == to_run.end())
      word_of_step = "unneeded";
    lines += fmt::format("    {:<7} {}  {}\n", word_of_step, key.substr(0, 12),
                         table.pattern(table.first(step)).title);
  }
  return out + fmt::format("  steps  {}, {} to run\n", steps.size(), to_run.size()) + lines;
}

std::string broken_blocks(const PlanView& view) {
  std::string out;
  for (std::uint32_t number : view.cells.broken) {
    const BrokenCell cell = view.plan.broken(number);
    out +=
        fmt::format("{}\n  state  {}\n  why    {}\n\n", cell.request.id, kBrokenState, cell.why.format(""));
  }
  return out;
}

std::string excluded_blocks(const PlanView& view) {
  std::string out;
  for (std::uint32_t number : view.cells.excluded) {
    const ExcludedCell cell = view.plan.excluded(number);
    out += fmt::format("{}\n  state  excluded\n  why    {}\n\n", axes_text(cell.axes), cell.reason);
  }
  return out;
}

}  // namespace

std::string_view word_for(NodeState state) {
  if (state == NodeState::done) return "done";
  return state == NodeState::failed ? "failed" : "to run";
}

std::string short_reason(const std::vector<std::string>& why) {
  if (why.empty()) return "";
  return why.size() == 1 ? why.front() : fmt::format("{} (+{} more)", why.front(), why.size() - 1);
}

std::string axes_text(const AxisValues& axes) {
  std::string text;
  for (const auto& [axis, value] : axes) text += fmt::format("{}{}={}", text.empty() ? "" : " ", axis, value);
  return text;
}

std::string plan_summary(PlanCounts counts, const PlanView& view, const Sharing& sharing) {
  const std::size_t broken = view.cells.broken.size();
  std::size_t images = broken;
  for (const auto& [state, count] : counts) images += count;
  std::string text = fmt::format("{}: {} built, {} to build", counted(images, "image"),
                                 counts[CellState::built], counts[CellState::to_build]);
  auto add = [&](std::size_t count, const char* what) {
    if (count > 0) text += fmt::format(", {} {}", count, what);
  };
  add(counts[CellState::to_test], "to test");
  add(counts[CellState::to_retag], "to re-tag");
  add(counts[CellState::to_package], "to package");
  add(counts[CellState::failed], "failed");
  add(broken, kBrokenState);
  return fmt::format("{}; {} excluded\n{}{}\n", text, view.cells.excluded.size(),
                     view.expected ? text_of(*view.expected) + "\n" : "", sharing_text(sharing));
}

Sharing sharing_of(const PlanView& view, std::size_t most) {
  return sharing_of(
      StepUses(view.plan, view.cells.images), view.plan.steps(),
      [&](const std::string& key) { return view.state.cost(key); }, most);
}

std::string plan_blocks(const PlanView& view) {
  std::string out;
  PlanCounts counts;
  for (std::uint32_t number : view.cells.images) {
    const ResolvedImage image = view.plan.image(number);
    const ExplainedState cell = view.state.explain(image);
    ++counts[cell.state];
    out += block(view, image, cell) + "\n";
  }
  return out + broken_blocks(view) + excluded_blocks(view) + plan_summary(counts, view, sharing_of(view));
}

}  // namespace kiln
