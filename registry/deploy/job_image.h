// The image of a job: for the nodes that it may run on.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "registry/answer/chooser.h"
#include "registry/deploy/infrastructure.h"

namespace kiln {

// Asks the index. May throw in place of a reply that has an error.
using AskIndex = std::function<ChooserReply(const ChooserQuestion& question)>;

struct ImageChoice {
  ChooserReply reply;      // with an error where no image qualifies
  std::string constraint;  // of the scheduler, under which the image is right; "" = on all nodes that may be
  std::vector<std::string> reasons, notes;
};

// The host's name of which each of these nodes can run the images: their nearest common microarchitecture of
// archspec, and the accelerators if all have the same; "" where there is none.
std::string common_host(const std::vector<AlikeNodes>& kinds, const Microarchitectures& cpus);

// Of nodes of one kind, the best image for them. Of several, the best one that runs on all of them, and a
// note names what is better under which constraint; where none runs on all, the best for the kind with the
// most nodes. `asked` has the document; its host is set. REQUIRES: the nodes of the partition are the host.
ImageChoice choose_for_partition(ChooserQuestion asked, const Partition& partition, const JobRequest& job,
                                 const Microarchitectures& cpus, const AskIndex& ask);

}  // namespace kiln
