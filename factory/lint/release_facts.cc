#include "factory/lint/release_facts.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "factory/base/json.h"
#include "factory/base/text.h"
#include "factory/lint/finding.h"

namespace kiln::lint {
namespace {

// Release → value, to be read as "from this release on".
using Steps = std::map<Version, std::string>;

struct Capability {
  std::string first;  // "" = as far back as the table goes
  std::string last;   // "" = still there
};

struct Limits {
  std::map<std::string, Capability, std::less<>> capabilities;
  std::map<std::string, Steps, std::less<>> compilers;
  Version newest_known;
  Steps drivers;
  std::map<std::string, std::string, std::less<>> last_for_family;
};

Steps read_steps(const JsonNode& node) {
  Steps steps;
  for (const auto& [release, value] : node.members()) steps.emplace(Version(release), value.string());
  return steps;
}

Limits read_limits() {
  const JsonDocument document = lint_data("cuda.json");
  const JsonNode root = document.root();
  Limits limits;
  for (const auto& [name, node] : root.at("compute_capabilities").members()) {
    auto first = node.find("first");
    auto last = node.find("last");
    limits.capabilities[name] = {first ? first->string() : "", last ? last->string() : ""};
  }
  limits.compilers["gcc"] = read_steps(root.at("newest_gcc"));
  limits.compilers["clang"] = read_steps(root.at("newest_clang"));
  limits.newest_known = Version(root.at("newest_known").string());
  limits.drivers = read_steps(root.at("smallest_driver"));
  for (const auto& [family, last] : root.at("last_for_family").members())
    limits.last_for_family[family] = last.string();
  return limits;
}

const Limits& limits() {
  static const Limits kLimits = read_limits();
  return kLimits;
}

// major.minor, so that 11.8.1 is 11.8.
Version release_of(std::string_view cuda) {
  std::size_t first = cuda.find('.');
  std::size_t second = first == std::string_view::npos ? first : cuda.find('.', first + 1);
  return Version(std::string(cuda.substr(0, second)));
}

std::optional<std::string> step_at(const Steps& steps, const Version& release) {
  auto after = steps.upper_bound(release);
  if (after == steps.begin()) return std::nullopt;
  return std::prev(after)->second;
}

// sm_61 → 6.1, sm_100 → 10.0, sm_90a → 9.0a.
std::string capability_of(std::string_view accelerator) {
  if (!accelerator.starts_with("sm_")) return "";
  accelerator.remove_prefix(3);
  std::size_t digits = std::min(accelerator.find_first_not_of("0123456789"), accelerator.size());
  if (digits < 2) return "";
  return fmt::format("{}.{}", accelerator.substr(0, digits - 1), accelerator.substr(digits - 1));
}

const Capability* find_capability(const std::string& name) {
  const auto& table = limits().capabilities;
  auto found = table.find(name);
  if (found == table.end() && !name.empty() && is_letter(name.back()))
    found = table.find(name.substr(0, name.size() - 1));
  return found == table.end() ? nullptr : &found->second;
}

}  // namespace

bool is_cuda_version(std::string_view text) {
  return !text.empty() && is_digit(text.front()) &&
         text.find_first_not_of("0123456789.") == std::string_view::npos;
}

std::optional<std::string> smallest_driver(std::string_view cuda) {
  if (!is_cuda_version(cuda)) return std::nullopt;
  return step_at(limits().drivers, release_of(cuda));
}

CapabilityGap capability_gap(std::string_view cuda, std::string_view accelerator) {
  const Capability* known = find_capability(capability_of(accelerator));
  if (known == nullptr || !is_cuda_version(cuda)) return {};
  const Version release = release_of(cuda);
  if (!known->first.empty() && release < Version(known->first))
    return {fmt::format("CUDA {} is the first that does", known->first), false};
  if (!known->last.empty() && Version(known->last) < release)
    return {fmt::format("CUDA {} is the last that does", known->last), true};
  return {};
}

std::optional<std::string> newest_host_compiler(std::string_view cuda, std::string_view compiler) {
  auto steps = limits().compilers.find(compiler);
  if (steps == limits().compilers.end() || !is_cuda_version(cuda)) return std::nullopt;
  const Version release = release_of(cuda);
  if (limits().newest_known < release) return std::nullopt;
  return step_at(steps->second, release);
}

std::optional<std::string> last_cuda_for(std::string_view family) {
  auto found = limits().last_for_family.find(family);
  if (found == limits().last_for_family.end()) return std::nullopt;
  return found->second;
}

namespace {

struct Facts {
  std::vector<std::pair<Version, Version>> unbounded;
  std::vector<std::pair<std::string, std::string>> pythons;
  std::vector<std::pair<Version, BazelRange>> bazel;
};

Facts read_facts() {
  const JsonDocument document = lint_data("tensorflow.json");
  const JsonNode root = document.root();
  Facts facts;
  for (const JsonNode& one : root.at("protobuf_unbounded").items())
    facts.unbounded.emplace_back(one.at("first").string(), one.at("last").string());
  for (const JsonNode& one : root.at("pythons").items())
    facts.pythons.emplace_back(one.at("base").string(), one.at("python").string());
  for (const JsonNode& one : root.at("bazel").items())
    facts.bazel.emplace_back(Version(one.at("series").string()),
                             BazelRange{Version(one.at("first").string()), Version(one.at("last").string()),
                                        one.at("known").string() == "derived"});
  return facts;
}

const Facts& facts() {
  static const Facts kFacts = read_facts();
  return kFacts;
}

}  // namespace

bool takes_any_protobuf(const Version& tensorflow) {
  return std::ranges::any_of(facts().unbounded, [&](const auto& branch) {
    return branch.first <= tensorflow && tensorflow <= branch.second;
  });
}

std::string python_of_base(const std::string& reference) {
  for (const auto& [base, python] : facts().pythons)
    if (glob_matches(base, reference)) return python;
  return "";
}

std::optional<BazelRange> bazel_for(const Version& tensorflow) {
  for (const auto& [series, range] : facts().bazel)
    if (series.covers(tensorflow)) return range;
  return std::nullopt;
}

namespace {

std::vector<WheelKind> read_kinds() {
  const JsonDocument document = lint_data("wheels.json");
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
  return std::ranges::any_of(globs, [&](const std::string& glob) {
    return std::ranges::any_of(beside,
                               [&](const std::string& package) { return glob_matches(glob, package); });
  });
}

}  // namespace

const WheelKind* wheel_kind(const PipPackage& package, const std::string& index,
                            const std::string& architecture, const std::vector<std::string>& beside) {
  static const std::vector<WheelKind> kKinds = read_kinds();
  for (const WheelKind& kind : kKinds) {
    bool fits = glob_matches(kind.name, package.name) && glob_matches(kind.version, package.version) &&
                glob_matches(kind.extra, package.extras) &&
                (kind.architecture.empty() || kind.architecture == architecture) &&
                (kind.unless_index.empty() || !contains(index + package.url, kind.unless_index)) &&
                !any_is_beside(kind.unless_with, beside);
    if (fits) return &kind;
  }
  return nullptr;
}

}  // namespace kiln::lint
