#include "plan/planner.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "plan/group_cells.h"

namespace kiln {
namespace {

// Target names are checked where they are written, before the first cell is resolved.
void check_targets(const Matrix& matrix, const TargetBook& targets) {
  auto check = [&](const std::string& value, SourceLocation where, const std::string& key) {
    where.pointer += "/" + key;
    if (value != "none") targets.get(value, where);
  };
  for (const MatrixGroup& group : matrix.groups) {
    for (const Axis& axis : group.axes) {
      if (axis.name != "target") continue;
      for (std::size_t index = 0; index < axis.values.size(); ++index)
        check(axis.values[index], axis.where, std::to_string(index));
    }
    for (const Partial& include : group.include) {
      auto found = include.values.find("target");
      if (found != include.values.end()) check(found->second, include.where, "target");
    }
  }
}

const Matrix& checked(const Matrix& matrix, const ResolveInput& input) {
  check_targets(matrix, input.targets);
  return matrix;
}

std::uint64_t hash_of(const std::string& repository, const std::string& tag) {
  std::hash<std::string_view> hash;
  return mixed(hash(repository), hash(tag));
}

}  // namespace

Planner::Planner(const Matrix& matrix, const ResolveInput& input)
    : cells_(checked(matrix, input), input.recipes), resolver_(input) {}

bool Planner::next() {
  while (next_ < cells_.size()) {
    std::uint32_t cell = next_++;
    request_ = cells_.request(cell);
    if (const std::string* reason = resolver_.sketch(request_, sketch_)) {
      unsolvable_.push_back({cell, reason});
      continue;
    }
    add_name();
    count_steps();
    return true;
  }
  return false;
}

void Planner::go_to(std::size_t image) {
  request_ = cells_.request(images_[image].cell);
  resolver_.sketch(request_, sketch_);
  new_steps_.clear();
  new_tests_ = 0;
}

void Planner::forget_steps() {
  resolver_.steps().forget_uses();
  steps_before_sharing_ = 0;
}

void Planner::add_name() {
  std::uint64_t hash = hash_of(repository(), tag());
  by_name_.find(hash, [&](HashIndex::Number number) {
    const Image& other = images_[number];
    if (other.name_hash == hash) refuse_same_name(other);
    return false;
  });
  by_name_.insert(hash, static_cast<HashIndex::Number>(images_.size()),
                  [this](HashIndex::Number number) { return images_[number].name_hash; });
  images_.push_back({next_ - 1, hash});
}

// Equal hashes are looked into: the other image is resolved again.
void Planner::refuse_same_name(const Image& other) {
  ImageRequest request = cells_.request(other.cell);
  ImageSketch sketch;
  resolver_.sketch(request, sketch);
  if (sketch.choice->repository != repository() || sketch.tag != tag()) return;
  throw Error(ExitCode::input, request_.where,
              fmt::format("two cells have the tag {}:{}: '{}' ({}) and '{}' ({})", repository(), tag(),
                          request.id, request.where.text(), request_.id, request_.where.text()),
              "exclude one, or say the version or method on the axis, such as openblas@0.3.29:source");
}

void Planner::count_steps() {
  new_steps_.clear();
  new_tests_ = 0;
  each_sketched_step([this](const SketchedStep& step, bool test) {
    ++steps_before_sharing_;
    if (!resolver_.steps().use(step.step)) return;
    new_steps_.push_back(step);
    if (test) ++new_tests_;
  });
}

std::vector<Step> Planner::new_steps() {
  std::vector<Step> steps;
  std::size_t stages = new_steps_.size() - new_tests_;
  for (std::size_t index = 0; index < new_steps_.size(); ++index)
    steps.push_back(index < stages ? resolver_.step(new_steps_[index])
                                   : resolver_.test(new_steps_[index], sketch_));
  return steps;
}

bool Planner::each_step(const std::function<bool(const std::string& key, bool test)>& visit) const {
  const StepStore& steps = resolver_.steps();
  for (const SketchedStage& stage : sketch_.stages)
    for (const SketchedStep& step : stage.steps)
      if (!visit(steps.hex(step.step), false)) return false;
  return std::all_of(sketch_.tests.begin(), sketch_.tests.end(),
                     [&](const SketchedStep& test) { return visit(steps.hex(test.step), true); });
}

void Planner::each_sketched_step(
    const std::function<void(const SketchedStep& step, bool test)>& visit) const {
  std::vector<StepStore::Number> seen;  // build stages begin alike
  for (const SketchedStage& stage : sketch_.stages) {
    for (const SketchedStep& step : stage.steps) {
      if (std::find(seen.begin(), seen.end(), step.step) != seen.end()) continue;
      seen.push_back(step.step);
      visit(step, false);
    }
  }
  for (const SketchedStep& test : sketch_.tests) visit(test, true);
}

void Planner::each_shared_step(
    const std::function<void(const std::string& key, std::size_t uses)>& visit) const {
  const StepStore& steps = resolver_.steps();
  for (StepStore::Number step = 0; step < steps.size(); ++step)
    if (steps.uses(step) > 1) visit(steps.hex(step), steps.uses(step));
}

PlannedImage Planner::image() { return planned(resolver_.whole(sketch_, request_)); }

ExcludedCell Planner::excluded(std::size_t index) const {
  if (index < cells_.excluded()) return cells_.excluded(index);
  const Unsolvable& cell = unsolvable_[index - cells_.excluded()];
  ImageRequest request = cells_.request(cell.cell);
  return {std::move(request.axes), *cell.reason, request.where};
}

}  // namespace kiln
