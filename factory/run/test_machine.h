// Where a test ran, and whether this machine could run it.
#pragma once

#include <string>
#include <vector>

#include "factory/base/effects.h"
#include "factory/cpu/microarchitecture.h"
#include "factory/record/host_description.h"
#include "factory/resolve/resolve.h"

namespace kiln {

// The machine that runs tests, which outlives it as archspec's tables do.
struct TestMachine {
  const HostDescription& host;
  const Microarchitectures& cpus;
  std::string emulator{};  // emulates a processor of the image's kind (emulator_of()); "": no emulator
};

// A program of it met an instruction that its processor does not have (SIGILL): by the script's end, or by
// its output about a program that it started.
bool met_unknown_instruction(const CommandResult& result);

// The C library of the image refused to start on this kernel: glibc's "FATAL: kernel too old".
bool met_old_kernel(const CommandResult& result);

// Why an image for `target` (archspec's name) may meet such an instruction here: "this machine (haswell)
// lacks avx512f, avx512cd and 3 more of skylake_avx512"; "" if it has all, or if archspec does not know
// `target`. An emulator's features do not depend on the target.
std::string lacking_here(const std::string& target, const TestMachine& machine);

// The target of an image.
struct TestTarget {
  std::string cpu;                     // archspec's name
  std::vector<std::string> gpus = {};  // "sm_90", "gfx90a"; empty: none
};
TestTarget test_target(const Step& test);

// A program of it found no GPU that its code is for, or a driver that is too old for it, by the words of CUDA
// (cudaGetErrorString), of HIP and of PyTorch: why, "" where the machine's GPUs run code for `gpus`.
std::string gpu_lacking_here(const CommandResult& result, const std::vector<std::string>& gpus,
                             const HostDescription& host);

// Why a test of an image for `target` that ended so says nothing of the image: this machine lacks the
// processor, the GPU, the driver or the kernel for it. "" where the machine is no excuse.
std::string why_not_here(const CommandResult& result, const TestTarget& target, const TestMachine& machine);

}  // namespace kiln
