// The parts of this machine that a container gets so that it reaches the GPUs: their device nodes, and the
// libraries of NVIDIA's driver, which belong to its kernel module and can be in no image. They are those that
// NVIDIA's own container runtime calls compute and utility libraries (libnvidia-container, src/nvc_info.c);
// AMD's GPUs need only the nodes; the rest is in the image.
#pragma once

#include <string_view>

#include "factory/engine/engine.h"

namespace kiln {

struct GpuAccess {
  std::vector<Mount> mounts;         // below /run/kiln/driver
  std::vector<std::string> devices;  // absolute paths, the same inside
  // LD_LIBRARY_PATH where there are mounts, and which GPUs the caller (or its batch job) may use.
  std::map<std::string, std::string> environment;

  // Adds them; the driver is found before what the image has under the same names.
  void hand_to(ContainerRun& request) const;
};

// Nothing where this machine has no GPU. `ours` is kiln's own environment.
GpuAccess gpu_access(const FileSystem& files, CommandRunner& runner,
                     const std::map<std::string, std::string>& ours);

// The driver's libraries in the words of `ldconfig -p`, by the name that the loader is asked for; those of
// this machine's 64-bit processors. Of libraries of one name the first, as the loader does it.
std::map<std::string, fs::path> driver_libraries(std::string_view ldconfig);

// Among the names in /dev; sorted, absolute.
std::vector<std::string> gpu_devices(const FileSystem& files);

}  // namespace kiln
