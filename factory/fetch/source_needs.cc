#include "factory/fetch/source_needs.h"

#include <fmt/format.h>

#include <algorithm>

#include "factory/base/text.h"
#include "factory/engine/architecture.h"
#include "factory/run/offline.h"
#include "factory/source/pip_words.h"

namespace kiln {
namespace {

// Python's words for a machine, in the platform tags of wheels (PEP 425).
std::string wheel_machine(const std::string& architecture) {
  if (architecture == "amd64") return "x86_64";
  if (architecture.starts_with("arm64")) return "aarch64";
  return architecture;
}

class NeedsCollector {
 public:
  NeedsCollector(const BuildPlan& plan, const RecipeBook& recipes,
                 const std::function<bool(const std::string&)>& is_done)
      : plan_(plan), recipes_(recipes), is_done_(is_done) {}

  void add(const ResolvedImage& image) {
    const std::string cell = plan_.name() + "/" + image.id();
    const StepTable& table = plan_.steps();
    for (StepTable::Number number : image.steps()) {
      const Step step = table.step(table.first(number));
      if (is_done_ && is_done_(step.key)) continue;
      needs_.cells.insert(cell);
      StepTable::Number bottom = number;
      while (table.parent(bottom) != StepTable::kNone) bottom = table.parent(bottom);
      add_base(table.step(table.first(bottom)), step, cell);
      if (step.kind == StepKind::pull) needs_.images[{step.reference, architecture_of(step)}].insert(cell);
      if (step.kind == StepKind::run || step.kind == StepKind::rootfs) add_script(step, bottom, cell);
    }
  }

  SourceNeeds finish() { return std::move(needs_); }

 private:
  void add_base(const Step& base, const Step& step, const std::string& cell) {
    if (base.kind == StepKind::rootfs && base.site.empty()) needs_.unknown[base.component].insert(cell);
    auto& bases = base.kind == StepKind::pull ? needs_.pulled : needs_.bases;
    const bool may_have = base.kind == StepKind::pull ? step.kind == StepKind::run
                                                      : base.kind == StepKind::rootfs && !base.site.empty();
    if (!may_have) return;
    BaseNeed& need = bases.try_emplace(base.key, BaseNeed{base, {}, {}}).first->second;
    need.steps.insert(step.key);
    need.cells.insert(cell);
  }

  void add_script(const Step& step, StepTable::Number bottom, const std::string& cell) {
    if (const std::string url = value_or(step.parameters, "KILN_SOURCE_URL"); !url.empty())
      needs_.sources[{url, value_or(step.parameters, "KILN_SOURCE_CHECKSUM")}].insert(cell);
    const Recipe* recipe = recipe_of(step.component);
    if (recipe == nullptr) return;
    const std::string architecture = architecture_of(plan_.steps().step(plan_.steps().first(bottom)));
    for (const std::string& path : step.files)
      if (const auto file = recipe->files.find(path); path.ends_with(".txt") && file != recipe->files.end())
        add_requirements(path, file->second.bytes, architecture, cell);
  }

  const Recipe* recipe_of(const std::string& component) const {
    for (const auto& [key, recipe] : recipes_.all())
      if (fmt::format("{}/{}", name_of(recipe.kind), recipe.name) == component) return &recipe;
    return nullptr;
  }

  void add_requirements(const std::string& path, const std::string& text, const std::string& architecture,
                        const std::string& cell) {
    const RequirementsFile file = read_requirements_file(SourceFile(path, text));
    for (const PipPackage& package : file.packages)
      if (!package.name.empty() && !package.sha256.empty())
        needs_
            .wheels[{package.name, file.index, {package.sha256.begin(), package.sha256.end()}, architecture}]
            .insert(cell);
  }

  const BuildPlan& plan_;
  const RecipeBook& recipes_;
  const std::function<bool(const std::string&)>& is_done_;
  SourceNeeds needs_;
};

}  // namespace

SourceNeeds source_needs(const BuildPlan& plan, const ImageNumbers& images, const RecipeBook& recipes,
                         const std::function<bool(const std::string&)>& is_done) {
  NeedsCollector collector(plan, recipes, is_done);
  for (std::uint32_t number : images) collector.add(plan.image(number));
  return collector.finish();
}

bool may_suit(std::string_view file, const std::string& architecture) {
  if (!file.ends_with(".whl")) return true;
  file.remove_suffix(std::string_view(".whl").size());
  const std::string_view platform = file.substr(file.rfind('-') + 1);
  return platform == "any" || (platform.find("linux") != std::string_view::npos &&
                               platform.ends_with(wheel_machine(architecture)));
}

std::vector<std::string> lacking(const SourceNeeds& needs, const Mirror& mirror) {
  std::vector<std::string> lines;
  for (const auto& [image, cells] : needs.images)
    if (mirror.image(image.first, image.second) == nullptr)
      lines.push_back(fmt::format("the image {} {}", image.first, image.second));
  for (const auto& [source, cells] : needs.sources)
    if (mirror.source(source.first, source.second) == nullptr)
      lines.push_back(fmt::format("{} ({})", source.first, source.second));
  for (const auto& [wheel, cells] : needs.wheels)
    if (std::ranges::none_of(wheel.sha256, [&](const std::string& hex) {
          return mirror.wheel(Digest::from_hex(hex)) != nullptr;
        }))
      lines.push_back(fmt::format("a file of the package {} for pip", wheel.package));
  for (const auto& [key, need] : needs.bases)
    if (archive_of(mirror, need.base) == nullptr)
      lines.push_back(fmt::format("the packages of {} {}", need.base.component, need.base.version));
  std::ranges::sort(lines);
  return lines;
}

}  // namespace kiln
