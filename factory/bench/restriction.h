// A machine that is made to work as a lesser one: `kiln bench --restrict`. Its measurements are those of
// another kind of host, and are kept as such. Pure.
#pragma once

#include <map>
#include <span>
#include <string>

#include "factory/cpu/microarchitecture.h"
#include "factory/record/host_description.h"

namespace kiln {

struct Restriction {
  std::string level;  // x86_64_v2 or x86_64_v3; "": all instruction sets
  int cores = 0;      // 0: all
  bool empty() const { return level.empty() && cores == 0; }
};

// "x86_64_v3", "cores=2". Throws Error(usage) for another word, and for two of a kind.
Restriction read_restriction(std::span<const std::string> words);

// The variables by which oneDNN, ATen, OpenBLAS and MKL stay below a level. Code that does not read them is
// not restricted.
std::map<std::string, std::string> restricting_variables(const Restriction& restriction);

// The machine as its runs describe it: its model names the restriction, so that no measurement of it is taken
// for one of the whole machine. Throws Error(usage) for a level that the host lacks or that is not below the
// host's own, and for as many cores as the host has or more.
HostDescription restricted_host(HostDescription host, const Restriction& restriction,
                                const Microarchitectures& cpus);

}  // namespace kiln
