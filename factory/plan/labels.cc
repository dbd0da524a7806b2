// Labels: what people and tools read off an image. Not in any key: new labels re-tag, they do not rebuild.
#include <fmt/format.h>

#include <algorithm>

#include "plan/parameter_values.h"
#include "plan/resolve.h"

namespace kiln {
namespace {

std::string joined(const std::vector<std::string>& words, std::string_view between) {
  return fmt::format("{}", fmt::join(words, between));
}

// "openblas 0.3.29 (distro)".
std::string describe(const ComponentUse& use) {
  return fmt::format("{} {} ({})", use.name, use.version.text(), use.method);
}

std::vector<std::string> names_of(const ImageSpec& spec, Kind kind) {
  std::vector<std::string> names;
  for (const ComponentUse& use : spec.components)
    if (use.kind == kind) names.push_back(fmt::format("{}@{}", use.name, use.version.text()));
  return names;
}

// One SPDX expression that covers everything in the image.
std::string licenses_of(const ImageSpec& spec, const RecipeBook& recipes) {
  std::vector<std::string> terms;
  for (const ComponentUse& use : spec.components) {
    const Component* component = recipes.find(use.kind, use.name);
    if (component == nullptr || component->licenses.empty()) continue;
    std::string term = component->licenses;
    if (term.find(" OR ") != std::string::npos) term = "(" + term + ")";
    if (std::find(terms.begin(), terms.end(), term) == terms.end()) terms.push_back(term);
  }
  return joined(terms, " AND ");
}

// "pytorch 2.6.0 (distro) with openblas, inductor".
std::string title_of(const ImageSpec& spec, const ComponentUse& main) {
  std::vector<std::string> others;
  for (const ComponentUse& use : spec.components)
    if (&use != &main && !use.automatic && use.kind != Kind::base) others.push_back(use.name);
  return describe(main) + (others.empty() ? "" : " with " + joined(others, ", "));
}

void add_oci(std::map<std::string, std::string>& labels, const ImageSpec& spec, const RecipeBook& recipes) {
  const ComponentUse& main = main_component(spec.components);
  auto add = [&](const char* name, const std::string& value) {
    if (!value.empty()) labels[fmt::format("org.opencontainers.image.{}", name)] = value;
  };
  add("title", title_of(spec, main));
  add("version", main.version.text());
  add("licenses", licenses_of(spec, recipes));
  const Component* component = recipes.find(main.kind, main.name);
  if (component == nullptr) return;
  add("description", component->description);
  add("url", component->homepage);
  if (const ComponentVersion* version = component->find_version(main.version))
    add("source", version->source_url);
}

void add_kiln(std::map<std::string, std::string>& labels, const ImageSpec& spec) {
  auto add = [&](const char* name, const std::string& value) {
    if (!value.empty()) labels[fmt::format("io.kiln.{}", name)] = value;
  };
  std::vector<std::string> all;
  for (const ComponentUse& use : spec.components)
    all.push_back(fmt::format("{}/{}@{}:{}", name_of(use.kind), use.name, use.version.text(), use.method));
  const ComponentUse& main = main_component(spec.components);
  if (main.kind == Kind::framework) {
    add("framework", main.name);
    add("framework.version", main.version.text());
  }
  add("method", main.method);
  add("cpu.target", spec.target.cpu);
  add("gpu.targets", gpu_targets(spec.target));
  add("compilers", joined(names_of(spec, Kind::compiler), " "));
  add("libraries", joined(names_of(spec, Kind::library), " "));
  add("components", joined(all, " "));
  add("key", spec.key);
  add("cell", spec.request.id);
  std::vector<std::string> flags;
  for (const FlagOrigin& origin : spec.flags)
    flags.push_back(fmt::format("{}={}", origin.variable, origin.value));
  add("flags", joined(flags, "; "));
  add("optimised", spec.optimised ? "true" : "false");
}

}  // namespace

std::map<std::string, std::string> make_labels(const ImageSpec& spec, const RecipeBook& recipes) {
  std::map<std::string, std::string> labels;
  add_oci(labels, spec, recipes);
  add_kiln(labels, spec);
  return labels;
}

}  // namespace kiln
