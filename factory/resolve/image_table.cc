#include "factory/resolve/image_table.h"

#include <algorithm>

#include "factory/resolve/labels.h"

namespace kiln {

const std::vector<std::string>& image_command() {
  static const std::vector<std::string> kCommand = {"/bin/sh"};
  return kCommand;
}

void ImageTable::close() {
  std::vector<StepTable::Number> needed;
  for (std::size_t image = 0; steps.has_twins() && image < images.size(); ++image) {
    for (StepTable::Number step : steps.steps(images[image].last_step)) needed.push_back(step);
    for (StepTable::Number test : tests_of(image)) needed.push_back(test);
  }
  steps.close(needed);
}

std::vector<StepTable::Number> ImageTable::tests_of(std::size_t image) const {
  const std::uint32_t begin = image == 0 ? 0 : images[image - 1].tests_end;
  return {tests.begin() + begin, tests.begin() + images[image].tests_end};
}

std::string ImageTable::parent_key(std::size_t image) const {
  auto found = parents.find(image);
  return found == parents.end() ? "" : hex_of(found->second);
}

std::string ImageTable::tag(std::size_t image) const {
  return make_tag(images[image].composition->tag, images[image].target->tag);
}

std::vector<const FlagOrigin*> ImageTable::flags(StepTable::Number last,
                                                 const std::vector<StepTable::Number>& its_tests) const {
  std::vector<const FlagOrigin*> flags;
  auto add = [&](StepTable::Number step) {
    for (const FlagOrigin& flag : steps.flags(step)) {
      auto same = [&](const FlagOrigin* other) { return *other == flag; };
      if (std::none_of(flags.begin(), flags.end(), same)) flags.push_back(&flag);
    }
  };
  for (StepTable::Number step : steps.laid(last)) add(step);
  for (StepTable::Number test : its_tests) add(test);
  return flags;
}

ImageSpec ImageTable::spec(std::size_t number, ImageRequest request) const {
  const Image& image = images[number];
  const Composition& composition = *image.composition;
  ImageSpec spec;
  spec.request = std::move(request);
  spec.repository = composition.repository;
  spec.tag = tag(number);
  spec.key = hex_of(image.key);
  spec.immutable_tag = make_immutable_tag(spec.tag, spec.key);
  spec.target = image.target->target;
  spec.components = composition.components;
  for (const StepTable::StageSteps& stage : steps.stages(image.last_step)) {
    Stage& whole = spec.stages.emplace_back(Stage{stage.name, {}});
    for (StepTable::Number step : stage.steps) whole.steps.push_back(steps.step(step));
  }
  const std::vector<StepTable::Number> numbers = tests_of(number);
  for (StepTable::Number test : numbers) spec.tests.push_back(steps.step(test));
  spec.environment = composition.environment.map();
  spec.command = image_command();
  spec.labels = composition.labels.map();
  const std::vector<const FlagOrigin*> origins = flags(image.last_step, numbers);
  add_cell_labels(spec.labels, spec.target, spec.key, spec.request.id, parent_key(number), origins);
  for (const FlagOrigin* flag : origins) spec.flags.push_back(*flag);
  spec.optimised = composition.optimised;
  return spec;
}

}  // namespace kiln
