#include "factory/run/test_machine.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <csignal>

#include "factory/base/text.h"
#include "factory/record/gpu_code.h"
#include "registry/select/cpu_code.h"

namespace kiln {
namespace {

// As shells, GNU make, Python's subprocess and buildah say it of a program that they started.
constexpr std::array kWords = {"Illegal instruction", "illegal instruction", "SIGILL",
                               "illegal hardware instruction"};

// cudaErrorNoKernelImageForDevice and hipErrorNoBinaryForGpu, which have the same words.
constexpr const char* kNoCodeForGpu = "no kernel image is available for execution on the device";
// cudaErrorInsufficientDriver, cudaErrorUnsupportedPtxVersion, and PyTorch's own words for the first.
constexpr std::array kOldDriver = {"CUDA driver version is insufficient for CUDA runtime version",
                                   "the provided PTX was compiled with an unsupported toolchain",
                                   "The NVIDIA driver on your system is too old"};

bool runs_code_for(const std::vector<std::string>& gpus, const std::string& accelerator) {
  const auto [vendor, gpu] = split_accelerator(accelerator);
  std::vector<std::string> codes;
  for (const std::string& code : gpus)
    if ((code.starts_with("gfx") ? "amd" : "nvidia") == vendor) codes.push_back(code);
  return best_fit(with_ptx(codes), gpu).runs();
}

}  // namespace

TestTarget test_target(const Step& test) {
  TestTarget target{value_or(test.parameters, "KILN_CPU_TARGET")};
  const std::string gpus = value_or(test.parameters, "KILN_GPU_TARGETS");
  for (std::string_view gpu : split(gpus, ' '))
    if (!gpu.empty()) target.gpus.emplace_back(gpu);
  return target;
}

std::string gpu_lacking_here(const CommandResult& result, const std::vector<std::string>& gpus,
                             const HostDescription& host) {
  if (gpus.empty() || (result.end == CommandEnd::exited && result.status == 0)) return "";
  if (contains_any(result.tail, kOldDriver))
    return host.driver.empty()
               ? "this machine has no GPU driver that the image can use"
               : fmt::format("the GPU's driver of this machine ({}) is too old for the image", host.driver);
  if (result.tail.find(kNoCodeForGpu) == std::string::npos) return "";
  const auto& own = host.accelerators;
  if (std::ranges::any_of(own, [&](const auto& one) { return runs_code_for(gpus, one); })) return "";
  if (own.empty()) return "this machine has no GPU";
  return fmt::format("this machine has {}, which does not run code for {}", fmt::join(own, ", "),
                     fmt::join(gpus, ", "));
}

bool met_unknown_instruction(const CommandResult& result) {
  if (result.end == CommandEnd::signalled) return result.status == SIGILL;
  if (result.end != CommandEnd::exited || result.status == 0) return false;
  return result.status == 128 + SIGILL || contains_any(result.tail, kWords);
}

bool met_old_kernel(const CommandResult& result) {
  if (result.end == CommandEnd::exited && result.status == 0) return false;
  return result.tail.find("FATAL: kernel too old") != std::string::npos;  // glibc, csu/libc-start.c
}

std::string why_not_here(const CommandResult& result, const TestTarget& target, const TestMachine& machine) {
  if (met_old_kernel(result))
    return fmt::format("the kernel of this machine ({}) is too old for the image's C library",
                       machine.host.kernel);
  std::string gpu = gpu_lacking_here(result, target.gpus, machine.host);
  if (!gpu.empty()) return gpu;
  return met_unknown_instruction(result) ? lacking_here(target.cpu, machine) : "";
}

std::string lacking_here(const std::string& target, const TestMachine& machine) {
  if (!machine.emulator.empty()) return fmt::format("{} lacks an instruction that it uses", machine.emulator);
  const Microarchitecture* wanted = machine.cpus.find(target);
  if (wanted == nullptr || machine.cpus.find(machine.host.cpu) == nullptr) return "";
  const HostCpu here(machine.host, machine.cpus);
  if (here.runs(*wanted)) return "";
  constexpr std::size_t kShown = 2;
  std::vector<std::string> missing = here.missing(*wanted);
  const std::size_t more = missing.size() > kShown + 1 ? missing.size() - kShown : 0;
  if (more > 0) missing.resize(kShown);
  std::string lacks =
      fmt::format("{}{}", fmt::join(missing, ", "), more > 0 ? fmt::format(" and {} more", more) : "");
  return fmt::format("this machine ({}) {} {}", machine.host.cpu,
                     missing.empty() ? "does not run code for" : "lacks " + lacks + " of", target);
}

}  // namespace kiln
