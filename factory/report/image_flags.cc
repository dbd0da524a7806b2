#include "factory/report/image_flags.h"

#include <fmt/format.h>

#include "factory/recipe/parameters.h"

namespace kiln {
namespace {

// The compilers among the image's components, in layering order.
std::vector<CompilerVersion> compilers_in(const ImageSpec& spec, const RecipeBook& recipes) {
  std::vector<CompilerVersion> compilers;
  for (const ComponentUse& use : spec.components) {
    const Recipe* recipe = recipes.find(use.kind, use.name);
    const ComponentVersion* version = recipe == nullptr ? nullptr : recipe->find_version(use.version);
    if (use.kind != Kind::toolchain || version == nullptr || version->fact("compiler").empty()) continue;
    compilers.push_back({version->fact("compiler"), version->fact("compiler_version")});
  }
  return compilers;
}

}  // namespace

std::variant<std::vector<FlagOrigin>, NoFlags> all_flags(const FlagQuestion& question) {
  auto found = CompilerFlags::find(question);
  if (auto* none = std::get_if<NoFlags>(&found)) return *none;
  std::vector<FlagOrigin> all;
  for (const std::string& name : compiler_variables()) all.push_back(std::get<CompilerFlags>(found).of(name));
  for (const std::string& name : gpu_variables()) all.push_back(gpu_flags(name, *question.target));
  return all;
}

ImageFlags flags_of_image(const ImageSpec& spec, const RecipeBook& recipes, const Microarchitectures& cpus) {
  if (!spec.flags.empty()) return {spec.flags, ""};
  const std::string nothing = "no script of this image reads compiler flags";
  std::vector<CompilerVersion> compilers = compilers_in(spec, recipes);
  if (compilers.empty())
    return {{}, nothing + ", and no toolchain in it is a compiler: what is in it comes compiled"};
  FlagQuestion question{&spec.target, &cpus, compilers.back(), {}, {}};
  for (const CompilerVersion& one : compilers)
    if (one.name == "gcc") question.fortran = one;
  auto all = all_flags(question);
  if (auto* none = std::get_if<NoFlags>(&all)) return {{}, nothing + "; " + none->reason};
  return {std::get<std::vector<FlagOrigin>>(std::move(all)),
          fmt::format("{}; these are what its {} would get", nothing, compilers.back().text())};
}

}  // namespace kiln
