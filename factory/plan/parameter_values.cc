#include "plan/parameter_values.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <sstream>

#include "plan/component_value.h"
#include "plan/parameters.h"

namespace kiln {
namespace {

constexpr std::array<std::string_view, 5> kFlagVariables = {"KILN_CPU_FLAGS", "CFLAGS", "CXXFLAGS", "FFLAGS",
                                                            "KILN_BAZEL_COPTS"};

bool is_flag_variable(std::string_view name) {
  return std::find(kFlagVariables.begin(), kFlagVariables.end(), name) != kFlagVariables.end();
}

std::string fact(const ComponentVersion& version, const std::string& name) {
  auto found = version.facts.find(name);
  return found == version.facts.end() ? "" : found->second;
}

bool is_compiler(const Chosen& chosen) {
  return chosen.component->kind == Kind::toolchain && !fact(*chosen.version, "compiler").empty() &&
         !fact(*chosen.version, "compiler_version").empty();
}

// The compiler of the stage: one that the method itself asks for, else the one laid last.
const Chosen* compiler_of(const ScriptPlace& place) {
  auto asked_for = [&](const Chosen& chosen) {
    auto names = [&](const Need& need) {
      return need.kind == Kind::toolchain && need.name == chosen.component->name;
    };
    const Method& method = *place.self->method;
    return std::any_of(method.needs.begin(), method.needs.end(), names) ||
           (method.build && std::any_of(method.build->needs.begin(), method.build->needs.end(), names));
  };
  const Chosen* last = nullptr;
  for (const Chosen* chosen : place.laid) {
    if (!is_compiler(*chosen)) continue;
    if (asked_for(*chosen)) return chosen;
    last = chosen;
  }
  return last;
}

// KILN_<KIND>_NAME and _VERSION: all components of the kind, joined by blanks.
std::string other_component(const std::string& name, const Choice& image) {
  for (const std::string& kind_name : kind_names()) {
    std::string prefix = "KILN_" + kind_name + "_";
    std::transform(prefix.begin(), prefix.end(), prefix.begin(),
                   [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
    if (!name.starts_with(prefix)) continue;
    bool version = name == prefix + "VERSION";
    std::string words;
    for (const Chosen& chosen : image) {
      if (name_of(chosen.component->kind) != kind_name) continue;
      if (!words.empty()) words += ' ';
      words += version ? chosen.version->version.text() : chosen.component->name;
    }
    return words;
  }
  return "";
}

std::string as_copts(const std::string& flags) {
  std::istringstream words(flags);
  std::string copts;
  for (std::string word; words >> word;) copts += fmt::format("{}--copt={}", copts.empty() ? "" : " ", word);
  return copts;
}

// A compute capability: 90 and "a" of sm_90a.
struct Capability {
  int number;
  std::string suffix;
  auto operator<=>(const Capability&) const = default;
};

std::vector<Capability> capabilities(const Target& target) {
  constexpr std::string_view kPrefix = "nvidia:sm_";
  std::vector<Capability> found;
  for (const std::string& accelerator : target.accelerators) {
    if (!accelerator.starts_with(kPrefix)) continue;
    std::string text = accelerator.substr(kPrefix.size());
    std::size_t digits = 0;
    while (digits < text.size() && digits < 4 && std::isdigit(static_cast<unsigned char>(text[digits])) != 0)
      ++digits;
    if (digits < 2) throw Error(ExitCode::input, fmt::format("'{}' is no compute capability", accelerator));
    found.push_back({std::stoi(text.substr(0, digits)), text.substr(digits)});
  }
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

}  // namespace

std::string gpu_targets(const Target& target) {
  std::string words;
  for (const std::string& accelerator : target.accelerators)
    words += (words.empty() ? "" : " ") + accelerator.substr(accelerator.find(':') + 1);
  return words;
}

std::string cuda_archs(const Target& target) {
  std::string list;
  for (const Capability& one : capabilities(target))
    list += fmt::format("{}{}.{}{}", list.empty() ? "" : ";", one.number / 10, one.number % 10, one.suffix);
  return list.empty() ? "" : list + "+PTX";
}

std::map<std::string, std::string> ParameterValues::of(const ScriptPlace& place) {
  std::map<std::string, std::string> values;
  for (const std::string& name : place.self->method->parameters) {
    bool wanted = place.flags != FlagPolicy::none || !is_flag_variable(name);
    if (wanted && !is_given_to_every_script(name)) values[name] = value_of(name, place);
  }
  return values;
}

std::string ParameterValues::value_of(const std::string& name, const ScriptPlace& place) {
  const Chosen& self = *place.self;
  if (name == "KILN_VERSION") return self.version->version.text();
  if (name == "KILN_METHOD") return self.method->name;
  if (name == "KILN_NAME") return self.component->name;
  if (name == "KILN_PREFIX") return "/opt/kiln/" + self.component->name;
  if (name == "KILN_SOURCE_URL") return self.version->source_url;
  if (name == "KILN_SOURCE_CHECKSUM") return self.version->source_checksum;
  if (name == "KILN_CPU_TARGET") return target_->cpu;
  if (name == "KILN_CPU_FAMILY") return cpus_->family(target_->cpu);
  if (name == "KILN_GPU_TARGETS") return gpu_targets(*target_);
  if (name == "KILN_CUDA_ARCHS") return cuda_archs(*target_);
  if (is_flag_variable(name)) return flag_value(name, place);
  if (std::string wanted = fact_of_parameter(name); !wanted.empty()) return fact(*self.version, wanted);
  if (is_known_parameter(name)) return other_component(name, *place.image);
  throw Error(ExitCode::input, self.method->where, fmt::format("unknown parameter '{}'", name),
              did_you_mean(name, known_parameters()));
}

std::string ParameterValues::flag_value(const std::string& name, const ScriptPlace& place) {
  const Chosen& self = *place.self;
  const Chosen* compiler = compiler_of(place);
  if (compiler == nullptr) {
    if (place.flags == FlagPolicy::optional) return "";
    throw Error(ExitCode::input, self.method->where,
                fmt::format("{} (method {}) reads {}, but no compiler is in the stage where its script runs",
                            path_of(*self.component), self.method->name, name),
                "add a toolchain with the facts 'compiler' and 'compiler_version' to its needs, such as gcc");
  }
  std::string compiler_name = fact(*compiler->version, "compiler");
  std::string compiler_version = fact(*compiler->version, "compiler_version");
  auto best = cpus_->best_flags(target_->cpu, compiler_name, compiler_version);
  if (!best)
    throw Error(ExitCode::input, compiler->version->where,
                fmt::format("archspec knows no compiler '{}' for {}", compiler_name, target_->cpu),
                "the fact 'compiler' is archspec's name, such as gcc or clang");
  std::string value = best->flags;
  if (name == "KILN_BAZEL_COPTS") {
    value = as_copts(best->flags);
  } else if (name != "KILN_CPU_FLAGS") {
    value = best->flags.empty() ? "-O2" : "-O2 " + best->flags;
  }
  FlagOrigin origin{name, value, compiler_name + " " + compiler_version, best->target, best->note};
  auto same = [&](const FlagOrigin& other) { return other == origin; };
  if (std::none_of(flags_.begin(), flags_.end(), same)) flags_.push_back(origin);
  return value;
}

}  // namespace kiln
