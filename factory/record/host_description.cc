#include "factory/record/host_description.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "factory/base/json_put.h"
#include "factory/base/text.h"
#include "factory/base/version.h"
#include "factory/cpu/microarchitecture.h"
#include "factory/record/gpu_code.h"
#include "factory/record/mpi.h"
#include "factory/record/record_fields.h"

namespace kiln {
namespace {

// A version of which the leading number is compared: "5.15.0-91-generic", "535.104.05".
void check_version(const JsonNode& host, std::string_view key, std::string_view what,
                   std::string_view such_as) {
  auto node = host.find(key);
  if (!node) return;
  const std::string text = node->line_of_text();
  const bool number = !text.empty() && is_digit(text.front());
  try {
    if (number) return void(Version(text));
  } catch (const Error&) {  // said below, in this key's words
  }
  node->fail(fmt::format("'{}' is no version of {}", text, what), fmt::format("such as {}", such_as));
}

void check_accelerators(const JsonNode& host) {
  auto list = host.find("accelerators");
  if (!list) return;
  for (const JsonNode& item : list->is_array() ? list->items() : std::vector{*list}) {
    if (is_host_accelerator(item.line_of_text())) continue;
    item.fail(fmt::format("expected an accelerator, found '{}'", item.string()),
              "such as nvidia:sm_80, amd:gfx90a, or nvidia where the GPU is not known");
  }
}

void check_mpi(const JsonNode& host) {
  auto node = host.find("mpi");
  if (!node) return;
  try {
    const MpiLibrary mpi = mpi_library(node->line_of_text());
    if (!mpi_family(mpi.name).empty()) return;
    node->fail(fmt::format("kiln knows no MPI library '{}'", mpi.name),
               fmt::format("it knows {}; the version stands behind an @: openmpi@4.1.6",
                           fmt::join(mpi_names(), ", ")));
  } catch (const Error& error) {
    if (!error.where().file.empty()) throw;
    node->fail(error.message(), error.hint());
  }
}

void check_rates(const JsonNode& host) {
  auto rates = host.find("rates");
  if (!rates) return;
  rates->allow_only(host_rate_names());
  for (const auto& [name, rate] : rates->members())
    if (!(rate.number() > 0)) rate.fail("a rate is a positive number");
}

void check_hugepages(const JsonNode& host) {
  auto node = host.find("transparent_hugepages");
  if (!node) return;
  const std::string text = node->line_of_text();
  const auto& settings = hugepage_settings();
  if (std::find(settings.begin(), settings.end(), text) == settings.end())
    node->fail(fmt::format("'{}' is no setting of transparent huge pages", text),
               fmt::format("settings: {}", fmt::join(settings, ", ")));
}

}  // namespace

bool is_same_machine(const HostDescription& a, const HostDescription& b) {
  return a.model == b.model && a.cpu == b.cpu && a.cores == b.cores;
}

const std::vector<std::string>& hugepage_settings() {
  static const std::vector<std::string> kSettings = {"never", "madvise", "always"};
  return kSettings;
}

const std::vector<std::string>& host_rate_names() {
  static const std::vector<std::string> kNames = {"triad", "copy",       "sgemm",
                                                  "dgemm", "disk_write", "disk_read"};
  return kNames;
}

std::string_view unit_of_host_rate(std::string_view name) {
  const auto& names = host_rate_names();
  if (std::find(names.begin(), names.end(), name) == names.end()) return "";
  return name.ends_with("gemm") ? "GFLOP/s" : "GB/s";
}

Json to_json(const HostDescription& host) {
  Json json = Json::object();
  put(json, "cpu", host.cpu);
  put(json, "vendor", host.vendor);
  put(json, "model", host.model);
  if (host.cores != 0) json["cores"] = host.cores;
  if (host.memory_bytes != 0) json["memory_bytes"] = host.memory_bytes;
  put(json, "features", host.features);
  put(json, "accelerators", host.accelerators);
  put(json, "driver", host.driver);
  put(json, "kernel", host.kernel);
  put(json, "glibc", host.glibc);
  put(json, "mpi", host.mpi);
  put(json, "transparent_hugepages", host.transparent_hugepages);
  if (!host.rates.empty()) json["rates"] = host.rates;
  return json;
}

HostDescription host_from_json(const JsonNode& node) {
  node.allow_only({"cpu", "vendor", "model", "cores", "memory_bytes", "features", "accelerators", "driver",
                   "kernel", "glibc", "mpi", "transparent_hugepages", "rates"});
  HostDescription host;
  host.cpu = text_at(node, "cpu");
  host.vendor = text_at(node, "vendor");
  host.model = text_at(node, "model");
  host.cores = small_count_at(node, "cores");
  host.memory_bytes = count_at(node, "memory_bytes");
  host.features = strings_at(node, "features");
  std::sort(host.features.begin(), host.features.end());
  host.accelerators = strings_at(node, "accelerators");
  host.driver = text_at(node, "driver");
  host.kernel = text_at(node, "kernel");
  host.glibc = text_at(node, "glibc");
  host.mpi = text_at(node, "mpi");
  host.transparent_hugepages = text_at(node, "transparent_hugepages");
  if (auto rates = node.find("rates"))
    for (const auto& [name, rate] : rates->members()) host.rates[name] = rate.number();
  return host;
}

HostDescription read_host(const JsonNode& node, const Microarchitectures& cpus) {
  HostDescription host = host_from_json(node);
  const JsonNode cpu = node.at("cpu");
  if (cpus.find(host.cpu) == nullptr)
    cpu.fail(fmt::format("archspec knows no microarchitecture '{}'", host.cpu),
             hint_for_unknown_cpu(host.cpu, cpus));
  check_version(node, "kernel", "a kernel", "5.15.0-91-generic");
  check_version(node, "driver", "NVIDIA's driver", "535.104.05");
  check_version(node, "glibc", "glibc", "2.36");
  check_accelerators(node);
  check_mpi(node);
  check_hugepages(node);
  check_rates(node);
  return host;
}

}  // namespace kiln
