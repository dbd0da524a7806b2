// What the host is: read from /proc and uname, or given as JSON (`--host host.json`).
#pragma once

#include "base/effects.h"
#include "base/microarchitecture.h"
#include "registry/image_record.h"

namespace kiln {

// Reads /proc/cpuinfo and /proc/meminfo through `files`; the microarchitecture by archspec's detection rule.
HostDescription detect_host(const FileSystem& files, const Microarchitectures& cpus);

}  // namespace kiln
