#include "registry/select/query_clauses.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "factory/base/text.h"
#include "factory/record/gpu_code.h"
#include "registry/select/cpu_code.h"
#include "registry/select/dsl_words.h"

namespace kiln {

struct ImageInQuestion {
  const ImageQuery& query;
  const ImageRecord& image;
  const Microarchitecture* target;  // of the image, nullptr: none
  const KnownHost* host;            // nullptr: nothing is known of it
  const HostCpu* asked_cpu;         // nullptr: none is asked for

  bool wants_optimised() const { return query.opt_build.value_or(false); }
};

namespace {

constexpr const char* kAmdCpus = "AuthenticAMD";

// Of an image that needs another vendor's processor than the one that is asked for; "" = of any.
std::string vendor_refusal(const ImageRecord& image, const std::string& vendor, const std::string& asks) {
  const std::string& needed = image.needs.vendor;
  if (needed.empty() || vendor.empty() || needed == vendor) return "";
  return fmt::format("{}; needs a processor of {}", asks, needed);
}

std::string asked_family_clause(const ImageInQuestion& c) {
  if (c.image.cpu.empty()) return "";
  if (c.target == nullptr) return fmt::format("built for {}, which archspec does not know", c.image.cpu);
  const std::string asked = family_of_type(c.query.cpu_type);
  // Big-endian POWER is meant by "power" where it is what the host is, and nowhere else.
  const bool big_endian = c.query.cpu_type == "power" && c.target->family == "ppc64" && c.host != nullptr &&
                          c.host->cpu().microarchitecture().family == "ppc64";
  if (!asked.empty() && c.target->family != asked && !big_endian)
    return fmt::format("asks for {}; built for {} ({})", c.query.cpu_type, c.image.cpu, c.target->family);
  const std::string& vendor = c.target->vendor;
  if (c.query.cpu_type != "amd") return "";
  if (vendor != "generic" && vendor != kAmdCpus)
    return fmt::format("asks for amd; built for {} ({})", c.image.cpu, vendor);
  return vendor_refusal(c.image, kAmdCpus, "asks for amd");
}

std::string accelerator_clause(const ImageInQuestion& c) {
  const auto& built = c.image.accelerators;
  // Without an optimised build the target is not looked at: a project's own GPU wheel is its stock image.
  const bool any_will_do = !c.wants_optimised() && c.query.acc_type.empty();
  if (!any_will_do && c.query.acc_type.empty() && !built.empty())
    return fmt::format("asks for no accelerator; built for {}", list_or(built, ""));
  if (!c.query.acc_type.empty() && !gpu_fit(c.image, c.query.acc_type, "").runs())
    return fmt::format("asks for {}; built for {}", c.query.acc_type, list_or(built, "no accelerator"));
  return "";
}

std::string application_clause(const ImageInQuestion& c) {
  if (lower_case(c.image.application) == lower_case(c.query.application)) return "";
  return fmt::format("asks for {}; this is {}", c.query.application, c.image.application);
}

const ComponentRecord* component_named(const ImageRecord& image, const std::string& name) {
  for (const auto& component : image.components) {
    if (component.name == name) return &component;
  }
  return nullptr;
}

constexpr std::array kVersionedChoices = {"library", "compiler"};

// What the document's version stands beside: a library or compiler of the application, if the image has it.
const ComponentRecord* versioned_component(const ImageInQuestion& c) {
  for (const char* choice : kVersionedChoices) {
    auto named = c.query.selectors.find(choice);
    if (named == c.query.selectors.end()) continue;
    const ComponentRecord* component = component_named(c.image, named->second);
    if (component != nullptr && !component->version.text().empty()) return component;
  }
  return nullptr;
}

std::string version_clause(const ImageInQuestion& c) {
  if (c.query.version.is_any()) return "";
  const ComponentRecord* component = versioned_component(c);
  const bool of_library = component != nullptr;
  const Version& version = of_library ? component->version : c.image.version;
  if (version.text().empty())
    return fmt::format("asks for {}; the version of this one is not known", c.query.version.text());
  if (c.query.version.contains(version)) return "";
  std::string name = of_library ? component->name + " " : "";
  return fmt::format("asks for {}{}; this is {}{}", name, c.query.version.text(), name, version.text());
}

// Asked for an optimised build, a stock image of ours may still answer: measured speed decides between them.
// A mapping is what its author says it is.
std::string build_clause(const ImageInQuestion& c) {
  if (!c.wants_optimised())
    for (const ComponentRecord& component : c.image.components)
      if (component.kind == "runtime")
        return fmt::format("asks for the stock image; this has the runtime {}", component.name);
  if (!c.wants_optimised() && c.image.optimised)
    return "asks for the stock image; this is an optimised build";
  if (c.wants_optimised() && !c.image.optimised && c.image.external())
    return "asks for an optimised build; this is mapped as stock";
  return "";
}

std::string compiler_clause(const ImageInQuestion& c) {
  const std::vector<std::string> compilers = graph_compilers_of(c.image);
  for (const std::string& name : compilers) {
    auto asked = c.query.compilers.find(name);
    if (asked == c.query.compilers.end()) {
      if (c.query.stock_compilers.contains(name)) continue;
      return fmt::format("has {}, which is not asked for", name);
    }
    if (!asked->second) return fmt::format("asks for no {}; this has it", name);
  }
  for (const auto& [name, wanted] : c.query.compilers)
    if (wanted && !contains(compilers, name)) return fmt::format("asks for {}; this is without", name);
  return "";
}

std::string method_clause(const ImageInQuestion& c) {
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

bool one_answers(const ImageRecord& image, const std::string& choice, const std::string& value) {
  return std::ranges::any_of(image.components, [&](const ComponentRecord& component) {
    if (component.name == value) return true;
    if (component.name == choice) return value == "true" || version_in(value, component.version);
    return (component.kind == choice || component.role == choice) && value == "true";
  });
}

// A choice of several components, "tcmalloc+onednn", is answered by all of them.
bool component_answers(const ImageRecord& image, const std::string& choice, const std::string& value) {
  if (one_answers(image, choice, value)) return true;
  const std::vector<std::string> each = chosen_components(value);
  return each.size() > 1 &&
         std::ranges::all_of(each, [&](const std::string& one) { return one_answers(image, choice, one); });
}

std::string selector_clause(const ImageInQuestion& c) {
  for (const auto& [choice, value] : c.query.selectors) {
    auto mapped = c.image.selectors.find(choice);
    if (mapped != c.image.selectors.end()) {
      if (mapped->second == value) continue;
      return fmt::format("asks for {} {}; mapped for {}", choice, value, mapped->second);
    }
    if (choice == "distributed_training") {
      // MODAK passes over it; an image of ours must bring what training on several nodes needs.
      if (c.image.external() || component_answers(c.image, "distributed", value)) continue;
      if (!c.query.mpi_ranks && has_own_launcher(c.query.application)) continue;
    } else if (component_answers(c.image, choice, value == "false" ? "true" : value) != (value == "false")) {
      continue;
    }
    return fmt::format("asks for {} {}; nothing here answers to that", choice, value);
  }
  return "";
}

std::string asked_target_clause(const ImageInQuestion& c) {
  if (c.asked_cpu != nullptr && c.target != nullptr && !c.asked_cpu->runs(*c.target))
    return fmt::format("asks for a target that {} runs; built for {}", c.query.cpu, c.image.cpu);
  if (c.asked_cpu != nullptr)
    if (std::string refusal =
            vendor_refusal(c.image, c.asked_cpu->vendor(), fmt::format("asks for {}", c.query.cpu));
        !refusal.empty())
      return refusal;
  if (c.query.gpu.empty()) return "";
  auto [vendor, gpu] = asked_gpu(c.query.gpu);
  if (gpu_fit(c.image, vendor, gpu).runs()) return "";
  return fmt::format("asks for {}; built for {}", c.query.gpu,
                     list_or(c.image.accelerators, "no accelerator"));
}

// A runtime of SIF files pulls what an external reference names; of our own images it needs the file.
std::string format_clause(const ImageInQuestion& c) {
  if (c.query.format != "sif" || c.image.external() || c.image.attachment("sif") != nullptr) return "";
  return "asks for a SIF; this image was packaged without";
}

struct Clause {
  std::string (*failed)(const ImageInQuestion& c);
  QueryPart about;
};

constexpr std::array kQuestionClauses = {
    Clause{accelerator_clause, QueryPart::host},   Clause{application_clause, QueryPart::application},
    Clause{version_clause, QueryPart::version},    Clause{build_clause, QueryPart::build},
    Clause{compiler_clause, QueryPart::compilers}, Clause{method_clause, QueryPart::method},
    Clause{selector_clause, QueryPart::contents},  Clause{asked_target_clause, QueryPart::host},
    Clause{format_clause, QueryPart::host}};

}  // namespace

std::vector<std::string> graph_compilers_of(const ImageRecord& image) {
  std::vector<std::string> names;
  for (const ComponentRecord& component : image.components)
    if (component.kind == "compiler") names.push_back(component.name);
  if (image.selectors.empty()) return names;
  for (const std::string& name : dsl_words().graph_compilers)
    if (auto mapped = image.selectors.find(name); mapped != image.selectors.end() && mapped->second == "true")
      names.push_back(name);
  return names;
}

bool asks_version_of_application(const ImageQuery& query) {
  return std::ranges::none_of(kVersionedChoices,
                              [&](const char* choice) { return query.selectors.contains(choice); });
}

std::string family_of_type(const std::string& cpu_type) {
  if (cpu_type == "x86" || cpu_type == "amd") return "x86_64";
  if (cpu_type == "arm") return "aarch64";
  return cpu_type == "power" ? "ppc64le" : "";
}

QueryClauses::QueryClauses(const ImageQuery& query, const std::optional<KnownHost>& host,
                           const Microarchitectures& cpus)
    : query_(&query), cpus_(&cpus), host_(host ? &*host : nullptr) {
  asked_.cpu = query.cpu;
  if (query.cpu.empty()) return;
  if (cpus.find(query.cpu) == nullptr)
    throw Error(ExitCode::input, fmt::format("archspec knows no microarchitecture '{}'", query.cpu),
                hint_for_unknown_cpu(query.cpu, cpus));
  asked_cpu_.emplace(asked_, cpus);
}

ImageInQuestion QueryClauses::judged(const ImageRecord& image) const {
  return {*query_, image, cpus_->find(image.cpu), host_, asked_cpu_ ? &*asked_cpu_ : nullptr};
}

// Those about the host; `met` is raised by each that holds.
std::string QueryClauses::host_clauses(const ImageInQuestion& c, int& met) const {
  return host_ != nullptr ? host_refusal({c.image, c.target, *host_, query_->acc_type}, met)
                          : nowhere_refusal(c.image);
}

bool QueryClauses::fails_several(const ImageInQuestion& c) const {
  int failed = asked_family_clause(c).empty() ? 0 : 1;
  if (host_ != nullptr)
    failed += host_refusals({c.image, c.target, *host_, query_->acc_type}, 2 - failed);
  else if (!nowhere_refusal(c.image).empty())
    ++failed;
  for (const Clause& clause : kQuestionClauses) {
    if (failed > 1) return true;
    if (!clause.failed(c).empty()) ++failed;
  }
  return failed > 1;
}

ClausesMet QueryClauses::operator()(const ImageRecord& image) const {
  const ImageInQuestion c = judged(image);
  ClausesMet judgement = first_failed(c);
  judgement.alone = !judgement.failed.empty() && !fails_several(c);
  return judgement;
}

ClausesMet QueryClauses::first_failed(const ImageInQuestion& c) const {
  ClausesMet judgement{0, asked_family_clause(c), false, false};
  if (!judgement.failed.empty()) return judgement;
  judgement.failed = host_clauses(c, judgement.met);
  judgement.host_refuses = host_ != nullptr && !judgement.failed.empty();
  if (!judgement.failed.empty()) return judgement;
  judgement.met = 1 + kHostClauses;
  for (const Clause& clause : kQuestionClauses) {
    judgement.failed = clause.failed(c);
    if (!judgement.failed.empty()) return judgement;
    ++judgement.met;
  }
  return judgement;
}

bool QueryClauses::suits(QueryPart about, const ImageRecord& part) const {
  const ImageInQuestion c = judged(part);
  return std::ranges::all_of(kQuestionClauses, [&](const Clause& clause) {
    return clause.about != about || clause.failed(c).empty();
  });
}

bool QueryClauses::chooses(const ImageRecord& choice) const {
  const ImageInQuestion c = judged(choice);
  return std::ranges::all_of(kQuestionClauses, [&](const Clause& clause) {
    return clause.about == QueryPart::host || clause.about == QueryPart::application ||
           clause.failed(c).empty();
  });
}

bool QueryClauses::runs(const ImageRecord& host) const {
  const ImageInQuestion c = judged(host);
  int met = 0;
  return asked_family_clause(c).empty() && host_clauses(c, met).empty() && suits(QueryPart::host, host);
}

namespace {

bool has_vendor(const HostDescription& host, const std::string& vendor) {
  return std::ranges::any_of(host.accelerators,
                             [&](const auto& text) { return split_accelerator(text).first == vendor; });
}

}  // namespace

std::string what_it_lacks(const HostDescription& host, const ImageQuery& query,
                          const Microarchitectures& cpus) {
  const HostCpu cpu(host, cpus);
  const std::string family = family_of_type(query.cpu_type);
  const std::string& own = cpu.microarchitecture().family;
  if (!family.empty() && family != own && !(query.cpu_type == "power" && own == "ppc64"))
    return fmt::format("is {}, and the document asks for {}", own, query.cpu_type);
  if (query.cpu_type == "amd" && !cpu.vendor().empty() && cpu.vendor() != "AuthenticAMD")
    return fmt::format("has a processor of {}, and the document asks for amd", cpu.vendor());
  const Microarchitecture* asked = cpus.find(query.cpu);
  if (asked != nullptr && !cpu.runs(*asked))
    return fmt::format("runs no code for {}, which the document asks for", query.cpu);
  if (!query.acc_type.empty() && !has_vendor(host, query.acc_type))
    return fmt::format("has no {} accelerator, which the document asks for", query.acc_type);
  if (query.gpu.empty()) return "";
  auto [vendor, gpu] = asked_gpu(query.gpu);
  const bool fits = std::ranges::any_of(host.accelerators, [&, v = vendor, g = gpu](const auto& text) {
    auto [of, code] = split_accelerator(text);
    return of == v && best_fit({g}, code).runs();
  });
  return fits ? "" : fmt::format("has no {}, which the document asks for", query.gpu);
}

}  // namespace kiln
