// What each scheduler calls the options of a job. The only place of kiln that knows directives.
#pragma once

#include <string>
#include <vector>

#include "registry/deploy/deployment.h"

namespace kiln {

struct SchedulerHeader {
  std::vector<std::string> lines;    // of the script, from its first
  std::vector<std::string> missing;  // options of the document that this scheduler has none for, a line each
};

// Each throws Error(input) at the place of a value that the scheduler cannot take.
SchedulerHeader slurm_header(const Deployment& deployment);
SchedulerHeader torque_header(const Deployment& deployment);
SchedulerHeader openpbs_header(const Deployment& deployment);
SchedulerHeader bash_header(const Deployment& deployment);
SchedulerHeader header_of(const Deployment& deployment);

// Of `job_dependency`: Slurm and PBS have different types, and Slurm alone has '?' and a delay. Throws
// Error(input).
void check_dependency(const JobRequest& job, Scheduler scheduler);

// Lines that begin the script's commands: the job's folder, and what a job around this one left behind.
std::vector<std::string> start_lines(const Deployment& deployment);
// Words of bash before each process of a parallel job: `srun --ntasks=4`, `mpirun -np 4`.
std::string launcher_words(const Deployment& deployment);
std::string slurm_launcher(const Deployment& deployment);

}  // namespace kiln
