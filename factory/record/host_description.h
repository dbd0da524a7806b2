// Description of a host: detected here, or written down (`--host FILE`, `host` of a DSL document). Format:
// docs/formats/files.md, schema/host.schema.json.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "factory/base/effects.h"
#include "factory/base/json.h"
#include "factory/cpu/microarchitecture.h"

namespace kiln {

struct HostDescription {
  std::string cpu;    // archspec microarchitecture
  std::string model;  // /proc/cpuinfo model name
  int cores = 0;      // processors this process may use
  std::uint64_t memory_bytes = 0;
  std::string kernel;                     // 6.1.0-18-amd64
  std::vector<std::string> accelerators;  // nvidia:sm_90, amd:gfx90a, or a vendor alone
  std::string glibc;                      // 2.36
  std::vector<std::string> features{};    // as /proc/cpuinfo has them, sorted; empty: those of `cpu`
  std::string vendor{};                   // of the processor, as archspec calls it: GenuineIntel, ARM
  std::string driver{};                   // NVIDIA's, 535.104.05
  std::string mpi{};                      // that starts jobs there: openmpi@4.1.6
  std::string transparent_hugepages{};    // one of hugepage_settings()
  std::map<std::string, double> rates{};  // of host_rate_names(), that were measured

  bool operator==(const HostDescription&) const = default;
};

// Whether speeds that were measured on both compare: one model of processor, one microarchitecture, as many
// cores.
bool is_same_machine(const HostDescription& a, const HostDescription& b);

// The kernel's settings of transparent huge pages, each granting what those before it do: never, madvise,
// always.
const std::vector<std::string>& hugepage_settings();
// triad and copy as STREAM counts them, sgemm, dgemm, disk_write, disk_read.
const std::vector<std::string>& host_rate_names();
// "GB/s" or "GFLOP/s", thousands of millions; "" for any other name.
std::string_view unit_of_host_rate(std::string_view name);

Json to_json(const HostDescription& host);
// Reads a description that kiln wrote, in a measurement: a missing key means that the value is not known.
HostDescription host_from_json(const JsonNode& node);
// As a person wrote it. Throws Error(input) with the place of what is missing or cannot be: a
// microarchitecture that archspec does not know, a kernel that begins with no number, a word that names no
// accelerator or MPI.
HostDescription read_host(const JsonNode& node, const Microarchitectures& cpus);

// Description of the host: read from /proc, /sys and uname, or given as JSON (`--host host.json`).

// Facts that only the running system knows, not a file.
struct SystemAnswers {
  std::string machine;  // uname: x86_64, aarch64, …
  std::string kernel;   // uname: 6.1.0-18-amd64
  std::string glibc;    // of this process: 2.36
  int cores = 0;        // processors that this process may run on
};
SystemAnswers ask_system();

// Reads /proc/cpuinfo and /proc/meminfo through `files`; the microarchitecture by archspec's detection rule.
// Values that the files lack stay empty or 0; without /proc/cpuinfo the microarchitecture is the machine's
// family. Accelerators: `nvidia` when its driver is loaded (the compute capability is in no file), its
// driver, `amd:gfx90a` and the like from the kernel's list of compute nodes. Throws Error(store) when a file
// is there but cannot be read.
HostDescription describe_host(const FileSystem& files, const Microarchitectures& cpus,
                              const SystemAnswers& system);

// describe_host of the machine that kiln runs on.
HostDescription detect_host(const FileSystem& files, const Microarchitectures& cpus);

}  // namespace kiln
