// Where a Dockerfile and the definition file beside it disagree.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "factory/import/legacy_bases.h"
#include "factory/import/legacy_image.h"

namespace kiln {
namespace {

// docker.io/library/ubuntu:18.04 is ubuntu:18.04.
std::string plain_reference(std::string reference) {
  if (reference.starts_with(kUndecidedRegistry))
    return "library://" + reference.substr(kUndecidedRegistry.size());
  for (std::string_view prefix : {"docker://", "docker.io/", "index.docker.io/", "library/"})
    if (reference.starts_with(prefix)) reference.erase(0, prefix.size());
  return reference.find_first_of(":@") == std::string::npos ? reference + ":latest" : reference;
}

class Drift {
 public:
  Drift(const LegacyImage& docker, const LegacyImage& definition)
      : docker_(docker), definition_(definition) {}

  std::vector<ImportDifference> find() {
    Said here{plain_reference(docker_.base.value), docker_.base.line};
    Said there{plain_reference(definition_.base.value), definition_.base.line};
    if (!(here == there)) add("base", &here, &there);
    compare("pip", docker_.facts.pip, definition_.facts.pip, true);
    compare("wheel", docker_.facts.wheels, definition_.facts.wheels, true);
    compare("conda", docker_.facts.conda, definition_.facts.conda, true);
    compare("package", docker_.facts.packages, definition_.facts.packages, true);
    compare("clone", docker_.facts.clones, definition_.facts.clones, true);
    compare("download", docker_.facts.downloads, definition_.facts.downloads, true);
    compare("option", docker_.facts.options, definition_.facts.options, true);
    compare("environment", docker_.environment, definition_.environment, true);
    // What is exported while building counts where both say something.
    compare("setting", docker_.facts.settings, definition_.facts.settings, false);
    std::ranges::sort(out_, [](const auto& a, const auto& b) {
      return std::tie(a.line, a.other_line, a.what) < std::tie(b.line, b.other_line, b.what);
    });
    return std::move(out_);
  }

 private:
  void compare(const std::string& what, const SaidMap& here, const SaidMap& there, bool missing) {
    std::set<std::string> names;
    for (const SaidMap* map : {&here, &there})
      for (const auto& [name, said] : *map) names.insert(name);
    for (const std::string& name : names) {
      auto left = here.find(name);
      auto right = there.find(name);
      bool both = left != here.end() && right != there.end();
      if (both ? left->second == right->second : !missing) continue;
      // Only the build sees it, and a definition file has it in %post.
      if (what == "environment" && (known_setting(name, both))) continue;
      if (what == "setting" && docker_.environment.contains(name) && definition_.environment.contains(name))
        continue;
      add(what + " " + name, left == here.end() ? nullptr : &left->second,
          right == there.end() ? nullptr : &right->second);
    }
  }

  // A variable that one has in the image's environment and the other exports while building, with the same
  // value.
  bool known_setting(const std::string& name, bool both) const {
    if (both) return false;
    auto left = docker_.facts.settings.find(name);
    auto right = definition_.facts.settings.find(name);
    return left != docker_.facts.settings.end() && right != definition_.facts.settings.end();
  }

  void add(const std::string& what, const Said* here, const Said* there) {
    auto text = [](const Said* said) {
      return said == nullptr ? std::string() : said->value.empty() ? std::string("there") : said->value;
    };
    out_.push_back({what, docker_.path, here == nullptr ? 0 : here->line, text(here), definition_.path,
                    there == nullptr ? 0 : there->line, text(there)});
  }

  const LegacyImage& docker_;
  const LegacyImage& definition_;
  std::vector<ImportDifference> out_;
};

}  // namespace

std::vector<ImportDifference> twin_drift(const LegacyImage& docker, const LegacyImage& definition) {
  return Drift(docker, definition).find();
}

}  // namespace kiln
