#include "factory/record/host_description.h"

#include <fmt/format.h>
#include <gnu/libc-version.h>
#include <sched.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <memory>
#include <nlohmann/json.hpp>

#include "factory/base/json_fields.h"
#include "factory/base/text.h"
#include "factory/base/version.h"
#include "factory/cpu/microarchitecture.h"
#include "factory/record/gpu_code.h"
#include "factory/record/host_needs.h"

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
  node->fail(fmt::format("'{}' is no version of {}", text, what), fmt::format("for example {}", such_as));
}

void check_accelerators(const JsonNode& host) {
  auto list = host.find("accelerators");
  if (!list) return;
  for (const JsonNode& item : list->is_array() ? list->items() : std::vector{*list}) {
    if (is_host_accelerator(item.line_of_text())) continue;
    item.fail(fmt::format("expected an accelerator, found '{}'", item.string()),
              "for example nvidia:sm_80, amd:gfx90a, or nvidia where the GPU is not known");
  }
}

void check_mpi(const JsonNode& host) {
  auto node = host.find("mpi");
  if (!node) return;
  try {
    const MpiLibrary mpi = mpi_library(node->line_of_text());
    if (!mpi_family(mpi.name).empty()) return;
    node->fail(
        fmt::format("kiln knows no MPI library '{}'", mpi.name),
        fmt::format("it knows {}; the version follows an @: openmpi@4.1.6", fmt::join(mpi_names(), ", ")));
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

template <typename Fields>
void describe(Fields& fields, HostDescription& host) {
  fields.refuse_others(host);
  fields.may("cpu", host.cpu);
  fields.may("vendor", host.vendor);
  fields.may("model", host.model);
  fields.may("cores", host.cores);
  fields.may("memory_bytes", host.memory_bytes);
  fields.may("features", host.features);
  fields.may("accelerators", host.accelerators);
  fields.may("driver", host.driver);
  fields.may("kernel", host.kernel);
  fields.may("glibc", host.glibc);
  fields.may("mpi", host.mpi);
  fields.may("transparent_hugepages", host.transparent_hugepages);
  fields.may("rates", host.rates);
}

Json to_json(const HostDescription& host) { return fields_of(host); }

HostDescription host_from_json(const JsonNode& node) {
  auto host = read_as<HostDescription>(node);
  std::sort(host.features.begin(), host.features.end());
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

namespace {

// The number after `key` at the start of a line of "key value" text; nullopt when there is none.
std::optional<std::uint64_t> number_of(std::string_view text, std::string_view key) {
  while (!text.empty()) {
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    if (!line.starts_with(key)) continue;
    line.remove_prefix(key.size());
    if (line.empty() || line.find_first_not_of(" \t") == 0) continue;  // only the start of a longer key
    line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
    std::uint64_t number = 0;
    if (std::from_chars(line.data(), line.data() + line.size(), number).ec == std::errc{}) return number;
  }
  return std::nullopt;
}

// x86 and RISC-V name the model, POWER has it under "cpu", Arm gives two numbers.
std::string model_of(const std::map<std::string, std::string>& processor) {
  for (const char* key : {"model name", "cpu"}) {
    if (auto found = processor.find(key); found != processor.end()) return found->second;
  }
  auto implementer = processor.find("CPU implementer");
  auto part = processor.find("CPU part");
  if (implementer == processor.end() || part == processor.end()) return {};
  return fmt::format("implementer {} part {}", implementer->second, part->second);
}

// The amdgpu driver's number 90010 is 9.0.10, which LLVM and ROCm call gfx90a; 0 is a node without a GPU.
std::string amd_target(std::uint64_t version) {
  return fmt::format("amd:gfx{}{:x}{:x}", version / 10000, version / 100 % 100, version % 100);
}

std::vector<std::string> accelerators(const FileSystem& files) {
  std::set<std::string> found;
  const fs::path nodes = "/sys/class/kfd/kfd/topology/nodes";
  for (const std::string& node : files.list(nodes)) {
    std::uint64_t version =
        number_of(files.read(nodes / node / "properties").value_or(""), "gfx_target_version").value_or(0);
    if (version != 0) found.insert(amd_target(version));
  }
  if (files.exists("/proc/driver/nvidia/version")) found.insert("nvidia");
  return {found.begin(), found.end()};
}

// The kernel refuses a mask smaller than its own, so the mask grows until it fits. 0: it never did.
int permitted_processors() {
  constexpr int kMostProcessors = 1 << 16;
  for (int processors = CPU_SETSIZE; processors <= kMostProcessors; processors *= 2) {
    std::vector<cpu_set_t> mask(CPU_ALLOC_SIZE(processors) / sizeof(cpu_set_t));
    const std::size_t bytes = mask.size() * sizeof(cpu_set_t);
    if (sched_getaffinity(0, bytes, mask.data()) == 0) return CPU_COUNT_S(bytes, mask.data());
  }
  return 0;
}

// "NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.104.05  Sat Aug 19 01:15:15 UTC 2023": the first word
// that begins with a digit and has a dot.
std::string nvidia_driver(const FileSystem& files) {
  std::string text = files.read("/proc/driver/nvidia/version").value_or("");
  text.resize(std::min(text.find('\n'), text.size()));
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find_first_of(" \t", at), text.size());
    std::string word = text.substr(at, end - at);
    if (!word.empty() && is_digit(word.front()) && word.find('.') != std::string::npos) return word;
    at = end + 1;
  }
  return "";
}

std::vector<std::string> features_of(const std::map<std::string, std::string>& processor) {
  for (const char* key : {"flags", "Features"}) {
    auto found = processor.find(key);
    if (found == processor.end()) continue;
    std::set<std::string> words;
    for (std::string_view text = trimmed(found->second); !text.empty(); text = trimmed(text)) {
      const std::size_t end = std::min(text.find_first_of(kWhiteSpace), text.size());
      words.emplace(text.substr(0, end));
      text.remove_prefix(end);
    }
    return {words.begin(), words.end()};
  }
  return {};
}

// "always [madvise] never": the one in brackets counts.
std::string transparent_hugepages(const FileSystem& files) {
  const std::string line = files.read("/sys/kernel/mm/transparent_hugepage/enabled").value_or("");
  for (const std::string& setting : hugepage_settings())
    if (line.find("[" + setting + "]") != std::string::npos) return setting;
  return "";
}

}  // namespace

SystemAnswers ask_system() {
  SystemAnswers system;
  if (utsname name{}; uname(&name) == 0) {
    system.machine = name.machine;
    system.kernel = name.release;
  }
  system.glibc = gnu_get_libc_version();
  system.cores = permitted_processors();
  if (system.cores == 0) system.cores = static_cast<int>(std::max(0L, sysconf(_SC_NPROCESSORS_ONLN)));
  return system;
}

HostDescription describe_host(const FileSystem& files, const Microarchitectures& cpus,
                              const SystemAnswers& system) {
  const std::string cpuinfo = files.read("/proc/cpuinfo").value_or("");
  HostDescription host;
  host.cpu = cpus.detect(cpuinfo, system.machine);
  const std::map<std::string, std::string> processor = first_processor(cpuinfo);
  host.model = model_of(processor);
  host.features = features_of(processor);
  host.vendor = cpus.vendor(cpuinfo, system.machine);
  host.cores = system.cores;
  host.memory_bytes =
      number_of(files.read("/proc/meminfo").value_or(""), "MemTotal:").value_or(0) * 1024;  // given in kB
  host.kernel = system.kernel;
  host.accelerators = accelerators(files);
  host.driver = nvidia_driver(files);
  host.glibc = system.glibc;
  host.transparent_hugepages = transparent_hugepages(files);
  return host;
}

HostDescription detect_host(const FileSystem& files, const Microarchitectures& cpus) {
  return describe_host(files, cpus, ask_system());
}

}  // namespace kiln
