// Labels: what people and tools read off an image. Not in any key: new labels re-tag, they do not rebuild.
// Repository and tag of an image. Nothing is ever parsed back out of a tag: it is a name for people.
#include "factory/resolve/labels.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>

#include "factory/base/digest.h"
#include "factory/base/json_text.h"
#include "factory/base/text.h"
#include "factory/resolve/flags/gpu_flags.h"
#include "factory/resolve/image_resolver.h"

namespace kiln {
namespace {

// "openblas 0.3.29 (distro)".
std::string describe(const ComponentUse& use) {
  return fmt::format("{} {} ({})", use.name, use.version.text(), use.method);
}

using Components = std::vector<ComponentUse>;

std::vector<std::string> names_of(const Components& components, Kind kind) {
  std::vector<std::string> names;
  for (const ComponentUse& use : components)
    if (use.kind == kind) names.push_back(fmt::format("{}@{}", use.name, use.version.text()));
  return names;
}

// One SPDX expression that covers everything in the image.
std::string licenses_of(const Components& components, const RecipeBook& recipes) {
  std::vector<std::string> terms;
  for (const ComponentUse& use : components) {
    const Recipe* recipe = recipes.find(use.kind, use.name);
    if (recipe == nullptr || recipe->licenses.empty()) continue;
    std::string term = recipe->licenses;
    if (contains(term, " OR ")) term = "(" + term + ")";
    if (!contains(terms, term)) terms.push_back(term);
  }
  return joined(terms, " AND ");
}

// "pytorch 2.6.0 (distro) with openblas, inductor"; "train: pytorch …" of an application.
std::string title_of(const Components& components, const ComponentUse& main) {
  const ComponentUse& naming = naming_component(components);
  std::vector<std::string> others;
  for (const ComponentUse& use : components)
    if (&use != &main && &use != &naming && !use.automatic && use.kind != Kind::base)
      others.push_back(use.name);
  return (&naming == &main ? "" : naming.name + ": ") + describe(main) +
         (others.empty() ? "" : " with " + joined(others, ", "));
}

void add(Labels& labels, const char* name, std::string value) {
  if (!value.empty()) labels[name] = std::move(value);
}

void add_oci(Labels& labels, const Components& components, const RecipeBook& recipes) {
  const ComponentUse& main = main_component(components);
  add(labels, "org.opencontainers.image.title", title_of(components, main));
  add(labels, "org.opencontainers.image.version", main.version.text());
  add(labels, "org.opencontainers.image.licenses", licenses_of(components, recipes));
  const ComponentUse& naming = naming_component(components);
  if (const Recipe* recipe = recipes.find(naming.kind, naming.name))
    add(labels, "org.opencontainers.image.description", recipe->description);
  const Recipe* recipe = recipes.find(main.kind, main.name);
  if (recipe == nullptr) return;
  add(labels, "org.opencontainers.image.url", recipe->homepage);
  if (const ComponentVersion* version = recipe->find_version(main.version))
    add(labels, "org.opencontainers.image.source", version->source_url);
}

// Facts that say what is inside an image, or what it asks of a host: of the components in layering order, the
// last that has one. A base's Python is the distribution's, and inside only where the base is the framework.
void add_facts(Labels& labels, const Components& components, const RecipeBook& recipes) {
  for (const ComponentUse& use : components) {
    const Recipe* recipe = recipes.find(use.kind, use.name);
    const ComponentVersion* version = recipe == nullptr ? nullptr : recipe->find_version(use.version);
    if (version == nullptr) continue;
    const bool base = use.kind == Kind::base;
    for (const char* name : {"driver", "cuda", "cudnn", "glibc", "rocm"})
      if (base) add(labels, fmt::format("io.kiln.facts.{}", name).c_str(), version->fact(name));
    for (const char* name : {"python", "mpi", "cpu_vendor", "transparent_hugepages"})
      if (!base || !version->fact("framework").empty())
        add(labels, fmt::format("io.kiln.facts.{}", name).c_str(), version->fact(name));
  }
}

// What the recipes accept, as JSON: [{"by": "framework/xgboost", "file": …, "reason": …}, …]. "" for nothing.
std::string acceptances_of(const Components& components) {
  std::string text;
  for (const ComponentUse& use : components)
    for (const AcceptedFile& accepted : use.accept) {
      text += text.empty() ? '[' : ',';
      JsonObjectText object(text);
      object.member("by", fmt::format("{}/{}", name_of(use.kind), use.name));
      object.member("file", accepted.file);
      object.member("reason", accepted.reason);
      object.end();
    }
  return text.empty() ? text : text + ']';
}

constexpr std::size_t kMaxTag = 128;  // OCI distribution-spec
constexpr std::size_t kHashLength = 12;

// The kinds after version and method, in the order of the tag.
constexpr std::array kTagKinds = {Kind::library, Kind::compiler, Kind::distributed,
                                  Kind::runtime, Kind::workload, Kind::toolchain};

std::string plain(std::string tag) {
  for (char& c : tag) {
    bool fits = is_letter_or_digit(c) || c == '_' || c == '.' || c == '-';
    if (!fits) c = '_';
  }
  if (!tag.empty() && (tag[0] == '.' || tag[0] == '-')) tag[0] = '_';
  return tag;
}

std::string shortened(const std::string& tag, std::size_t length) {
  if (tag.size() <= length) return tag;
  return tag.substr(0, length - kHashLength - 1) + "-" + Digest::of(tag).hex().substr(0, kHashLength);
}

// "openblas", with the version and method where the cell insists on them.
std::string part_of(const ComponentUse& use) {
  std::string part = use.name;
  if (contains(use.written, '@')) part += use.version.text();
  if (contains(use.written, ':')) part += "." + use.method;
  return part;
}

// "trixie", or "ubuntu18.04" where the version alone says little.
std::string os_of(const std::vector<ComponentUse>& components) {
  for (const ComponentUse& use : components) {
    if (use.kind != Kind::base) continue;
    const std::string& version = use.version.text();
    bool number = !version.empty() && std::isdigit(static_cast<unsigned char>(version[0])) != 0;
    return number ? use.name + version : version;
  }
  return "";
}

}  // namespace

Labels component_labels(const Components& components, bool optimised, const std::string& optimise,
                        const RecipeBook& recipes) {
  Labels labels;
  add_oci(labels, components, recipes);
  std::vector<std::string> all;
  for (const ComponentUse& use : components)
    all.push_back(fmt::format("{}/{}@{}:{}", name_of(use.kind), use.name, use.version.text(), use.method));
  const ComponentUse& main = main_component(components);
  if (main.kind == Kind::framework) {
    add(labels, "io.kiln.framework", main.name);
    add(labels, "io.kiln.framework.version", main.version.text());
  }
  if (const ComponentUse& naming = naming_component(components); naming.kind == Kind::application)
    add(labels, "io.kiln.application", naming.name);
  add(labels, "io.kiln.method", main.method);
  add(labels, "io.kiln.compilers", joined(names_of(components, Kind::compiler), " "));
  add(labels, "io.kiln.libraries", joined(names_of(components, Kind::library), " "));
  add(labels, "io.kiln.runtimes", joined(names_of(components, Kind::runtime), " "));
  add(labels, "io.kiln.components", joined(all, " "));
  add_facts(labels, components, recipes);
  add(labels, "io.kiln.accept", acceptances_of(components));
  add(labels, "io.kiln.optimise", optimise);
  add(labels, "io.kiln.claims_gain", optimised ? "true" : "false");
  return labels;
}

void add_cell_labels(Labels& labels, const Target& target, std::string key, std::string cell,
                     std::string parent, const std::vector<const FlagOrigin*>& flags) {
  add(labels, "io.kiln.cpu.target", target.cpu);
  add(labels, "io.kiln.gpu.targets", gpu_targets(target));
  add(labels, "io.kiln.key", std::move(key));
  add(labels, "io.kiln.cell", std::move(cell));
  add(labels, kParentKeyLabel, std::move(parent));
  std::vector<std::string> each;
  for (const FlagOrigin* origin : flags) {
    std::string flag = origin->variable + "=" + origin->value;
    if (!origin->compiler.empty() && !contains(each, flag)) each.push_back(std::move(flag));
  }
  add(labels, "io.kiln.flags", joined(each, "; "));
}

std::string naming_text(const std::string& labels, const std::string& repository, const std::string& tag) {
  std::string text;
  JsonObjectText object(text);
  object.key("labels") += labels;
  object.member("repository", repository);
  object.member("tag", tag);
  object.end();
  return text;
}

std::string record_name(const ImageSpec& spec) {
  std::string labels;
  append_json(labels, spec.labels);
  const std::string text = naming_text(labels, spec.repository, spec.tag);
  return spec.key + "-" + Digest::of(text).hex().substr(0, 2 * std::tuple_size_v<ImageTable::Naming>);
}

const ComponentUse& main_component(const std::vector<ComponentUse>& components) {
  auto first = [&](auto&& wanted) { return std::ranges::find_if(components, wanted); };
  auto found = first([](const ComponentUse& use) { return use.kind == Kind::framework; });
  if (found == components.end())
    found = first([](const ComponentUse& use) { return use.kind != Kind::base && !use.automatic; });
  return found == components.end() ? components.front() : *found;
}

const ComponentUse& naming_component(const std::vector<ComponentUse>& components) {
  auto found = std::ranges::find_if(
      components, [](const ComponentUse& use) { return use.kind == Kind::application && !use.automatic; });
  return found == components.end() ? main_component(components) : *found;
}

std::string repository_of(const ComponentUse& main) {
  std::string name;  // OCI: lower case, no `+`
  for (char c : main.name)
    name += c == '+' ? 'p' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return name;
}

TagParts tag_parts(const std::vector<ComponentUse>& components, std::string optimise) {
  const ComponentUse& main = main_component(components);
  std::string head = main.version.text() + "-" + main.method;
  for (Kind kind : kTagKinds) {
    std::vector<std::string> parts;
    for (const ComponentUse& use : components)
      if (use.kind == kind && !use.automatic && &use != &main) parts.push_back(part_of(use));
    std::ranges::sort(parts);
    for (const std::string& part : parts) head += "-" + part;
  }
  std::ranges::replace(optimise, '+', '-');
  if (!optimise.empty()) head += "-" + optimise;
  return {std::move(head), os_of(components)};
}

std::string tag_of_target(const Target& target) {
  std::string tag = target.cpu;
  for (const std::string& accelerator : target.accelerators)
    tag += "-" + accelerator.substr(accelerator.find(':') + 1);
  return tag;
}

std::string make_tag(const TagParts& parts, std::string_view target) {
  std::string tag = parts.head;
  tag += '-';
  tag += target;
  if (!parts.os.empty()) tag += "-" + parts.os;
  return shortened(plain(std::move(tag)), kMaxTag);
}

std::string make_immutable_tag(const std::string& tag, const std::string& key) {
  return shortened(tag, kMaxTag - kHashLength - 1) + "-" + key.substr(0, kHashLength);
}

}  // namespace kiln
