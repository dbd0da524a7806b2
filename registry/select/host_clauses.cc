#include "registry/select/host_clauses.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "factory/base/text.h"
#include "factory/record/host_needs.h"

namespace kiln {
namespace {

// The dotted number that it begins with: 5.15.0 of 5.15.0-91-generic.
Version leading_version(const std::string& text) {
  std::size_t end = std::min(text.find_first_not_of("0123456789."), text.size());
  while (end > 0 && text[end - 1] == '.') --end;
  return end == 0 ? Version() : Version(text.substr(0, end));
}

bool known(const Version& version) { return !version.text().empty(); }

// ": /usr/lib/libx.so shows it", where a file is known to.
std::string shown_by_file(const ImageRecord& image, const std::string& finding) {
  auto file = image.evidence.shown_by.find(finding);
  return file == image.evidence.shown_by.end() ? "" : " (" + file->second + ")";
}

std::string family_clause(const ImageOnHost& c) {
  if (c.target == nullptr) return "";
  const std::string& host = c.host.cpu().microarchitecture().family;
  return c.target->family == host ? "" : fmt::format("built for {}; host is {}", c.target->family, host);
}

// What a person recognises, if it is missing at all.
std::string telling_feature(const std::vector<std::string>& missing) {
  for (const char* name :
       {"avx512f", "avx2", "fma", "avx", "sse4_2", "sve2", "sve", "asimd", "vsx", "altivec"}) {
    if (contains(missing, name)) return name;
  }
  return missing.front();
}

std::string cpu_clause(const ImageOnHost& c) {
  const HostCpu& cpu = c.host.cpu();
  if (c.target == nullptr || cpu.runs(*c.target)) return "";
  const std::string& host = cpu.microarchitecture().name;
  std::vector<std::string> missing = cpu.missing(*c.target);
  if (missing.empty())
    return fmt::format("built for {}, which host {} is not known to run", c.target->name, host);
  return fmt::format("needs {}; host {} lacks it", telling_feature(missing), host);
}

std::string vendor_clause(const ImageOnHost& c) {
  const std::string& here = c.host.cpu().vendor();
  if (c.image.needs.vendor.empty() || here.empty() || here == c.image.needs.vendor) return "";
  return fmt::format("needs a processor of {}; host has one of {}", c.image.needs.vendor, here);
}

struct VendorCode {
  std::vector<std::string> declared;  // with the PTX that kiln adds
  std::vector<std::string> found;     // empty: nothing is known
};

VendorCode code_of(const ImageRecord& image, const std::string& vendor) {
  VendorCode code;
  for (const std::string& accelerator : image.accelerators) {
    auto [built, target] = split_accelerator(accelerator);
    if (built == vendor) code.declared.push_back(target);
  }
  if (vendor == "nvidia") code.declared = with_ptx(std::move(code.declared));
  if (vendor == "amd" && image.evidence.gpu_hidden) return code;
  for (const std::string& found : image.evidence.gpu)
    if ((found.starts_with("gfx") ? "amd" : "nvidia") == vendor) code.found.push_back(found);
  return code;
}

std::vector<std::string> vendors_of(const ImageOnHost& c) {
  std::set<std::string> vendors;
  for (const std::string& accelerator : c.image.accelerators)
    vendors.insert(split_accelerator(accelerator).first);
  if (!c.vendor.empty())
    std::erase_if(vendors, [&](const std::string& vendor) { return vendor != c.vendor; });
  return {vendors.begin(), vendors.end()};
}

// On the one that it suits least; none where the host has no GPU of the vendor.
GpuFit fit_of_vendor(const ImageOnHost& c, const std::string& vendor) {
  std::optional<GpuFit> worst;
  for (const std::string& gpu : c.host.gpus(vendor)) {
    GpuFit fit = gpu_fit(c.image, vendor, gpu);
    worst = worst ? std::max(*worst, fit) : fit;
  }
  return worst.value_or(GpuFit{});
}

// The code that was looked for and not found, with the file that shows what there is instead.
std::string found_instead(const ImageOnHost& c) {
  for (const std::string& vendor : vendors_of(c)) {
    const VendorCode code = code_of(c.image, vendor);
    if (code.found.empty()) continue;
    for (const std::string& gpu : c.host.gpus(vendor)) {
      if (!best_fit(code.declared, gpu).runs() || best_fit(code.found, gpu).runs()) continue;
      return fmt::format("has no code for {}:{}; found {}{}", vendor, gpu, list_or(code.found, ""),
                         shown_by_file(c.image, code.found.front()));
    }
  }
  return "";
}

std::string gpu_clause(const ImageOnHost& c) {
  auto fit = gpu_fit(c);
  if (!fit || fit->runs()) return "";
  std::string instead = found_instead(c);
  if (!instead.empty()) return instead;
  return fmt::format("needs {}; host has {}", list_or(c.image.accelerators, ""),
                     list_or(c.host.description().accelerators, "no accelerator"));
}

std::string driver_clause(const ImageOnHost& c) {
  if (!known(c.host.driver()) || c.host.gpus("nvidia").empty()) return "";
  const std::vector<std::string> vendors = vendors_of(c);
  if (!contains(vendors, "nvidia")) return "";
  if (!fit_of_vendor(c, "nvidia").runs()) return "";  // it runs on another vendor's
  const HostNeeds& needs = c.image.needs;
  if (const Version least = least_driver(needs); known(least) && c.host.driver() < least)
    return fmt::format("needs NVIDIA's driver {}; host has {}", least.text(), c.host.driver().text());
  const std::vector<std::string> gpus = c.host.gpus("nvidia");
  const VendorCode code = code_of(c.image, "nvidia");
  auto by_ptx = [&](const std::string& gpu) {
    return best_fit(code.declared, gpu).level == GpuFit::Level::ptx ||
           best_fit(code.found, gpu).level == GpuFit::Level::ptx;
  };
  if (std::ranges::none_of(gpus, by_ptx)) return "";
  const Version shipped = shipped_driver(needs.cuda);
  if (!known(shipped) || c.host.driver() >= shipped) return "";
  return fmt::format("runs on this GPU by PTX only, which needs NVIDIA's driver {} (CUDA {}); host has {}",
                     shipped.text(), needs.cuda.text(), c.host.driver().text());
}

std::string kernel_clause(const ImageOnHost& c) {
  const Version& needed = c.image.needs.kernel;
  if (!known(needed) || !known(c.host.kernel()) || c.host.kernel() >= needed) return "";
  return fmt::format("needs Linux {} (its glibc does); host has {}", needed.text(), c.host.kernel().text());
}

// A host of which the setting is not known may have any.
std::string hugepages_clause(const ImageOnHost& c) {
  const std::string& needed = c.image.needs.transparent_hugepages;
  const std::string& here = c.host.description().transparent_hugepages;
  if (needed.empty() || here.empty()) return "";
  const auto& settings = hugepage_settings();
  auto rank = [&](const std::string& setting) {
    return std::ranges::find(settings, setting) - settings.begin();
  };
  if (rank(here) >= rank(needed)) return "";
  return fmt::format("needs transparent huge pages (setting {}); host has the setting {}", needed, here);
}

std::string mpi_clause(const ImageOnHost& c) {
  const MpiLibrary& built = c.image.needs.mpi;
  const MpiLibrary& here = c.host.mpi();
  if (built.name.empty() || here.name.empty()) return "";
  const std::string_view family = mpi_family(built.name);
  auto text = [](const MpiLibrary& mpi) {
    return known(mpi.version) ? mpi.name + " " + mpi.version.text() : mpi.name;
  };
  auto major = [](const Version& version) { return version.text().substr(0, version.text().find('.')); };
  const bool majors_differ = family == "openmpi" && known(built.version) && known(here.version) &&
                             major(built.version) != major(here.version);
  if (family != mpi_family(here.name) || majors_differ)
    return fmt::format("linked with {}; host starts jobs with {}, of another ABI", text(built), text(here));
  const Version& own = c.image.needs.glibc;
  if (!known(own) || !known(c.host.glibc()) || own >= c.host.glibc()) return "";
  return fmt::format("has glibc {}; the host's MPI, which is bound in, may need {}", own.text(),
                     c.host.glibc().text());
}

std::string evidence_clause(const ImageOnHost& c) {
  if (std::string broken = nowhere_refusal(c.image); !broken.empty()) return broken;
  for (const std::string& feature : exceeding_features(c.image, c.target))
    if (!c.host.cpu().has(feature))
      return fmt::format("runs {} beyond its target{}; host {} lacks it", feature,
                         shown_by_file(c.image, feature), c.host.cpu().microarchitecture().name);
  return "";
}

constexpr std::array<std::string (*)(const ImageOnHost&), kHostClauses> kClauses = {
    family_clause, cpu_clause,       vendor_clause, gpu_clause,     driver_clause,
    kernel_clause, hugepages_clause, mpi_clause,    evidence_clause};

}  // namespace

Version least_driver(const HostNeeds& needs) {
  return known(needs.driver) ? needs.driver : oldest_driver(needs.cuda);
}

std::string list_or(const std::vector<std::string>& words, const char* empty) {
  return words.empty() ? empty : joined(words, ", ");
}

KnownHost::KnownHost(const HostDescription& description, const Microarchitectures& cpus)
    : description_(&description),
      cpu_(description, cpus),
      driver_(leading_version(description.driver)),
      kernel_(leading_version(description.kernel)),
      glibc_(leading_version(description.glibc)),
      mpi_(mpi_library(description.mpi)) {}

std::optional<KnownHost> known_host(const HostDescription& description, bool known,
                                    const Microarchitectures& cpus) {
  if (!known || cpus.find(description.cpu) == nullptr) return std::nullopt;
  return KnownHost(description, cpus);
}

std::vector<std::string> KnownHost::gpus(const std::string& vendor) const {
  std::set<std::string> gpus;
  for (const std::string& accelerator : description_->accelerators)
    if (auto [of, gpu] = split_accelerator(accelerator); of == vendor) gpus.insert(gpu);
  return {gpus.begin(), gpus.end()};
}

GpuFit gpu_fit(const ImageRecord& image, const std::string& vendor, const std::string& gpu) {
  const VendorCode code = code_of(image, vendor);
  GpuFit fit = best_fit(code.declared, gpu);
  return code.found.empty() ? fit : std::max(fit, best_fit(code.found, gpu));
}

std::optional<GpuFit> gpu_fit(const ImageOnHost& on_host) {
  if (on_host.image.accelerators.empty()) return std::nullopt;
  GpuFit best;
  for (const std::string& vendor : vendors_of(on_host)) best = std::min(best, fit_of_vendor(on_host, vendor));
  return best;
}

std::vector<std::string> exceeding_features(const ImageRecord& image, const Microarchitecture* target) {
  if (image.evidence.verdict != "exceeds") return {};
  if (!image.evidence.exceeding.empty()) return image.evidence.exceeding;
  std::vector<std::string> beyond = image.evidence.unconditional;  // of a record that names no more
  if (target != nullptr)
    std::erase_if(beyond, [&](const std::string& feature) { return target->features.contains(feature); });
  return beyond;
}

std::string nowhere_refusal(const ImageRecord& image) {
  const EvidenceRecord& evidence = image.evidence;
  if (!evidence.missing.empty())
    return fmt::format("lacks {}, which something in it needs{}", evidence.missing.front(),
                       shown_by_file(image, evidence.missing.front()));
  if (!evidence.glibc.empty() && known(image.needs.glibc) && Version(evidence.glibc) > image.needs.glibc)
    return fmt::format("needs glibc {}{} and has {}", evidence.glibc, shown_by_file(image, "glibc"),
                       image.needs.glibc.text());
  return "";
}

std::string host_refusal(const ImageOnHost& on_host, int& met) {
  for (const auto& clause : kClauses) {
    std::string failed = clause(on_host);
    if (!failed.empty()) return failed;
    ++met;
  }
  return "";
}

int host_refusals(const ImageOnHost& on_host, int most) {
  int refusals = 0;
  for (const auto& clause : kClauses) {
    if (refusals == most) break;
    if (!clause(on_host).empty()) ++refusals;
  }
  return refusals;
}

}  // namespace kiln
