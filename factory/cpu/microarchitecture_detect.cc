// Recognises the processor of a Linux host by the rules of archspec/cpu/detect.py.
#include <algorithm>
#include <charconv>
#include <tuple>

#include "factory/base/text.h"
#include "factory/cpu/microarchitecture.h"

namespace kiln {
namespace {

using Fields = std::map<std::string, std::string>;

std::set<std::string> words(std::string_view text) {
  std::set<std::string> words;
  for (text = trimmed(text); !text.empty(); text = trimmed(text)) {
    std::size_t end = std::min(text.find_first_of(kWhiteSpace), text.size());
    words.emplace(text.substr(0, end));
    text.remove_prefix(end);
  }
  return words;
}

// The 9 of "POWER9, altivec supported"; 0 under emulation, where /proc/cpuinfo is that of the emulating host.
int power_generation(std::string_view cpu) {
  constexpr std::string_view kName = "POWER";
  for (std::size_t at = cpu.find(kName); at != std::string_view::npos; at = cpu.find(kName, at + 1)) {
    std::string_view digits = cpu.substr(at + kName.size());
    unsigned generation = 0;
    if (std::from_chars(digits.data(), digits.data() + digits.size(), generation).ec == std::errc{}) {
      return static_cast<int>(generation);
    }
  }
  return 0;
}

std::string riscv_name(const Fields& fields) {
  std::string name = value_or(fields, "uarch", "riscv64");
  if (name == "sifive,u74-mc") return "u74mc";
  if (name == "spacemit,x60" || value_or(fields, "model name") == "Spacemit(R) X60") return "x60";
  return name;
}

// What /proc/cpuinfo tells of the processor, as far as the rules of its machine ask for it.
struct Processor {
  std::string name;
  std::string vendor;
  std::set<std::string> features;
  int generation = 0;
  std::string cpu_part;
};

Processor read_processor(const Fields& fields, std::string_view machine, const Fields& arm_vendors) {
  Processor processor;
  if (machine == "x86_64") {
    processor.vendor = value_or(fields, "vendor_id", "generic");
    processor.features = words(value_or(fields, "flags"));
    // Linux writes pni for sse3.
    if (processor.features.contains("ssse3")) processor.features.insert("sse3");
  } else if (machine == "aarch64") {
    const std::string code = value_or(fields, "CPU implementer", "generic");
    processor.vendor = value_or(arm_vendors, code, code);
    processor.features = words(value_or(fields, "Features"));
    processor.cpu_part = value_or(fields, "CPU part");
  } else if (machine == "ppc64le" || machine == "ppc64") {
    processor.generation = power_generation(value_or(fields, "cpu"));
  } else if (machine == "riscv64") {
    processor.name = riscv_name(fields);
  }
  return processor;
}

bool has_all_features(const Processor& processor, const Microarchitecture& cpu) {
  return std::includes(processor.features.begin(), processor.features.end(), cpu.features.begin(),
                       cpu.features.end());
}

// REQUIRES: `cpu` is of the family that `machine` names.
bool is_compatible(const Microarchitecture& cpu, const Processor& processor, std::string_view machine) {
  const bool generic = cpu.vendor == "generic";
  if (machine == "x86_64")
    return (generic || cpu.vendor == processor.vendor) && has_all_features(processor, cpu);
  if (machine == "aarch64") {
    // Which level of the architecture a processor has cannot be told from its features.
    if (generic && cpu.name != machine) return false;
    return (generic || cpu.vendor == processor.vendor) && has_all_features(processor, cpu);
  }
  if (machine == "ppc64le" || machine == "ppc64") return cpu.generation <= processor.generation;
  if (machine == "riscv64") return generic || cpu.name == processor.name;
  return false;
}

// The most specific; of equals the first. nullptr when there is none.
const Microarchitecture* most_specific(const std::vector<const Microarchitecture*>& candidates) {
  auto rank = [](const Microarchitecture* cpu) {
    return std::tuple(cpu->ancestors.size(), cpu->features.size());
  };
  auto best =
      std::ranges::max_element(candidates, [&](const auto* a, const auto* b) { return rank(a) < rank(b); });
  return best == candidates.end() ? nullptr : *best;
}

}  // namespace

std::map<std::string, std::string> first_processor(std::string_view cpuinfo) {
  Fields fields;
  for (std::string_view line : split(cpuinfo, '\n')) {
    std::size_t colon = line.find(':');
    if (colon == std::string_view::npos) {
      if (!fields.empty()) break;  // the blank line before the next processor
      continue;
    }
    fields[std::string(trimmed(line.substr(0, colon)))] = trimmed(line.substr(colon + 1));
  }
  return fields;
}

std::string Microarchitectures::vendor(std::string_view cpuinfo, std::string_view machine) const {
  const Processor processor = read_processor(first_processor(cpuinfo), machine, arm_vendors_);
  return processor.vendor == "generic" ? "" : processor.vendor;
}

std::string Microarchitectures::detect(std::string_view cpuinfo, std::string_view machine) const {
  const Processor processor = read_processor(first_processor(cpuinfo), machine, arm_vendors_);
  std::vector<const Microarchitecture*> candidates;
  std::vector<const Microarchitecture*> generic;
  for (const std::string& name : order_) {
    const Microarchitecture& cpu = table_.at(name);
    if (cpu.family != machine || !is_compatible(cpu, processor, machine)) continue;
    candidates.push_back(&cpu);
    if (cpu.vendor == "generic") generic.push_back(&cpu);
  }
  const Microarchitecture* level = most_specific(generic);
  if (level == nullptr) return std::string(machine);

  auto has_part = [&](const Microarchitecture* cpu) { return cpu->cpu_part == processor.cpu_part; };
  if (!processor.cpu_part.empty() && std::ranges::any_of(candidates, has_part)) {
    std::erase_if(candidates, [&](const Microarchitecture* cpu) { return !has_part(cpu); });
  }
  // Only descendants of the level: a niche feature switched off in the BIOS must not lead to something far
  // older.
  std::erase_if(candidates, [&](const auto* cpu) { return cpu == level || !runs(cpu->name, level->name); });
  const Microarchitecture* best = most_specific(candidates);
  return best == nullptr ? level->name : best->name;
}

}  // namespace kiln
