#include "factory/cpu/unknown_cpu.h"

#include <fmt/format.h>

#include <algorithm>

#include "factory/base/text.h"

namespace kiln {
namespace {

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
  std::replace(text.begin(), text.end(), '-', '_');
  return text;
}

}  // namespace

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
