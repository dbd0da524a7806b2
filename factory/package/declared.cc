#include "factory/package/declared.h"

#include <nlohmann/json.hpp>

#include "factory/record/cuda_drivers.h"

namespace kiln {
namespace {

// The part of a label's name behind the prefix, for each that has it.
std::map<std::string, std::string> labels_below(const std::map<std::string, std::string>& labels,
                                                const std::string& prefix) {
  std::map<std::string, std::string> below;
  for (const auto& [name, value] : labels)
    if (name.starts_with(prefix)) below.emplace(name.substr(prefix.size()), value);
  return below;
}

// What the image needs of a host: by the facts of its components, the MPI that is in it, and its own glibc.
HostNeeds needs_of(const ImageRecord& record, const std::string& architecture, const std::string& glibc) {
  auto fact = [&](const char* name) {
    auto found = record.facts.find(name);
    return found == record.facts.end() ? Version() : Version(found->second);
  };
  HostNeeds needs;
  if (!record.accelerators.empty()) {
    needs.cuda = fact("cuda");
    needs.driver = fact("driver");
    if (needs.driver.text().empty()) needs.driver = oldest_driver(needs.cuda);
  }
  needs.glibc = glibc.empty() ? fact("glibc") : Version(glibc);
  needs.kernel = kernel_floor(needs.glibc, architecture);
  for (const ComponentRecord& component : record.components)
    if (!mpi_family(component.name).empty()) needs.mpi = {component.name, component.version};
  if (auto mpi = record.facts.find("mpi"); mpi != record.facts.end()) needs.mpi = mpi_library(mpi->second);
  if (auto vendor = record.facts.find("cpu_vendor"); vendor != record.facts.end())
    needs.vendor = vendor->second;
  if (auto pages = record.facts.find("transparent_hugepages"); pages != record.facts.end())
    needs.transparent_hugepages = pages->second;
  return needs;
}

void add_needs_labels(const HostNeeds& needs, std::map<std::string, std::string>& labels) {
  const Json json = to_json(needs);
  for (const auto& [name, value] : json.items())
    labels["io.kiln.requires." + name] = value.get<std::string>();
}

}  // namespace

ImageRecord declared_record(const ImageSpec& spec, const std::string& architecture,
                            const std::string& glibc) {
  ImageRecord record;
  record.repository = spec.repository;
  record.tag = spec.tag;
  record.immutable_tag = spec.immutable_tag;
  record.key = spec.key;
  record.cell = spec.request.id;
  const ComponentUse& main = main_component(spec.components);
  record.application = naming_component(spec.components).name;
  record.version = main.version;
  record.method = main.method;
  record.optimised = spec.optimised;
  for (const ComponentUse& use : spec.components)
    record.components.push_back(
        {std::string(name_of(use.kind)), use.name, use.version, use.method, use.optimised, use.role});
  record.cpu = spec.target.cpu;
  record.accelerators = spec.target.accelerators;
  record.labels = spec.labels;
  record.facts = labels_below(spec.labels, "io.kiln.facts.");
  record.needs = needs_of(record, architecture, glibc);
  add_needs_labels(record.needs, record.labels);
  return record;
}

}  // namespace kiln
