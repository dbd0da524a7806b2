#include "cli/plan_text.h"

#include <fmt/format.h>

namespace kiln {
namespace {

std::string summary(const PlanView& view) {
  PlanCounts counts;
  for (const Standing& row : view.rows) counts.add(row.state);
  counts.excluded = view.choice.excluded.size();
  return plan_summary(counts, view.sharing);
}

std::string step_lines(const PlanView& view, const std::vector<std::string>& keys) {
  std::string out;
  for (const std::string& key : keys)
    out += fmt::format("    {:<7} {}  {}\n", word_for(view.state.step(key)), key.substr(0, 12),
                       view.plan.steps.at(key).title);
  return out;
}

std::string block(const PlanView& view, const Standing& row) {
  const ImageSpec& spec = row.image->spec;
  std::string out = fmt::format("{}\n  image  {}:{}\n  key    {}\n  state  {}\n", spec.request.id,
                                spec.repository, spec.tag, spec.key, name_of(row.state));
  const char* word = "why";
  for (const std::string& line : row.why) {
    out += fmt::format("  {:<6} {}\n", word, line);
    word = "";
  }
  std::size_t open = 0;
  for (const auto* keys : {&row.image->steps, &row.image->tests})
    for (const std::string& key : *keys) open += view.state.step(key) == NodeState::done ? 0 : 1;
  out += fmt::format("  steps  {}, {} to run\n", row.image->steps.size() + row.image->tests.size(), open);
  return out + step_lines(view, row.image->steps) + step_lines(view, row.image->tests);
}

std::string excluded_blocks(const PlanView& view) {
  std::string out;
  for (const ExcludedCell* cell : view.choice.excluded)
    out += fmt::format("{}\n  state  excluded\n  why    {}\n\n", axes_text(cell->axes), cell->reason);
  return out;
}

}  // namespace

std::string_view word_for(NodeState state) {
  switch (state) {
    case NodeState::done:
      return "done";
    case NodeState::failed:
      return "failed";
    case NodeState::to_run:
      break;
  }
  return "to run";
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

void PlanCounts::add(CellState state) {
  switch (state) {
    case CellState::built:
      ++built;
      return;
    case CellState::to_build:
      ++to_build;
      return;
    case CellState::to_retag:
      ++to_retag;
      return;
    case CellState::to_package:
      ++to_package;
      return;
  }
}

std::string plan_summary(const PlanCounts& counts, const Sharing& sharing) {
  std::size_t images = counts.built + counts.to_build + counts.to_retag + counts.to_package;
  std::string text = fmt::format("{} image{}: {} built, {} to build", images, images == 1 ? "" : "s",
                                 counts.built, counts.to_build);
  if (counts.to_retag > 0) text += fmt::format(", {} to re-tag", counts.to_retag);
  if (counts.to_package > 0) text += fmt::format(", {} to package", counts.to_package);
  return fmt::format("{}; {} excluded\n{}\n", text, counts.excluded, sharing_text(sharing));
}

std::string plan_blocks(const PlanView& view) {
  std::string out;
  for (const Standing& row : view.rows) out += block(view, row) + "\n";
  return out + excluded_blocks(view) + summary(view);
}

}  // namespace kiln
