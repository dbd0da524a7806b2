#include "registry/select/asked_host.h"

#include <fmt/format.h>

#include <algorithm>

#include "factory/record/gpu_code.h"
#include "registry/select/cpu_code.h"
#include "registry/select/judge.h"

namespace kiln {
namespace {

bool has_vendor(const HostDescription& host, const std::string& vendor) {
  return std::any_of(host.accelerators.begin(), host.accelerators.end(),
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
  const bool fits = std::any_of(host.accelerators.begin(), host.accelerators.end(),
                                [&, v = vendor, g = gpu](const auto& text) {
                                  auto [of, code] = split_accelerator(text);
                                  return of == v && best_fit({g}, code).runs();
                                });
  return fits ? "" : fmt::format("has no {}, which the document asks for", query.gpu);
}

}  // namespace kiln
