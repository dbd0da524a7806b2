// What the host is: read from /proc, /sys and uname, or given as JSON (`--host host.json`).
#pragma once

#include <string>

#include "factory/base/effects.h"
#include "factory/cpu/microarchitecture.h"
#include "factory/record/host_description.h"

namespace kiln {

// What only the running system can say, not a file.
struct SystemAnswers {
  std::string machine;  // uname: x86_64, aarch64, …
  std::string kernel;   // uname: 6.1.0-18-amd64
  std::string glibc;    // of this process: 2.36
  int cores = 0;        // processors that this process may run on
};
SystemAnswers ask_system();

// Reads /proc/cpuinfo and /proc/meminfo through `files`; the microarchitecture by archspec's detection rule.
// What the files do not tell stays empty or 0; without /proc/cpuinfo the microarchitecture is the machine's
// family. Accelerators: `nvidia` when its driver is loaded (the compute capability is in no file), its
// driver, `amd:gfx90a` and the like from the kernel's list of compute nodes. Throws Error(store) when a file
// is there but cannot be read.
HostDescription describe_host(const FileSystem& files, const Microarchitectures& cpus,
                              const SystemAnswers& system);

// describe_host of the machine that kiln runs on.
HostDescription detect_host(const FileSystem& files, const Microarchitectures& cpus);

}  // namespace kiln
