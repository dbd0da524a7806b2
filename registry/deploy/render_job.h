// Deployment → scripts for bash. Pure, and equal bytes for equal deployments.
#pragma once

#include <string>
#include <vector>

#include "registry/deploy/deployment.h"

namespace kiln {

struct JobScripts {
  std::string job;
  std::string build;               // "" = the document builds nothing
  std::vector<std::string> notes;  // options that the scheduler does not have
};

// No value of the document becomes text of the shell or another directive: each is quoted, and commands of
// the document (`pre-execution`, `build_command`) stay one argument. Throws Error(input) at the place of a
// value that the scheduler cannot take, Error(no_match) for an image that the runtime cannot find.
JobScripts render_job(const Deployment& deployment);

// The deployment with `job_script`, `build_script` where there is one, and the notes of both: as `kiln job
// --json` prints it.
Json to_json(const Deployment& deployment, const JobScripts& scripts);

// The names of a job's options in each scheduler. The only place of kiln that knows directives.
struct SchedulerHeader {
  std::vector<std::string> lines;    // of the script, from its first
  std::vector<std::string> missing;  // options of the document that this scheduler has none for, a line each
};

// Each throws Error(input) at the place of a value that the scheduler cannot take.
SchedulerHeader slurm_header(const Deployment& deployment);
SchedulerHeader torque_header(const Deployment& deployment);
SchedulerHeader openpbs_header(const Deployment& deployment);
SchedulerHeader header_of(const Deployment& deployment);

// Of `job_dependency`: Slurm and PBS have different types, and Slurm alone has '?' and a delay. Throws
// Error(input).
void check_dependency(const JobRequest& job, Scheduler scheduler);

// Lines that begin the script's commands: the job's folder, and what a job around this one left behind.
std::vector<std::string> start_lines(const Deployment& deployment);
// Words of bash before each process of a parallel job: `srun --ntasks=4`, `mpirun -np 4`.
std::string launcher_words(const Deployment& deployment);
std::string slurm_launcher(const Deployment& deployment);

// The commands of a script that start the application in its container.

// Environment of the processes, and the arrays `container` and `step`.
std::vector<std::string> container_lines(const Deployment& deployment);
// Starts the application, by its launcher where it is parallel.
std::vector<std::string> run_lines(const Deployment& deployment);
// Fetches the source, and builds it in the container. REQUIRES: the job has a build.
std::vector<std::string> build_lines(const Deployment& deployment);

}  // namespace kiln
