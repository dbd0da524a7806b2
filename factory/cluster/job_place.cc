#include "factory/cluster/job_place.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <sstream>

#include "factory/cpu/unknown_cpu.h"

namespace kiln {
namespace {

constexpr std::array kVendors = {"nvidia", "amd", "intel"};

bool is_accelerator(const std::string& name) {
  const std::string vendor = name.substr(0, name.find(':'));
  return std::find(kVendors.begin(), kVendors.end(), vendor) != kVendors.end();
}

// A GPU's architecture, as compilers name it, with its vendor.
std::string accelerator_of(const std::string& architecture) {
  if (architecture.starts_with("sm_") || architecture.starts_with("compute_"))
    return "nvidia:" + architecture;
  return architecture.starts_with("gfx") ? "amd:" + architecture : architecture;
}

// How many generations lie between: archspec's `ancestors` are in their order.
std::size_t distance(const Microarchitecture& from, const std::string& to) {
  const auto at = std::find(from.ancestors.begin(), from.ancestors.end(), to);
  return from.name == to ? 0 : static_cast<std::size_t>(at - from.ancestors.begin()) + 1;
}

const SlurmPlace* of_accelerator(const SlurmSite& site, const std::vector<std::string>& accelerators) {
  for (bool exact : {true, false})
    for (const std::string& name : accelerators) {
      auto found = site.partitions.find(exact ? name : name.substr(0, name.find(':')));
      if (found != site.partitions.end()) return &found->second;
    }
  return nullptr;
}

}  // namespace

PlaceNeed place_need(const Step& step) {
  PlaceNeed need;
  auto value = [&](const char* name) {
    auto found = step.parameters.find(name);
    return found == step.parameters.end() ? std::string() : found->second;
  };
  need.cpu = value("KILN_CPU_TARGET");
  if (step.kind != StepKind::test) return need;
  std::istringstream words(value("KILN_GPU_TARGETS"));
  for (std::string word; words >> word;) need.accelerators.push_back(accelerator_of(word));
  return need;
}

void check_places(const SlurmSite& site, const Microarchitectures& cpus, const std::string& file) {
  for (const auto& [name, place] : site.partitions) {
    const bool known = is_accelerator(name) || cpus.find(name) != nullptr;
    const std::string& cpu = known ? place.microarchitecture : name;
    if (known && (cpu.empty() || cpus.find(cpu) != nullptr)) continue;
    throw Error(ExitCode::input, {file, 0, 0, "/launcher/slurm/partitions/" + name},
                fmt::format("archspec knows no microarchitecture '{}'", cpu),
                hint_for_unknown_cpu(cpu, cpus));
  }
  const std::string& cpu = site.standard.microarchitecture;
  if (!cpu.empty() && cpus.find(cpu) == nullptr)
    throw Error(ExitCode::input, {file, 0, 0, "/launcher/slurm/default/microarchitecture"},
                fmt::format("archspec knows no microarchitecture '{}'", cpu),
                hint_for_unknown_cpu(cpu, cpus));
}

SlurmPlace choose_place(const SlurmSite& site, const PlaceNeed& need, const Microarchitectures& cpus) {
  if (const SlurmPlace* found = of_accelerator(site, need.accelerators)) return *found;
  const Microarchitecture* wanted = cpus.find(need.cpu);
  if (wanted == nullptr || wanted->ancestors.empty()) return site.standard;
  if (cpus.runs(site.standard.microarchitecture, wanted->name)) return site.standard;
  const SlurmPlace* nearest = nullptr;
  std::size_t least = 0;
  for (const auto& [name, place] : site.partitions) {
    const Microarchitecture* machine = is_accelerator(name) ? nullptr : cpus.find(place.microarchitecture);
    if (machine == nullptr || !cpus.runs(machine->name, wanted->name)) continue;
    const std::size_t far = distance(*machine, wanted->name);
    if (nearest != nullptr && far >= least) continue;
    nearest = &place;
    least = far;
  }
  return nearest == nullptr ? site.standard : *nearest;
}

}  // namespace kiln
