// No scheduler: the script runs where it is started.
#include <fmt/format.h>

#include "registry/deploy/scheduler.h"

namespace kiln {

SchedulerHeader bash_header(const Deployment& deployment) {
  const JobRequest& job = deployment.job;
  SchedulerHeader header{{"#!/bin/bash"}, {}};
  const std::pair<const char*, bool> options[] = {{"account", !job.account.empty()},
                                                  {"queue", !job.queue.empty()},
                                                  {"partition", !job.partition.empty()},
                                                  {"qos", !job.qos.empty()},
                                                  {"wall_time_limit", job.wall_time.has_value()},
                                                  {"node_count", job.nodes.value_or(1) > 1},
                                                  {"memory_limit", job.memory > 0},
                                                  {"minimum_memory_per_processor", job.memory_per_core > 0},
                                                  {"request_specific_nodes", !job.node_names.empty()},
                                                  {"job_array", !job.array.empty()},
                                                  {"architecture_constraint", !job.constraint.empty()},
                                                  {"job_dependency", !job.dependency.empty()},
                                                  {"request_event_notification", !job.mail.empty()},
                                                  {"email_address", !job.address.empty()},
                                                  {"defer_job", job.start.has_value()},
                                                  {"node_exclusive", job.exclusive}};
  for (const auto& [name, asked] : options)
    if (asked) header.missing.push_back(fmt::format("{}: a plain script has no option for it", name));
  return header;
}

}  // namespace kiln
