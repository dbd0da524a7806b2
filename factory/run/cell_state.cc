#include "factory/run/cell_state.h"

#include <fmt/format.h>

#include <set>

#include "factory/base/enum_names.h"
#include "factory/record/image_blobs.h"
#include "factory/state/record_store.h"

namespace kiln {
namespace {

constexpr auto kCellStates = enum_names<CellState>({{CellState::built, "built"},
                                                    {CellState::to_build, "to build"},
                                                    {CellState::to_test, "to test"},
                                                    {CellState::to_retag, "to re-tag"},
                                                    {CellState::to_package, "to package"},
                                                    {CellState::failed, "failed"}});

}  // namespace

std::string_view name_of(CellState state) { return kCellStates.of(state); }

StateView::StateView(const BuildPlan& plan, const Site& site, const StatePaths& state,
                     const FileSystem& files, StateNames& names, std::vector<LockChange> moved)
    : plan_(plan),
      site_(site),
      state_(state),
      files_(files),
      has_formats_(has_formats(site, state, files)),
      names_(names),
      moved_(std::move(moved)) {}

NodeState StateView::state_of(const std::string& key, bool test) const {
  if (test ? names_.has_test(key) : names_.has_step(key)) return NodeState::done;
  return names_.has_failure(key) ? NodeState::failed : NodeState::to_run;
}

NodeState StateView::step(const std::string& key) const { return state_of(key, names_.has_test(key)); }

ExplainedState StateView::packaged(const std::string& record_name) const {
  if (has_formats_ || !lacks_format(site_, state_, record_name, files_)) return {CellState::built, {}};
  return {CellState::to_package, {"the site file requests a SIF, which this image lacks: nothing is built"}};
}

bool StateView::is_whole(const ResolvedImage& image) const {
  return names_.is_built(image, plan_.steps()) && packaged(image.record_name()).state == CellState::built;
}

ExplainedState StateView::explain(const ResolvedImage& image) const {
  if (names_.is_built(image, plan_.steps())) return packaged(image.record_name());
  if (const auto missing = to_run(image); !missing.empty()) {
    const bool is_test = plan_.steps().pattern(missing.front()).kind == StepKind::test;
    const CellState state = is_test && names_.is_packaged(image) ? CellState::to_test : CellState::to_build;
    return {state, reasons(image, missing.front())};
  }
  if (names_.has_failure(image.key())) return {CellState::failed, failure(image)};
  if (names_.has_image_record(image.record_name()))
    return {CellState::to_package, {damage(image) + ": nothing is built"}};
  return {CellState::to_retag, {"new name or labels: nothing is built"}};
}

std::vector<std::string> StateView::failure(const ResolvedImage& image) const {
  try {
    if (const auto record = RecordReader(state_, files_).failure(image.key())) {
      std::vector<std::string> why = {record->what};
      if (!record->hint.empty()) why.push_back(record->hint);
      return why;
    }
  } catch (const Error&) {
    // of a damaged record nothing is known
  }
  return {"failed last time"};
}

std::string StateView::damage(const ResolvedImage& image) const {
  try {
    auto record = RecordReader(state_, files_).image(image.record_name());
    auto damaged = record && !record->external()
                       ? first_damage(blobs_of(*record, BlobStore::reading(state_.store())))
                       : std::nullopt;
    return damaged ? fmt::format("its {} {}", damaged->what, damaged->damage) : "its layout is missing";
  } catch (const Error&) {
    return "its record is damaged";
  }
}

std::vector<StepTable::Number> StateView::to_run(const ResolvedImage& image) const {
  const StepTable& steps = plan_.steps();
  const std::vector<StepTable::Number> all = image.steps();
  auto is_done = [&](StepTable::Number step) { return names_.has_step(steps.hex(step)); };
  std::set<StepTable::Number> needed;
  for (std::vector<StepTable::Number> next = {all.back()}; !next.empty();) {
    const StepTable::Number step = next.back();
    next.pop_back();
    if (step == StepTable::kNone || is_done(step) || !needed.insert(steps.first(step)).second) continue;
    next.push_back(steps.parent(step));
    next.push_back(steps.from(step));
  }
  std::vector<StepTable::Number> found;
  for (StepTable::Number step : all)
    if (needed.contains(steps.first(step)) ||  // or its layer is gone, on which others may stand
        (!is_done(step) && files_.exists(state_.step(steps.hex(step)))))
      found.push_back(step);
  for (StepTable::Number test : image.tests())
    if (!names_.has_test(steps.hex(test))) found.push_back(test);
  return found;
}

std::string StateView::fetched_from(const std::string& key) const {
  return unless_error([&] {  // of a damaged record nothing is known
    const RecordReader reader(state_, files_);
    if (const auto step = reader.step(key)) return step->origin.place;
    const auto test = reader.test(key);
    return test ? test->origin.place : "";
  });
}

const std::optional<PlanFile>& StateView::last_plan() const {
  if (!last_plan_read_) last_plan_ = PlanFile::open(files_, state_.plan(plan_.name()));
  last_plan_read_ = true;
  return last_plan_;
}

// Changed inputs are the reason; without any, what an interrupted or failed run left to do.
std::vector<std::string> StateView::reasons(const ResolvedImage& image, StepTable::Number missing) const {
  const auto& last = last_plan();
  std::optional<ImageSpec> before;
  try {
    if (last) before = last->image(image.id());
  } catch (const Error& error) {
    if (error.code() != ExitCode::store) throw;
    return {"the changes are not known: the plan of the last build is damaged"};
  }
  if (!before) return explain_new_image(last.has_value());
  auto changed = explain_image(image.spec(), *before, moved_);
  if (!changed.empty()) return changed;
  const std::string key = plan_.steps().hex(missing);
  const char* why = names_.has_failure(key)           ? "failed last time"
                    : files_.exists(state_.step(key)) ? "its layer is missing or damaged"
                    : files_.exists(state_.test(key)) ? "its record is damaged"
                                                      : "not run yet";
  return {fmt::format("{}: {}", plan_.steps().pattern(missing).title, why)};
}

// Of a damaged record nothing is known; a build runs its step again.
StepCost StateView::cost(const std::string& key) const {
  return unless_error([&] {
    RecordReader reader(state_, files_);
    if (names_.has_test(key)) {
      auto record = reader.test(key);
      return record ? StepCost{record->seconds, std::nullopt} : StepCost{};
    }
    auto record = reader.step(key);
    if (!record) return StepCost();
    StepCost cost{record->seconds, 0};
    for (const BuiltLayer& layer : record->chain.layers)
      if (layer.step == key) *cost.bytes += layer.blob.size;
    return cost;
  });
}

void StateView::keep(FileSystem& files) const {
  try {
    names_.keep(files);
  } catch (const Error&) {
    // A cache: the next one looks for itself.
  }
}

GraphStates StateView::graph_states(const ImageNumbers& images) const {
  GraphStates states;
  for (std::uint32_t number : images) {
    const ResolvedImage image = plan_.image(number);
    if (is_whole(image))
      states.images[image.id()] = NodeState::done;
    else if (names_.has_failure(image.key()))
      states.images[image.id()] = NodeState::failed;
  }
  for (StepTable::Number number : StepUses(plan_, images).steps()) {
    const std::string key = plan_.steps().hex(number);
    states.steps[key] = step(key);
  }
  return states;
}

}  // namespace kiln
