#include "factory/lint/wheel_kind.h"

#include <algorithm>
#include <map>

#include "factory/base/json.h"
#include "factory/base/text.h"

namespace kiln {

std::map<std::string_view, std::string_view> embedded_lint_data();

namespace lint {
namespace {

std::vector<WheelKind> read_kinds() {
  const auto data = embedded_lint_data();
  const JsonDocument document = JsonDocument::parse(data.at("wheels.json"), "wheels.json");
  std::vector<WheelKind> kinds;
  for (const JsonNode& node : document.root().at("packages").items()) {
    WheelKind kind;
    auto take = [&](const char* key, std::string& field) {
      if (auto value = node.find(key)) field = value->string();
    };
    take("name", kind.name);
    take("version", kind.version);
    take("extra", kind.extra);
    take("unless_index", kind.unless_index);
    take("architecture", kind.architecture);
    take("why", kind.why);
    if (auto others = node.find("unless_with"))
      for (const JsonNode& other : others->items()) kind.unless_with.push_back(other.string());
    if (auto anywhere = node.find("runs_anywhere")) kind.runs_anywhere = anywhere->boolean();
    kind.gpu = node.at("for").string() == "gpu";
    kinds.push_back(std::move(kind));
  }
  return kinds;
}

bool any_is_beside(const std::vector<std::string>& globs, const std::vector<std::string>& beside) {
  return std::any_of(globs.begin(), globs.end(), [&](const std::string& glob) {
    return std::any_of(beside.begin(), beside.end(),
                       [&](const std::string& package) { return glob_matches(glob, package); });
  });
}

}  // namespace

const WheelKind* wheel_kind(const PipPackage& package, const std::string& index,
                            const std::string& architecture, const std::vector<std::string>& beside) {
  static const std::vector<WheelKind> kKinds = read_kinds();
  for (const WheelKind& kind : kKinds) {
    bool fits =
        glob_matches(kind.name, package.name) && glob_matches(kind.version, package.version) &&
        glob_matches(kind.extra, package.extras) &&
        (kind.architecture.empty() || kind.architecture == architecture) &&
        (kind.unless_index.empty() || (index + package.url).find(kind.unless_index) == std::string::npos) &&
        !any_is_beside(kind.unless_with, beside);
    if (fits) return &kind;
  }
  return nullptr;
}

}  // namespace lint
}  // namespace kiln
