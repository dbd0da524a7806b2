#include "factory/plan/build_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <numeric>

#include "factory/base/hash_index.h"

namespace kiln {
namespace {

void refuse_same_name(const ResolvedImage& one, const ResolvedImage& other) {
  const ImageRequest first = one.request();
  const ImageRequest second = other.request();
  throw Error(ExitCode::input, second.where,
              fmt::format("two cells have the tag {}: '{}' ({}) and '{}' ({})", one.reference(), first.id,
                          first.where.text(), second.id, second.where.text()),
              "exclude one, or say the version or method on the axis, such as openblas@0.3.29:source");
}

void check_names(const Resolution& resolution) {
  HashIndex by_name;
  std::vector<std::size_t> hashes;
  for (std::uint32_t number = 0; number < resolution.size(); ++number) {
    const ResolvedImage image = resolution.image(number);
    const std::string name = image.reference();
    hashes.push_back(std::hash<std::string>()(name));
    const HashIndex::Number known = by_name.find(hashes.back(), [&](HashIndex::Number other) {
      return hashes[other] == hashes.back() && resolution.image(other).reference() == name;
    });
    if (known != HashIndex::kNone) refuse_same_name(resolution.image(known), image);
    by_name.insert(hashes.back(), number, [&](HashIndex::Number other) { return hashes[other]; });
  }
}

}  // namespace

BuildPlan make_plan(Resolution resolution) {
  check_names(resolution);
  return BuildPlan(std::move(resolution));
}

BuildPlan plan_matrix(Matrix matrix, const ResolveInput& input) {
  return make_plan(resolve(expand(std::move(matrix), input.recipes), input));
}

ImageNumbers all_images(const BuildPlan& plan) {
  ImageNumbers numbers(plan.size());
  std::iota(numbers.begin(), numbers.end(), 0);
  return numbers;
}

StepUses::StepUses(const BuildPlan& plan, const ImageNumbers& images)
    : table_(&plan.steps()), uses_(plan.steps().size()) {
  auto add = [&](Number step) {
    ++runs_;
    if (uses_[table_->first(step)]++ == 0) steps_.push_back(table_->first(step));
  };
  for (std::uint32_t number : images) {
    for (Number step : plan.image(number).steps()) add(step);
    for (Number test : plan.image(number).tests()) add(test);
  }
}

std::vector<StepUses::Number> StepUses::by_key() const {
  std::vector<Number> sorted = steps_;
  std::ranges::sort(sorted, [&](Number one, Number other) { return table_->key(one) < table_->key(other); });
  return sorted;
}

std::size_t StepUses::shared() const {
  return static_cast<std::size_t>(std::ranges::count_if(uses_, [](std::uint32_t uses) { return uses > 1; }));
}

}  // namespace kiln
