#include "registry/index/image_patterns.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "factory/base/text.h"

namespace kiln {

// What a pattern `key=glob` looks at.
struct ImageKey {
  const char* name;
  std::vector<std::string> (*values)(const IndexEntry& entry);
};

namespace {

using Words = std::vector<std::string>;

Words targets_of(const IndexEntry& entry) {
  Words values = entry.image.accelerators;
  values.push_back(entry.image.cpu);
  return values;
}

// A whole value, as cells have it: `compiler=xla` is not `xla+tvm`.
Words components_of(const IndexEntry& entry, std::string_view kind) {
  std::string joined;
  for (const ComponentRecord& component : entry.image.components)
    if (component.kind == kind) joined += (joined.empty() ? "" : "+") + component.name;
  return {joined.empty() ? "none" : joined};
}

Words states_of(const IndexEntry& entry) {
  Words values;
  if (entry.stale) values.emplace_back("stale");
  if (entry.failing) values.emplace_back("failing");
  if (!entry.retired.empty()) values.emplace_back("retired");
  if (values.empty()) values.emplace_back("good");
  if (!entry.image.why_untested().empty()) values.emplace_back("untested");  // good, perhaps: nobody tried
  return values;
}

const std::array<ImageKey, 8> kImageKeys = {{
    {"application", [](const IndexEntry& entry) { return Words{lower_case(entry.image.application)}; }},
    {"version", [](const IndexEntry& entry) { return Words{entry.image.version.text()}; }},
    {"method", [](const IndexEntry& entry) { return Words{entry.image.method}; }},
    {"compiler", [](const IndexEntry& entry) { return components_of(entry, "compiler"); }},
    {"runtime", [](const IndexEntry& entry) { return components_of(entry, "runtime"); }},
    {"target", targets_of},
    {"state", states_of},
    {"matrix", [](const IndexEntry& entry) { return entry.matrices; }},
}};
constexpr std::size_t kApplication = 0;

bool any_matches(const Words& globs, const Words& values) {
  return std::ranges::any_of(globs, [&](const std::string& glob) {
    return std::ranges::any_of(values, [&](const std::string& value) { return glob_matches(glob, value); });
  });
}

}  // namespace

ImagePatterns::ImagePatterns(const std::vector<std::string>& patterns) {
  for (const std::string& pattern : patterns) {
    const std::size_t equals = pattern.find('=');
    if (equals == std::string::npos) {
      names_.push_back(pattern);
      continue;
    }
    const std::string value = pattern.substr(equals + 1);
    auto& [key, globs] = of_key(pattern.substr(0, equals));
    globs.push_back(key == &kImageKeys[kApplication] ? lower_case(value) : value);
  }
}

std::string ImagePatterns::application() const {
  for (const auto& [key, globs] : keys_)
    if (key == &kImageKeys[kApplication] && globs.size() == 1 &&
        globs[0].find_first_of("*?") == std::string::npos)
      return globs[0];
  return "";
}

bool ImagePatterns::match(const IndexEntry& entry) const {
  if (!names_.empty() && !any_matches(names_, {entry.image.name(), entry.image.tag, entry.image.code}))
    return false;
  return std::ranges::all_of(
      keys_, [&](const auto& key) { return any_matches(key.second, key.first->values(entry)); });
}

ImagePatterns::Globs& ImagePatterns::of_key(const std::string& name) {
  Words known;
  for (const ImageKey& key : kImageKeys) {
    known.emplace_back(key.name);
    if (name != key.name) continue;
    for (Globs& globs : keys_)
      if (globs.first == &key) return globs;
    return keys_.emplace_back(&key, Words());
  }
  throw Error(ExitCode::usage, fmt::format("no key of images is called '{}'", name),
              did_you_mean(name, known));
}

}  // namespace kiln
