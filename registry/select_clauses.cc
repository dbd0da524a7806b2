#include "registry/select_clauses.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "base/text.h"
#include "registry/dsl_values.h"

namespace kiln {
namespace {

struct Case {
  const ImageQuery& query;
  const ImageRecord& image;
  const Host& host;
  const Microarchitectures& cpus;

  bool host_cpu_known() const { return host.known && cpus.find(host.description.cpu) != nullptr; }
  bool wants_optimised() const { return query.opt_build.value_or(false); }
};

// `nvidia:sm_61` → `nvidia`, `sm_61`
std::pair<std::string, std::string> split_accelerator(const std::string& text) {
  auto colon = text.find(':');
  if (colon == std::string::npos) return {text, ""};
  return {text.substr(0, colon), text.substr(colon + 1)};
}

std::string list_or(const std::vector<std::string>& words, const char* empty) {
  return words.empty() ? empty : fmt::format("{}", fmt::join(words, ", "));
}

std::string family_of_type(const std::string& cpu_type) {
  if (cpu_type == "x86" || cpu_type == "amd") return "x86_64";
  if (cpu_type == "arm") return "aarch64";
  return cpu_type == "power" ? "ppc64le" : "";
}

std::string family_clause(const Case& c) {
  if (c.image.cpu.empty()) return "";
  std::string family = c.cpus.family(c.image.cpu);
  if (family.empty()) return fmt::format("built for {}, which archspec does not know", c.image.cpu);
  std::string asked = family_of_type(c.query.cpu_type);
  // archspec's ppc64 and ppc64le are families of their own; the DSL's "power" means either.
  bool power = c.query.cpu_type == "power" && family.starts_with("ppc64");
  if (!asked.empty() && family != asked && !power) {
    return fmt::format("asks for {}; built for {} ({})", c.query.cpu_type, c.image.cpu, family);
  }
  const std::string& vendor = c.cpus.find(c.image.cpu)->vendor;
  if (c.query.cpu_type == "amd" && vendor != "generic" && vendor != "AuthenticAMD") {
    return fmt::format("asks for amd; built for {} ({})", c.image.cpu, vendor);
  }
  if (c.host_cpu_known() && c.cpus.family(c.host.description.cpu) != family) {
    return fmt::format("built for {}; host is {}", family, c.cpus.family(c.host.description.cpu));
  }
  return "";
}

// What a person recognises, if it is missing at all.
std::string telling_feature(const std::vector<std::string>& missing) {
  for (const char* name :
       {"avx512f", "avx2", "fma", "avx", "sse4_2", "sve2", "sve", "asimd", "vsx", "altivec"}) {
    if (std::find(missing.begin(), missing.end(), name) != missing.end()) return name;
  }
  return missing.front();
}

std::string cpu_clause(const Case& c) {
  if (c.image.cpu.empty() || !c.host_cpu_known()) return "";
  const std::string& host = c.host.description.cpu;
  if (c.cpus.runs(host, c.image.cpu)) return "";
  std::vector<std::string> missing;
  for (const auto& feature : c.cpus.find(c.image.cpu)->features) {
    if (!c.cpus.has_feature(host, feature)) missing.push_back(feature);
  }
  if (missing.empty())
    return fmt::format("built for {}, which host {} is not known to run", c.image.cpu, host);
  return fmt::format("needs {}; host {} lacks it", telling_feature(missing), host);
}

// Does something in the image run on this accelerator? `gpu` "" stands for any of the vendor.
bool image_runs_on(const ImageRecord& image, const std::string& vendor, const std::string& gpu) {
  std::vector<std::string> built;
  for (const auto& accelerator : image.accelerators) {
    auto [built_vendor, target] = split_accelerator(accelerator);
    if (built_vendor == vendor) built.push_back(target);
  }
  // Sorted by number: sm_90 before sm_100.
  std::sort(built.begin(), built.end(),
            [](const auto& a, const auto& b) { return std::pair(a.size(), a) < std::pair(b.size(), b); });
  for (std::size_t i = 0; i < built.size(); ++i) {
    if (gpu_runs(gpu, built[i], i + 1 == built.size())) return true;
  }
  return false;
}

std::string accelerator_clause(const Case& c) {
  const auto& built = c.image.accelerators;
  // Without an optimised build MODAK does not look at the target, so nor do mappings made for it.
  bool any_will_do = c.image.external() && !c.wants_optimised() && c.query.acc_type.empty();
  if (!any_will_do && c.query.acc_type.empty() && !built.empty()) {
    return fmt::format("asks for no accelerator; built for {}", list_or(built, ""));
  }
  if (!c.query.acc_type.empty() && !image_runs_on(c.image, c.query.acc_type, "")) {
    return fmt::format("asks for {}; built for {}", c.query.acc_type, list_or(built, "no accelerator"));
  }
  if (!c.host.known || built.empty()) return "";
  for (const auto& accelerator : c.host.description.accelerators) {
    auto [vendor, gpu] = split_accelerator(accelerator);
    if (image_runs_on(c.image, vendor, gpu)) return "";
  }
  return fmt::format("needs {}; host has {}", list_or(built, ""),
                     list_or(c.host.description.accelerators, "no accelerator"));
}

std::string application_clause(const Case& c) {
  if (lower_case(c.image.application) == lower_case(c.query.application)) return "";
  return fmt::format("asks for {}; this is {}", c.query.application, c.image.application);
}

const ComponentRecord* component_named(const ImageRecord& image, const std::string& name) {
  for (const auto& component : image.components) {
    if (component.name == name) return &component;
  }
  return nullptr;
}

// An application with a library beside it: the document's version is the library's.
std::string version_clause(const Case& c) {
  if (c.query.version.is_any()) return "";
  auto library = c.query.selectors.find("library");
  const ComponentRecord* component =
      library == c.query.selectors.end() ? nullptr : component_named(c.image, library->second);
  bool of_library = component != nullptr && !component->version.text().empty();
  const Version& version = of_library ? component->version : c.image.version;
  if (version.text().empty())
    return fmt::format("asks for {}; the version of this one is not known", c.query.version.text());
  if (c.query.version.contains(version)) return "";
  std::string name = of_library ? component->name + " " : "";
  return fmt::format("asks for {}{}; this is {}{}", name, c.query.version.text(), name, version.text());
}

// Asked for an optimised build, a stock image of ours may still answer: measured speed decides between them.
// A mapping is what its author says it is.
std::string build_clause(const Case& c) {
  if (!c.wants_optimised() && c.image.optimised)
    return "asks for the stock image; this is an optimised build";
  if (c.wants_optimised() && !c.image.optimised && c.image.external())
    return "asks for an optimised build; this is mapped as stock";
  return "";
}

std::string compiler_clause(const Case& c) {
  for (const auto& component : c.image.components) {
    if (component.kind != "compiler") continue;
    auto asked = c.query.compilers.find(component.name);
    if (asked == c.query.compilers.end())
      return fmt::format("has {}, which is not asked for", component.name);
    if (!asked->second) return fmt::format("asks for no {}; this has it", component.name);
  }
  for (const auto& [name, wanted] : c.query.compilers) {
    const ComponentRecord* component = component_named(c.image, name);
    if (wanted && (component == nullptr || component->kind != "compiler"))
      return fmt::format("asks for {}; this is without", name);
  }
  return "";
}

std::string method_clause(const Case& c) {
  if (c.query.method.empty() || c.query.method == c.image.method) return "";
  return fmt::format("asks for method {}; this is made by {}", c.query.method,
                     c.image.method.empty() ? "an unknown one" : c.image.method);
}

bool version_in(const std::string& range, const Version& version) {
  try {
    return !version.text().empty() && VersionRange::parse(range).contains(version);
  } catch (const Error&) {
    return false;  // the choice is a word, not a version
  }
}

bool component_answers(const ImageRecord& image, const std::string& choice, const std::string& value) {
  return std::any_of(image.components.begin(), image.components.end(), [&](const ComponentRecord& component) {
    if (component.name == value) return true;
    if (component.name == choice) return value == "true" || version_in(value, component.version);
    return component.kind == choice && value == "true";
  });
}

std::string selector_clause(const Case& c) {
  for (const auto& [choice, value] : c.query.selectors) {
    auto mapped = c.image.selectors.find(choice);
    if (mapped != c.image.selectors.end()) {
      if (mapped->second == value) continue;
      return fmt::format("asks for {} {}; mapped for {}", choice, value, mapped->second);
    }
    if (choice == "distributed_training") {
      // MODAK passes over it; an image of ours must bring what training on several nodes needs.
      if (c.image.external() || component_answers(c.image, "distributed", value)) continue;
    } else if (component_answers(c.image, choice, value == "false" ? "true" : value) != (value == "false")) {
      continue;
    }
    return fmt::format("asks for {} {}; nothing here answers to that", choice, value);
  }
  return "";
}

std::string asked_target_clause(const Case& c) {
  if (!c.query.cpu.empty() && !c.image.cpu.empty() && !c.cpus.runs(c.query.cpu, c.image.cpu)) {
    return fmt::format("asks for a target that {} runs; built for {}", c.query.cpu, c.image.cpu);
  }
  if (c.query.gpu.empty()) return "";
  auto [vendor, gpu] = split_accelerator(c.query.gpu);
  if (gpu.empty()) {
    gpu = vendor;
    vendor = gpu.starts_with("gfx") ? "amd" : "nvidia";
  }
  if (image_runs_on(c.image, vendor, gpu)) return "";
  return fmt::format("asks for {}; built for {}", c.query.gpu,
                     list_or(c.image.accelerators, "no accelerator"));
}

// A runtime of SIF files pulls what an external reference names; of our own images it needs the file.
std::string format_clause(const Case& c) {
  if (c.query.format != "sif" || c.image.external() || c.image.attachment("sif") != nullptr) return "";
  return "asks for a SIF; this image was packaged without";
}

// These look at nothing of the image but its microarchitecture.
constexpr std::array kCpuClauses = {family_clause, cpu_clause};
constexpr std::array kOtherClauses = {accelerator_clause, application_clause,  version_clause,
                                      build_clause,       compiler_clause,     method_clause,
                                      selector_clause,    asked_target_clause, format_clause};

template <typename Clauses>
Judgement first_failure(const Clauses& clauses, const Case& c, int met) {
  Judgement judgement{met, ""};
  for (const auto& clause : clauses) {
    judgement.failed = clause(c);
    if (!judgement.failed.empty()) return judgement;
    ++judgement.met;
  }
  return judgement;
}

// `sm_61` → 61; 0 for anything else, arch-specific targets such as sm_90a included: those run on that GPU
// only.
int compute_capability(const std::string& gpu) {
  if (!gpu.starts_with("sm_")) return 0;
  int number = 0;
  auto [rest, error] = std::from_chars(gpu.data() + 3, gpu.data() + gpu.size(), number);
  return error == std::errc() && rest == gpu.data() + gpu.size() ? number : 0;
}

}  // namespace

bool gpu_runs(const std::string& gpu, const std::string& built, bool newest_built) {
  if (gpu.empty() || built.empty() || gpu == built || gpu + "a" == built) return true;
  int has = compute_capability(gpu);
  int needs = compute_capability(built);
  if (has == 0 || needs == 0 || needs > has) return false;
  return has / 10 == needs / 10 || newest_built;
}

Judgement Judge::operator()(const ImageRecord& image) {
  Case c{*query_, image, *host_, *cpus_};
  auto known = by_cpu_.find(image.cpu);
  if (known == by_cpu_.end()) known = by_cpu_.emplace(image.cpu, first_failure(kCpuClauses, c, 0)).first;
  return known->second.failed.empty() ? first_failure(kOtherClauses, c, known->second.met) : known->second;
}

}  // namespace kiln
