// Where a test ran, and whether this machine could run it at all.
#pragma once

#include <string>

#include "base/effects.h"
#include "base/microarchitecture.h"
#include "registry/host.h"

namespace kiln {

// The machine that runs tests. Both outlive it.
struct TestPlace {
  const HostDescription& host;
  const Microarchitectures& cpus;
};

// A program of it met an instruction that its processor does not have (SIGILL): by the script's end, or by
// what its output says of a program that it started.
bool met_unknown_instruction(const CommandResult& result);

// The C library of the image refused to start on this kernel: glibc's "FATAL: kernel too old".
bool met_old_kernel(const CommandResult& result);

// Why an image for `target` (archspec's name) may meet such an instruction here: "this machine (haswell)
// lacks avx512f, avx512cd and 3 more of skylake_avx512"; "" when it has all, or `target` is none that
// archspec knows.
std::string lacking_here(const std::string& target, const TestPlace& place);

// Why a test of an image for `target` that ended so says nothing of the image: this machine lacks the
// processor or the kernel for it. "" where the machine is no excuse.
std::string why_not_here(const CommandResult& result, const std::string& target, const TestPlace& place);

}  // namespace kiln
