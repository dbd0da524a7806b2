#include "registry/modules/module_image.h"

#include <fmt/format.h>

#include <algorithm>

#include "factory/base/error.h"
#include "factory/base/text.h"
#include "factory/record/image_record.h"

namespace kiln {
namespace {

constexpr std::string_view kDockerScheme = "docker://";

// Names of modules, versions and programs are parts of paths, and words of module systems.
bool is_module_word(std::string_view word) {
  return !word.empty() && word.size() <= 200 && (is_letter_or_digit(word.front()) || word.front() == '_') &&
         std::ranges::all_of(word, [](char c) { return is_letter_or_digit(c) || contains("._+-", c); });
}

std::string label_of(const ImageRecord& image, const char* name) {
  const auto found = image.labels.find(std::string("org.opencontainers.image.") + name);
  return found == image.labels.end() ? "" : on_one_line(found->second);
}

// What a path of a SIF holds goes into files of lines.
void refuse_lines(const DeployedImage& image) {
  const std::string& path = image.sif;
  if (first_not_utf8(path) == path.npos && std::ranges::none_of(path, is_control)) return;
  throw Error(ExitCode::usage, fmt::format("the path '{}' has control characters", on_one_line(path)),
              "rename the file");
}

bool has_python(const ImageRecord& image) {
  return image.facts.count("python") != 0 || !python_module_of(image.application).empty();
}

// "docker://registry.site:5000/ai/pytorch:2.6.0" → pytorch/2.6.0.
std::string name_in(const DeployedImage& image) {
  const std::string last(last_part(image.sif.empty() ? image.reference : image.sif));
  const std::size_t colon = last.find(':');
  if (!image.sif.empty() || contains(last, '@') || colon == last.npos) return "";
  return last.substr(0, colon) + "/" + last.substr(colon + 1);
}

}  // namespace

void call_module(ModuleImage& module, std::string_view name) {
  const std::size_t slash = name.find('/');
  const std::string_view version = slash == name.npos ? "" : name.substr(slash + 1);
  if (!is_module_word(name.substr(0, slash)) || !is_module_word(version))
    throw Error(ExitCode::usage, fmt::format("'{}' is not NAME/VERSION of a module", on_one_line(name)),
                "letters, digits and ._+- are possible, such as --name pytorch/2.6.0");
  module.name = name.substr(0, slash);
  module.version = version;
}

ModuleImage module_image(const ImageRecord& image, const ReferencePaths& paths) {
  const DeployedImage deployed = deployed_image(image, paths);
  if (image.external()) {
    ModuleImage module = module_of_reference(deployed, "");
    module.python_module = python_module_of(image.application);
    module.framework_version = image.version.text();
    if (has_python(image)) module.programs = {{"python3", "python3"}, {"python", "python"}};
    return module;
  }
  ModuleImage module;
  refuse_lines(deployed);
  call_module(module, image.repository + "/" + image.tag);
  module.title = label_of(image, "title");
  if (module.title.empty()) module.title = image.application + " " + image.version.text();
  module.description = label_of(image, "description");
  module.homepage = label_of(image, "url");
  module.image = deployed;
  if (!image.published.registry.empty()) {
    const std::string& tag = image.immutable_tag.empty() ? image.tag : image.immutable_tag;
    module.pinned = fmt::format("{}/{}:{}", image.published.registry, image.repository, tag);
    module.digest = image.manifest.text();
  }
  module.python_module = python_module_of(image.application);
  module.framework_version = image.version.text();
  if (has_python(image)) module.programs = {{"python3", "python3"}, {"python", "python3"}};
  return module;
}

ModuleImage module_of_reference(const DeployedImage& image, std::string_view name) {
  refuse_lines(image);
  const std::string own = name.empty() ? name_in(image) : std::string(name);
  if (own.empty())
    throw Error(ExitCode::usage, fmt::format("the module of {} has no name", on_one_line(image.name)),
                "give --name NAME/VERSION");
  ModuleImage module;
  call_module(module, own);
  module.title = on_one_line(image.name);
  module.image = image;
  if (image.reference.starts_with(kDockerScheme))
    module.pinned = image.reference.substr(kDockerScheme.size());
  return module;
}

ModuleProgram read_module_program(std::string_view text) {
  const std::string_view name = last_part(text);
  bool plain = is_module_word(name);
  if (name.size() != text.size()) {
    plain = plain && text.starts_with('/');
    for (const std::string_view part : split(text.substr(1), '/')) plain = plain && is_module_word(part);
  }
  if (!plain)
    throw Error(ExitCode::usage,
                fmt::format("invalid program '{}': expected a name or an absolute path", on_one_line(text)),
                "for example --program torchrun or --program /opt/solver/bin/solver");
  return {std::string(name), std::string(text)};
}

}  // namespace kiln
