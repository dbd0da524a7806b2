// Nodes, processes, cores and memory of a job: read from the document, completed from the partition, and held
// against it.
#pragma once

#include "registry/deploy/deployment.h"

namespace kiln {

// `partition`: nullptr = nothing is known. Throws Error(input) at the place of the value.
void place_processes(Deployment& deployment, const Partition* partition);

// The job asks for no more than the partition has. Throws Error(input).
void check_partition(const Deployment& deployment, const Partition& partition);

}  // namespace kiln
