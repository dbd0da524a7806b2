#include "plan/resolve.h"

#include <fmt/format.h>

#include <array>
#include <nlohmann/json.hpp>

#include "plan/image_resolver.h"

namespace kiln {
namespace {

constexpr std::array<std::pair<StepKind, std::string_view>, 5> kStepKinds = {{{StepKind::rootfs, "rootfs"},
                                                                              {StepKind::pull, "pull"},
                                                                              {StepKind::run, "run"},
                                                                              {StepKind::copy, "copy"},
                                                                              {StepKind::test, "test"}}};

}  // namespace

std::string_view name_of(StepKind kind) {
  for (const auto& [known, name] : kStepKinds)
    if (known == kind) return name;
  return "";
}

StepKind step_kind_from(std::string_view name) {
  std::vector<std::string> names;
  for (const auto& [kind, known] : kStepKinds) {
    if (known == name) return kind;
    names.emplace_back(known);
  }
  throw Error(ExitCode::input, fmt::format("unknown kind of step '{}'", name), did_you_mean(name, names));
}

Json inputs_of(const Step& step) { return Json::parse(step.inputs); }

std::variant<ImageSpec, ExcludedCell> resolve(const ImageRequest& request, const ResolveInput& input) {
  ImageResolver resolver(input);
  ImageSketch sketch;
  if (const std::string* reason = resolver.sketch(request, sketch))
    return ExcludedCell{request.axes, *reason, request.where};
  return resolver.whole(sketch, request);
}

}  // namespace kiln
