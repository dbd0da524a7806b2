// Entries, queries and hosts for the tests of selection.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "index/samples.h"
#include "registry/select/select.h"

namespace kiln::testing {

using Strings = std::vector<std::string>;

inline IndexEntry image(const std::string& tag, const std::string& version = "2.6.0",
                        const std::string& cpu = "x86_64_v3") {
  ImageRecord record;
  record.manifest = Digest::of(tag);
  record.repository = "pytorch";
  record.tag = tag;
  record.application = "pytorch";
  record.version = Version(version);
  record.method = "distro";
  record.components = {{"framework", "pytorch", Version(version), "distro", false}};
  record.cpu = cpu;
  return {record, false, {}};
}

inline IndexEntry optimised(IndexEntry entry) {
  entry.image.optimised = true;
  return entry;
}

inline IndexEntry with(IndexEntry entry, const std::string& kind, const std::string& name,
                       const std::string& version = "1.0") {
  entry.image.components.push_back({kind, name, Version(version), "", false});
  return entry;
}

inline IndexEntry on(IndexEntry entry, Strings accelerators) {
  entry.image.accelerators = std::move(accelerators);
  return entry;
}

// An entry of a mapping: a reference and a code in place of a manifest.
inline IndexEntry mapped(const std::string& code, Strings accelerators = {}) {
  IndexEntry entry = on(image(code), std::move(accelerators));
  entry.image.manifest = {};
  entry.image.code = code;
  entry.image.reference = "docker://example/pytorch";
  return entry;
}

inline IndexEntry measured(IndexEntry entry, double median, const std::string& model = "Xeon A",
                           const std::string& cpu = "haswell", const std::string& workload = "mnist-cnn") {
  Measurement measurement = measurement_of(entry.image.manifest, median);
  measurement.host.model = model;
  measurement.host.cpu = cpu;
  measurement.workload = workload;
  entry.measurements.push_back(measurement);
  return entry;
}

// As if they had been measured in one session: each has its gain over those before it, to 10 %.
inline std::vector<IndexEntry> in_turns(std::vector<IndexEntry> entries) {
  for (std::size_t i = 0; i < entries.size(); ++i)
    for (Measurement& one : entries[i].measurements) {
      one.key = entries[i].image.tag;
      one.session = "evening";
      for (std::size_t before = 0; before < i; ++before)
        for (const Measurement& other : entries[before].measurements) {
          const double ratio = other.median / one.median;
          one.gains.push_back({entries[before].image.tag, ratio, ratio / 1.1, ratio * 1.1});
        }
    }
  return entries;
}

inline ImageQuery query(std::optional<bool> opt_build = true) {
  ImageQuery result;
  result.application = "pytorch";
  result.opt_build = opt_build;
  return result;
}

inline Host host(const std::string& cpu, Strings accelerators = {}, const std::string& model = "Xeon A") {
  Host result;
  result.known = true;
  result.description.cpu = cpu;
  result.description.model = model;
  result.description.cores = 2;
  result.description.accelerators = std::move(accelerators);
  return result;
}

}  // namespace kiln::testing
