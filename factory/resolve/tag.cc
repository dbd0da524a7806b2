// Repository and tag of an image. Nothing is ever parsed back out of a tag: it is a name for people.
#include "factory/resolve/tag.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>

#include "factory/base/digest.h"
#include "factory/base/text.h"

namespace kiln {
namespace {

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
  if (use.written.find('@') != std::string::npos) part += use.version.text();
  if (use.written.find(':') != std::string::npos) part += "." + use.method;
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

const ComponentUse& main_component(const std::vector<ComponentUse>& components) {
  auto first = [&](auto&& wanted) { return std::find_if(components.begin(), components.end(), wanted); };
  auto found = first([](const ComponentUse& use) { return use.kind == Kind::framework; });
  if (found == components.end())
    found = first([](const ComponentUse& use) { return use.kind != Kind::base && !use.automatic; });
  return found == components.end() ? components.front() : *found;
}

const ComponentUse& naming_component(const std::vector<ComponentUse>& components) {
  auto found = std::find_if(components.begin(), components.end(), [](const ComponentUse& use) {
    return use.kind == Kind::application && !use.automatic;
  });
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
    std::sort(parts.begin(), parts.end());
    for (const std::string& part : parts) head += "-" + part;
  }
  std::replace(optimise.begin(), optimise.end(), '+', '-');
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
