#include "factory/run/gpu_access.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "factory/base/text.h"
#include "factory/oci/documents.h"

namespace kiln {
namespace {

constexpr const char* kDriverFolder = "/run/kiln/driver";

// Up to ".so".
constexpr std::array<std::string_view, 15> kLibraries = {"libcuda",
                                                         "libcudadebugger",
                                                         "libnvidia-allocator",
                                                         "libnvidia-cfg",
                                                         "libnvidia-compiler",
                                                         "libnvidia-fatbinaryloader",
                                                         "libnvidia-gpucomp",
                                                         "libnvidia-ml",
                                                         "libnvidia-nscq",
                                                         "libnvidia-nvvm",
                                                         "libnvidia-opencl",
                                                         "libnvidia-pkcs11",
                                                         "libnvidia-pkcs11-openssl3",
                                                         "libnvidia-ptxjitcompiler",
                                                         "libnvidia-tileiras"};

// What says which GPUs are meant, by CUDA, ROCm's runtime and HIP.
constexpr std::array kChoices = {"CUDA_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES"};

bool is_of_driver(std::string_view name) {
  const std::string_view stem = name.substr(0, name.find(".so"));
  return stem.size() < name.size() && std::ranges::find(kLibraries, stem) != kLibraries.end();
}

bool is_number(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

// nvidia0, nvidiactl, nvidia-uvm, nvidia-uvm-tools; kfd.
bool is_gpu_device(std::string_view name) {
  constexpr std::string_view kNvidia = "nvidia";
  if (name == "kfd") return true;
  if (!name.starts_with(kNvidia)) return false;
  const std::string_view rest = name.substr(kNvidia.size());
  return rest == "ctl" || rest.starts_with("-uvm") || is_number(rest);
}

// Of a GPU in parts (MIG): who may open the first two nodes may make and watch parts, the others give access
// to one each (NVIDIA's MIG user guide, "Device Nodes and Capabilities").
bool is_for_administrators(std::string_view name) { return name == "nvidia-cap1" || name == "nvidia-cap2"; }

std::string ldconfig_says(CommandRunner& runner) {
  const bool is_in_path = runner.find_program("ldconfig").has_value();  // not in a user's
  const CommandResult result = runner.ask({is_in_path ? "ldconfig" : "/sbin/ldconfig", "-p"},
                                          {{"PATH", kDefaultPath}, {"LC_ALL", "C.UTF-8"}});
  return result.ok() ? result.output : "";
}

}  // namespace

// "	libcuda.so.1 (libc6,x86-64) => /lib/x86_64-linux-gnu/libcuda.so.1": ldconfig(8); "(libc6)" alone is of
// 32 bits.
std::map<std::string, fs::path> driver_libraries(std::string_view ldconfig) {
  constexpr std::string_view kArrow = " => ";
  std::map<std::string, fs::path> libraries;
  for (std::string_view line : split(ldconfig, '\n')) {
    line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
    const std::size_t kind = line.find(" (libc6,");
    const std::size_t arrow = line.find(kArrow);
    if (kind == std::string_view::npos || arrow == std::string_view::npos) continue;
    const std::string_view name = line.substr(0, kind);
    if (is_of_driver(name)) libraries.try_emplace(std::string(name), line.substr(arrow + kArrow.size()));
  }
  return libraries;
}

std::vector<std::string> gpu_devices(const FileSystem& files) {
  std::vector<std::string> devices;
  for (const std::string& name : files.list("/dev"))
    if (is_gpu_device(name)) devices.push_back("/dev/" + name);
  for (const std::string& name : files.list("/dev/dri"))
    if (name.starts_with("renderD") && files.exists("/dev/kfd")) devices.push_back("/dev/dri/" + name);
  for (const std::string& name : files.list("/dev/nvidia-caps"))
    if (!is_for_administrators(name)) devices.push_back("/dev/nvidia-caps/" + name);
  return devices;
}

GpuAccess gpu_access(const FileSystem& files, CommandRunner& runner,
                     const std::map<std::string, std::string>& ours) {
  GpuAccess access;
  access.devices = gpu_devices(files);
  if (access.devices.empty()) return access;
  if (files.exists("/proc/driver/nvidia/version"))
    for (const auto& [name, path] : driver_libraries(ldconfig_says(runner)))
      access.mounts.push_back({path, fmt::format("{}/{}", kDriverFolder, name)});
  if (!access.mounts.empty()) access.environment["LD_LIBRARY_PATH"] = kDriverFolder;
  for (const char* name : kChoices)
    if (auto chosen = ours.find(name); chosen != ours.end()) access.environment.insert(*chosen);
  return access;
}

void GpuAccess::hand_to(ContainerRun& request) const {
  request.mounts.insert(request.mounts.end(), mounts.begin(), mounts.end());
  request.devices.insert(request.devices.end(), devices.begin(), devices.end());
  for (const auto& [name, value] : environment) {
    std::string& inside = request.environment[name];
    inside = name == "LD_LIBRARY_PATH" && !inside.empty() ? value + ":" + inside : value;
  }
}

}  // namespace kiln
