#include "factory/resolve/resolve.h"

#include <fmt/format.h>

#include <set>

#include "factory/base/enum_names.h"
#include "factory/resolve/image_resolver.h"

namespace kiln {
namespace {

constexpr auto kStepKinds = enum_names<StepKind>({{StepKind::rootfs, "rootfs"},
                                                  {StepKind::pull, "pull"},
                                                  {StepKind::run, "run"},
                                                  {StepKind::copy, "copy"},
                                                  {StepKind::test, "test"}});

// Target names are checked where they are written, before the first cell is resolved.
void check_targets(const Matrix& matrix, const TargetBook& targets) {
  auto check = [&](const std::string& value, SourceLocation where, const std::string& key) {
    where.pointer += "/" + key;
    if (value != "none" && !targets.broken().contains(value)) targets.get(value, where);
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

}  // namespace

std::string_view name_of(StepKind kind) { return kStepKinds.of(kind); }

StepKind step_kind_from(std::string_view name) {
  if (auto kind = kStepKinds.find(name)) return *kind;
  throw Error(ExitCode::input, fmt::format("unknown kind of step '{}'", name),
              did_you_mean(name, kStepKinds.all()));
}

Json inputs_of(const Step& step) { return Json::parse(step.inputs); }

std::vector<const Step*> ImageSpec::steps() const {
  std::vector<const Step*> steps;
  std::set<std::string_view> seen;
  for (const Stage& stage : stages)
    for (const Step& step : stage.steps)
      if (seen.insert(step.key).second) steps.push_back(&step);
  return steps;
}

std::uint32_t ResolvedImage::cell() const { return table_->images[number_].cell; }
ImageRequest ResolvedImage::request() const { return expansion_->request(cell()); }
std::string ResolvedImage::id() const { return expansion_->id(cell()); }

const std::string& ResolvedImage::repository() const {
  return table_->images[number_].composition->repository;
}
std::string ResolvedImage::tag() const { return table_->tag(number_); }
std::string ResolvedImage::immutable_tag() const { return make_immutable_tag(tag(), key()); }
std::string ResolvedImage::key() const { return hex_of(table_->images[number_].key); }
std::string ResolvedImage::parent_key() const { return table_->parent_key(number_); }

std::string ResolvedImage::record_name() const {
  const ImageTable::Image& image = table_->images[number_];
  std::string name = hex_of(image.key) + "-";
  append_hex(name, image.naming);
  return name;
}

const Target& ResolvedImage::target() const { return table_->images[number_].target->target; }
const std::string& ResolvedImage::architecture() const {
  return table_->images[number_].target->architecture;
}

const std::vector<ComponentUse>& ResolvedImage::components() const {
  return table_->images[number_].composition->components;
}

std::vector<StepTable::Number> ResolvedImage::steps() const {
  return table_->steps.steps(table_->images[number_].last_step);
}
std::vector<StepTable::Number> ResolvedImage::tests() const { return table_->tests_of(number_); }
ImageSpec ResolvedImage::spec() const { return table_->spec(number_, request()); }

Resolution::Resolution(std::unique_ptr<const Expansion> expansion, std::unique_ptr<const ImageTable> table)
    : expansion_(std::move(expansion)), table_(std::move(table)) {}
Resolution::~Resolution() = default;
Resolution::Resolution(Resolution&&) noexcept = default;
Resolution& Resolution::operator=(Resolution&&) noexcept = default;

const StepTable& Resolution::steps() const { return table_->steps; }
std::size_t Resolution::size() const { return table_->images.size(); }

std::size_t Resolution::excluded() const { return expansion_->excluded() + table_->unsolvable.size(); }

ExcludedCell Resolution::excluded(std::size_t number) const {
  if (number < expansion_->excluded()) return expansion_->excluded(number);
  const auto& [cell, reason] = table_->unsolvable[number - expansion_->excluded()];
  ImageRequest request = expansion_->request(cell);
  return {std::move(request.axes), *reason, std::move(request.where)};
}

std::size_t Resolution::broken() const { return table_->broken.size(); }

BrokenCell Resolution::broken(std::size_t number) const {
  const auto& [cell, why, target] = table_->broken[number];
  return {expansion_->request(cell), *why, target == nullptr ? "" : target->architecture};
}

Resolution resolve(Expansion expansion, const ResolveInput& input) {
  check_targets(expansion.matrix(), input.targets);
  auto table = std::make_unique<ImageTable>(input);
  ImageResolver resolver(input, *table);
  for (std::uint32_t cell = 0; cell < expansion.size(); ++cell) resolver.add(expansion.request(cell), cell);
  table->close();
  return {std::make_unique<const Expansion>(std::move(expansion)), std::move(table)};
}

std::variant<ImageSpec, ExcludedCell> resolve(const ImageRequest& request, const ResolveInput& input) {
  ImageTable table(input);
  ImageResolver(input, table).add(request, 0);
  if (!table.unsolvable.empty())
    return ExcludedCell{request.axes, *table.unsolvable.front().reason, request.where};
  if (!table.broken.empty()) throw *table.broken.front().why;
  return table.spec(0, request);
}

}  // namespace kiln
