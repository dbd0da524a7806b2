#include "registry/deploy/job_request.h"

#include <nlohmann/json.hpp>

#include "deploy/deploy_samples.h"

namespace kiln {
namespace {

using namespace testing;

JobRequest request_of(const std::string& text) {
  return read_job_request(JsonDocument::parse(text, "job.json"));
}

TEST(JobRequest, ReadsEachOption) {
  const JobRequest job = request_of(
      document(R"("job_name": "a b", "account": "ai", "queue": "q", "partition": "p", "qos": "high",
    "wall_time_limit": "12:00:00   ", "node_count": "2", "core_count": 40, "process_count_per_node": 20,
    "core_count_per_process": 2, "memory_limit": "8GB", "request_gpus": 1, "request_specific_nodes": "ssd",
    "job_array": "0-3", "standard_output_file": "o", "standard_error_file": "e", "combine_stdout_stderr": "false",
    "architecture_constraint": "gpu", "copy_environment": true, "copy_environment_variable": "A,B=1",
    "job_dependency": "afterok:1", "request_event_notification": "abe", "email_address": "user@example.org",
    "defer_job": "08:30", "node_exclusive": true)",
               R"("app_type": "MPI", "executable": "./x", "arguments": "-a b", "mpi_ranks": 40,
    "threads": "2", "minimal_efficiency": 0.5, "storage_class_pref": "default-ssd", "pre-execution": "module load a",
    "post-execution": ["b", "c"], "build": {"src": "https://x/y.tar.gz", "build_command": "make", "build_parallelism": 4})",
               R"("name": "hlrs", "queue_type": "Torque")"));
  EXPECT_EQ(job.name, "a b");
  EXPECT_EQ(job.wall_time->count(), 43200);
  EXPECT_EQ(*job.nodes, 2);
  EXPECT_EQ(*job.cores_per_process, 2);
  EXPECT_EQ(job.memory, 8ull << 30);
  EXPECT_FALSE(job.combined);
  EXPECT_EQ(job.node_names, std::vector<std::string>{"ssd"});
  EXPECT_EQ(job.variables.size(), 2u);
  EXPECT_EQ(*job.scheduler, Scheduler::torque);
  EXPECT_EQ(job.infrastructure, "hlrs");
  EXPECT_TRUE(job.uses_mpi());
  EXPECT_EQ(command_text(job.command), "./x -a b");
  EXPECT_EQ(job.after.size(), 2u);
  EXPECT_EQ(*job.build->cores, 4);
}

TEST(JobRequest, NullAndBlanksAreAsAbsent) {
  const JobRequest job =
      request_of(document(R"("wall_time_limit": "", "queue": null, "job_array": " ", "email_address": "")",
                          R"("executable": "./x", "arguments": "", "container_runtime": "")"));
  EXPECT_FALSE(job.wall_time);
  EXPECT_EQ(job.array, "");
  EXPECT_EQ(job.image, "");
}

TEST(JobRequest, TakesTheTypeFromTheOptimisation) {
  const JobRequest job = request_of(
      R"({"application": {"executable": "python3 t.py"}, "optimisation": {"app_type": "ai_training", "workload": "resnet50",
    "app_type-ai_training": {"config": {"ai_framework": "PyTorch", "distributed_training": "true"}}}})");
  EXPECT_EQ(job.app_type, "ai_training");
  EXPECT_EQ(job.framework, "pytorch");
  EXPECT_TRUE(job.distributed);
  EXPECT_EQ(job.workload, "resnet50");
}

// What stands where in a wrong document. Of each: options, application, the end of the error.
struct WrongJob {
  const char *options, *application, *error;
};

TEST(JobRequest, RefusesWrongInputAtItsPlace) {
  const WrongJob cases[] = {
      {"", R"("mpi_ranks": 0)",
       "expected a whole number from 1 to 100000000, found 0 (at /job/application/mpi_ranks)"},
      {"", R"("minimal_efficiency": 0)",
       "expected an efficiency over 0, and at most 1 (at /job/application/minimal_efficiency)"},
      {"", R"("minimal_efficiency": 2)",
       "expected an efficiency over 0, and at most 1 (at /job/application/minimal_efficiency)"},
      {R"("node_count": 0)", "", "/job/job_options/node_count)"},
      {R"("node_count": "two")", "", "expected a whole number, found 'two' (at /job/job_options/node_count)"},
      {R"("wall_time_limit": "25:61:00")", "", "(at /job/job_options/wall_time_limit); for example"},
      {R"("job_name": "a\n#SBATCH --uid=0")", "", "(at /job/job_options/job_name)"},
      {R"("job_name": "--wrap=id")", "",
       "the job's name '--wrap=id' begins with '-' (at /job/job_options/job_name)"},
      {R"("job_name": "../a")", "", "the job's name '../a' has '/' in it (at /job/job_options/job_name)"},
      {R"("account": "a;b")", "",
       "invalid name 'a;b': expected letters, digits and _ . @ + - (at /job/job_options/account)"},
      {R"("memory_limit": "1G", "minimum_memory_per_processor": "1G")", "",
       "'memory_limit' is given as well: a job has one memory limit (at "
       "/job/job_options/minimum_memory_per_processor); "
       "remove one of them"},
      {R"("job_naem": "a")", "",
       "unknown key 'job_naem' (at /job/job_options/job_naem); did you mean 'job_name'?"},
      {"", R"("derive": {"requirements": "r.txt"})",
       "the key 'name' is missing (at /job/application/derive)"},
      {"", R"("derive": {"name": "t", "test": "t.sh"})", "nothing to add to the image"},
      {"", R"("derive": {"name": "t", "copy": "/etc"})",
       "'/etc' is not below the folder of the document (at /job/application/derive/copy)"},
      {"", R"("derive": {"name": "t", "copy": "a/../../b:/opt/t"})", "is not below the folder"},
      {"", R"("derive": {"name": "t", "copy": "a:/../../b:/opt/t"})", "is not below the folder"},
      {"", R"("derive": {"name": "t", "run": "a:/../../b"})", "is not below the folder"},
      {"", R"("derive": {"name": "t", "image": "x"})", "unknown key 'image'"},
      {"", R"("build": {"src": "-o/etc/passwd"})", "(at /job/application/build/src); for example https://…"},
      {"", R"("build": {"src": "https://x/"})",
       "'https://x/' ends in no name of a file (at /job/application/build/src)"},
      {"", R"("build": {"build_command": "make {{ JOBS }}"})",
       "unknown variable '{{JOBS}}' (at /job/application/build/build_command); build_command has "
       "{{BUILD_PARALLELISM}}"},
      {"", R"("checkpoint": {"path": "/c", "signal": "KILL"})",
       "(at /job/application/checkpoint/signal); USR2, USR1, HUP, "
       "TERM or INT"}};
  for (const WrongJob& wrong : cases) {
    const std::string error = input_error([&] { request_of(document(wrong.options, wrong.application)); });
    EXPECT_TRUE(holds(error, "job.json:1:") && holds(error, wrong.error)) << error;
  }
}

TEST(JobRequest, AJobsNameMayBeAnyLineForSlurm) {
  EXPECT_EQ(request_of(document(R"("job_name": "größe; a 'b' \"c\" \\d")", "")).name,
            "größe; a 'b' \"c\" \\d");
}

TEST(JobRequest, UnknownKeysAreNotesWhenLenient) {
  const auto text = JsonDocument::parse(document(R"("job_naem": "a")", ""), "job.json");
  EXPECT_EQ(read_job_request(text, true).notes,
            std::vector<std::string>{"unknown key 'job_naem' (at /job/job_options/job_naem)"});
}

TEST(JobRequest, KnowsSchedulersByTheirWords) {
  EXPECT_EQ(*request_of(document("", "", R"("job_scheduler_type": "none")")).scheduler, Scheduler::bash);
  EXPECT_EQ(*request_of(document("", "", R"("queue_type": "PBS")")).scheduler, Scheduler::openpbs);
  EXPECT_TRUE(holds(input_error([] { request_of(document("", "", R"("job_scheduler_type": "slrum")")); }),
                    "unknown scheduler 'slrum': expected slurm, torque, openpbs, bash or none (at "
                    "/job/target/job_scheduler_type); did you mean 'slurm'?"));
}

}  // namespace
}  // namespace kiln
