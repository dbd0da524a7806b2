#include "cli/standing.h"

#include <nlohmann/json.hpp>

#include "cli/sif_step.h"
#include "image/build.h"
#include "image/records.h"

namespace kiln {
namespace {

const std::vector<std::string>& only_renamed() {
  static const std::vector<std::string> kWhy = {"new name or labels: nothing is built"};
  return kWhy;
}

}  // namespace

std::string_view name_of(CellState state) {
  switch (state) {
    case CellState::built:
      return "built";
    case CellState::to_build:
      return "to build";
    case CellState::to_retag:
      return "to re-tag";
    case CellState::to_package:
      return "to package";
  }
  return "";
}

StateView::StateView(const std::string& name, const Site& site, const StatePaths& state,
                     const FileSystem& files)
    : site_(site),
      state_(state),
      files_(files),
      last_plan_file_(state.plan(name)),
      has_formats_(has_formats(site, state, files)),
      names_(state, files) {}

NodeState StateView::state_of(const std::string& key, bool test) const {
  if (test ? names_.has_test(key) : names_.has_step(key)) return NodeState::done;
  return names_.has_failure(key) ? NodeState::failed : NodeState::to_run;
}

NodeState StateView::step(const std::string& key) const { return state_of(key, names_.has_test(key)); }

Standing StateView::packaged(const PlannedImage* image, const std::string& record_name) const {
  if (has_formats_ || !lacks_format(site_, state_.built(record_name), files_))
    return {image, CellState::built, {}};
  return {image, CellState::to_package, {"the site wants a SIF, which this image lacks: nothing is built"}};
}

bool StateView::is_whole(const PlannedImage& image) const {
  const std::string record = record_name(image.spec);
  return names_.is_built(record, image.spec.repository, image.spec.immutable_tag) &&
         packaged(&image, record).state == CellState::built;
}

Standing StateView::standing(const PlannedImage& image) const {
  const ImageSpec& spec = image.spec;
  const std::string record = record_name(spec);
  if (names_.is_built(record, spec.repository, spec.immutable_tag)) return packaged(&image, record);
  auto missing = [&](const Step& step, bool test) -> std::optional<Standing> {
    NodeState found = state_of(step.key, test);
    if (found == NodeState::done) return std::nullopt;
    std::string why = step.title + (found == NodeState::failed ? ": failed last time" : ": not run yet");
    return Standing{&image, CellState::to_build, reasons(image, why)};
  };
  for (const Stage& stage : spec.stages)
    for (const Step& step : stage.steps)
      if (auto standing = missing(step, false)) return *standing;
  for (const Step& test : spec.tests)
    if (auto standing = missing(test, true)) return *standing;
  return {&image, CellState::to_retag, only_renamed()};
}

Standing StateView::standing(Planner& planner) const {
  const std::string record = planner.record_name();
  if (names_.is_built(record, planner.repository(), planner.immutable_tag()))
    return packaged(nullptr, record);
  bool all_done = planner.each_step(
      [&](const std::string& key, bool test) { return state_of(key, test) == NodeState::done; });
  if (all_done) return {nullptr, CellState::to_retag, only_renamed()};
  if (!last_plan()) return {nullptr, CellState::to_build, explain_new_image(false)};
  PlannedImage image = planner.image();
  Standing whole = standing(image);
  whole.image = nullptr;
  return whole;
}

const std::optional<PlanFile>& StateView::last_plan() const {
  if (!last_plan_read_) last_plan_ = PlanFile::open(files_, last_plan_file_);
  last_plan_read_ = true;
  return last_plan_;
}

// Changed inputs are the reason; without any, what an interrupted or failed run left to do.
std::vector<std::string> StateView::reasons(const PlannedImage& image, const std::string& missing) const {
  const auto& last = last_plan();
  auto before = last ? last->image(image.spec.request.id) : std::nullopt;
  if (!before) return explain_new_image(last.has_value());
  auto changed = explain_image(image.spec, *before);
  return changed.empty() ? std::vector<std::string>{missing} : changed;
}

StepCost StateView::cost(const std::string& key) const {
  bool test = names_.has_test(key);
  const fs::path file = test ? state_.test(key) : state_.step(key);
  auto bytes = files_.read(file);
  if (!bytes) return {};
  const JsonDocument document = JsonDocument::parse(*bytes, file.string());
  if (test) return {test_record_from_json(document.root()).seconds, std::nullopt};
  const StepRecord record = step_record_from_json(document.root());
  StepCost cost{record.seconds, 0};
  for (const LayerRecord& layer : record.layers)
    if (layer.step == key) *cost.bytes += layer.blob.size;
  return cost;
}

GraphStates StateView::graph_states(const std::vector<Standing>& rows) const {
  GraphStates states;
  for (const Standing& row : rows) {
    if (row.state == CellState::built) states.images[row.image->spec.request.id] = NodeState::done;
    for (const auto* keys : {&row.image->steps, &row.image->tests})
      for (const std::string& key : *keys)
        if (!states.steps.contains(key)) states.steps[key] = step(key);
  }
  return states;
}

}  // namespace kiln
