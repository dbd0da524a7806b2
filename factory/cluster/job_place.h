// Which machines of the cluster a step needs. Pure.
#pragma once

#include <string>
#include <vector>

#include "factory/cpu/microarchitecture.h"
#include "factory/resolve/resolve.h"
#include "factory/site/slurm_site.h"

namespace kiln {

struct PlaceNeed {
  std::string cpu;                        // archspec's name; "": any
  std::vector<std::string> accelerators;  // any of these: "nvidia:sm_90"; none: it needs none
};

// A step whose script is told of a processor is of an image for it. Accelerators are for tests alone: what
// compiles for one does without.
PlaceNeed place_need(const Step& step);

// Throws Error(input) for a partition under a name that is neither a microarchitecture of archspec nor an
// accelerator. `file`: the site file, for the message.
void check_places(const SlurmSite& site, const Microarchitectures& cpus, const std::string& file);

// The partition of the accelerator, with its architecture or of its vendor alone; else the one of the nearest
// microarchitecture that runs code for the wanted one; else, and wherever the machines of "default" run it,
// "default".
SlurmPlace choose_place(const SlurmSite& site, const PlaceNeed& need, const Microarchitectures& cpus);

}  // namespace kiln
