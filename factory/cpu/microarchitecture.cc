#include "factory/cpu/microarchitecture.h"

#include <fmt/format.h>

#include <algorithm>

#include "factory/base/text.h"
#include "factory/cpu/microarchitecture_versions.h"

namespace kiln {
namespace {

using archspec::UpperBound;
using CompilerEntry = Microarchitecture::CompilerEntry;

std::string versions_of(const std::vector<CompilerEntry>& entries) {
  std::vector<std::string_view> versions;
  for (const CompilerEntry& entry : entries) versions.push_back(entry.versions);
  return joined(versions, ", ");
}

// The first entry that admits the version, or nullptr.
const CompilerEntry* admitting(const std::vector<CompilerEntry>& entries,
                               const archspec::VersionParts& version, UpperBound upper_bound) {
  for (const CompilerEntry& entry : entries) {
    if (archspec::admits(archspec::split_bounds(entry.versions).value(), version, upper_bound)) return &entry;
  }
  return nullptr;
}

std::string no_entry_note(const Microarchitecture& cpu, std::string_view compiler, std::string_view version) {
  const auto* entries = cpu.compilers.find(compiler);
  if (entries == nullptr || entries->empty())
    return fmt::format("{} has no entry for {}", compiler, cpu.name);
  return fmt::format("{} {} has no entry for {} (archspec's {})", compiler, version, cpu.name,
                     versions_of(*entries));
}

FlagsAnswer refusal(FlagsAnswer::Kind kind, std::string reason) { return {kind, {}, {}, std::move(reason)}; }

struct NamedCpu {
  std::string_view name;     // in small letters, with _ for -
  std::string_view nearest;  // archspec's: the first that it has counts
};

// Makers' code names, and GCC's and LLVM's words for -march, of processors that archspec 0.2 lacks or names
// in another way; the nearest by the compilers' lists of instruction sets (GCC 15, "x86 Options", "AArch64
// Options").
constexpr NamedCpu kNearest[] = {
    {"graniterapids", "sapphirerapids"},
    {"graniterapids_d", "sapphirerapids"},
    {"emeraldrapids", "sapphirerapids"},
    {"diamondrapids", "sapphirerapids"},
    {"cooperlake", "cascadelake"},
    {"icelake_server", "icelake"},
    {"icelake_client", "icelake"},
    {"rocketlake", "icelake"},
    {"tigerlake", "icelake"},
    {"kabylake", "skylake"},
    {"coffeelake", "skylake"},
    {"cometlake", "skylake"},
    {"raptorlake", "alderlake"},
    {"meteorlake", "alderlake"},
    {"gracemont", "alderlake"},
    {"sierraforest", "alderlake"},
    {"grandridge", "alderlake"},
    {"lunarlake", "arrowlake_s"},
    {"pantherlake", "arrowlake_s"},
    {"clearwaterforest", "arrowlake_s"},
    {"lunarlake", "alderlake"},
    {"pantherlake", "alderlake"},
    {"clearwaterforest", "alderlake"},
    {"arrowlake", "alderlake"},
    {"arrowlake_s", "alderlake"},
    {"knl", "mic_knl"},
    {"znver1", "zen"},
    {"znver2", "zen2"},
    {"znver3", "zen3"},
    {"znver4", "zen4"},
    {"znver5", "zen5"},
    {"znver6", "zen5"},
    {"zen6", "zen5"},
    {"zen5c", "zen5"},
    {"zen4c", "zen4"},
    {"naples", "zen"},
    {"rome", "zen2"},
    {"milan", "zen3"},
    {"trento", "zen3"},
    {"genoa", "zen4"},
    {"bergamo", "zen4"},
    {"siena", "zen4"},
    {"turin", "zen5"},
    {"grace", "neoverse_v2"},
    {"neoverse_v3", "neoverse_v2"},
    {"neoverse_v3ae", "neoverse_v2"},
    {"neoverse_n3", "neoverse_n2"},
    {"neoverse_e1", "armv8.2a"},
    {"neoverse_512tvb", "neoverse_v1"},
    {"graviton2", "neoverse_n1"},
    {"graviton3", "neoverse_v1"},
    {"graviton4", "neoverse_v2"},
    {"graviton5", "neoverse_v2"},
    {"axion", "neoverse_v2"},
    {"cobalt100", "neoverse_n2"},
    {"altra", "neoverse_n1"},
    {"ampereone", "ampere1"},
    {"ampere1b", "ampere1a"},
    {"ampere1b", "ampere1"},
    {"vera", "olympus"},
    {"olympus", "neoverse_v2"},
    {"monaka", "neoverse_v2"},
    {"fujitsu_monaka", "neoverse_v2"},
    {"cortex_a73", "cortex_a72"},
    {"cortex_a75", "armv8.2a"},
    {"cortex_a76", "armv8.2a"},
    {"cortex_a76ae", "armv8.2a"},
    {"cortex_a78", "armv8.2a"},
    {"cortex_a78ae", "armv8.2a"},
    {"cortex_x1", "armv8.2a"},
    {"carmel", "armv8.2a"},
    {"m5", "m4"},
    {"power11le", "power10le"},
    {"power11", "power10"},
};

std::string plain(std::string_view name) {
  std::string text = lower_case(name);
  std::ranges::replace(text, '-', '_');
  return text;
}

}  // namespace

const Microarchitecture* Microarchitectures::find(std::string_view name) const {
  return find_value(table_, name);
}

const Microarchitecture& Microarchitectures::known(std::string_view name) const {
  if (const Microarchitecture* cpu = find(name)) return *cpu;
  throw Error(ExitCode::input, fmt::format("archspec knows no microarchitecture '{}'", name),
              hint_for_unknown_cpu(name, *this));
}

std::vector<std::string> Microarchitectures::names() const {
  std::vector<std::string> names;
  for (const auto& [name, cpu] : table_) names.push_back(name);
  return names;
}

bool Microarchitectures::runs(std::string_view a, std::string_view b) const {
  const Microarchitecture* cpu = find(a);
  return cpu != nullptr && (a == b || contains(cpu->ancestors, b));
}

std::string Microarchitectures::family(std::string_view name) const {
  const Microarchitecture* cpu = find(name);
  return cpu == nullptr ? "" : cpu->family;
}

bool Microarchitectures::has_feature(std::string_view name, std::string_view feature) const {
  const Microarchitecture* cpu = find(name);
  return cpu != nullptr && has_feature(*cpu, std::string(feature), 0);
}

// An alias may stand for aliases; a chain longer than their number would be a cycle.
bool Microarchitectures::has_feature(const Microarchitecture& cpu, const std::string& feature,
                                     std::size_t alias_depth) const {
  if (cpu.features.contains(feature)) return true;
  auto alias = feature_aliases_.find(feature);
  if (alias == feature_aliases_.end() || alias_depth > feature_aliases_.size()) return false;
  const auto& [any_of, families] = alias->second;
  auto holds = [&](const std::string& other) { return has_feature(cpu, other, alias_depth + 1); };
  return (!any_of || std::ranges::any_of(*any_of, holds)) && (!families || families->contains(cpu.family));
}

FlagsAnswer Microarchitectures::flags(std::string_view name, std::string_view compiler,
                                      std::string_view version) const {
  const Microarchitecture& cpu = known(name);
  using Kind = FlagsAnswer::Kind;
  if (known(cpu.family).compilers.find(compiler) == nullptr) return {Kind::unknown_compiler, {}, {}, {}};
  const auto* entries = cpu.compilers.find(compiler);
  if (entries == nullptr) {
    // The family itself has the compiler, so the search ends.
    auto best = std::ranges::find_if(cpu.ancestors, [&](const std::string& ancestor) {
      return known(ancestor).compilers.find(compiler) != nullptr;
    });
    return refusal(
        Kind::unsupported,
        fmt::format("'{}' compiler is known to optimize up to the '{}' microarchitecture in the '{}' "
                    "architecture family",
                    compiler, *best, cpu.family));
  }
  auto parts = archspec::split_version(version);
  if (!parts) {
    return refusal(
        Kind::invalid_version,
        "invalid format for the compiler version argument. Only dot separated digits are allowed.");
  }
  if (const CompilerEntry* entry = admitting(*entries, *parts, UpperBound::exact)) {
    return {Kind::flags, entry->flags, entry->warning, {}};
  }
  const std::string versions = entries->empty() ? "no supported compiler versions"
                                                : "supported compiler versions are " + versions_of(*entries);
  return refusal(Kind::unsupported,
                 fmt::format("cannot produce optimized binary for micro-architecture '{}' with {}@{} [{}]",
                             name, compiler, version, versions));
}

std::optional<Microarchitectures::BestFlags> Microarchitectures::best_flags(std::string_view name,
                                                                            std::string_view compiler,
                                                                            std::string_view version) const {
  const Microarchitecture& asked = known(name);
  if (known(asked.family).compilers.find(compiler) == nullptr) return std::nullopt;
  auto parts = archspec::split_version(version);
  if (!parts) {
    throw Error(ExitCode::input,
                fmt::format("'{}' is not a version of {} that archspec can compare", version, compiler),
                "write it as dot separated digits, such as 12.2.0");
  }
  std::vector<std::string> candidates{asked.name};
  candidates.insert(candidates.end(), asked.ancestors.begin(), asked.ancestors.end());
  for (const std::string& candidate : candidates) {
    const Microarchitecture& cpu = known(candidate);
    const auto* entries = cpu.compilers.find(compiler);
    if (entries == nullptr) continue;
    const CompilerEntry* entry = admitting(*entries, *parts, UpperBound::exact);
    const bool exact = entry != nullptr;
    if (!exact) entry = admitting(*entries, *parts, UpperBound::with_patch_releases);
    if (entry == nullptr || contains(entry->flags, "=native")) continue;
    std::vector<std::string> notes;
    if (cpu.name != asked.name) {
      notes.push_back(no_entry_note(asked, compiler, version));
      notes.push_back(fmt::format("flags of {} are used", cpu.name));
    }
    if (!exact) {
      notes.push_back(fmt::format("{} {} counts as a patch release in archspec's {} for {}", compiler,
                                  version, entry->versions, cpu.name));
    }
    if (!entry->warning.empty()) notes.push_back(entry->warning);
    return BestFlags{cpu.name, entry->flags, joined(notes, "; "), entry->versions};
  }
  return std::nullopt;
}

std::string hint_for_unknown_cpu(std::string_view name, const Microarchitectures& cpus,
                                 const std::vector<std::string>& others) {
  const std::string asked = plain(name);
  if (cpus.find(asked) != nullptr) return fmt::format("did you mean '{}'?", asked);
  for (const NamedCpu& known : kNearest)
    if (known.name == asked && cpus.find(known.nearest) != nullptr)
      return fmt::format("archspec's nearest is '{}'", known.nearest);
  std::vector<std::string> names = cpus.names();
  names.insert(names.end(), others.begin(), others.end());
  return did_you_mean(name, names);
}

}  // namespace kiln
