// Each option of a document in each scheduler's words.
#include "deploy/deploy_samples.h"

namespace kiln {
namespace {

using namespace testing;

const char* kTorque = R"("job_scheduler_type": "torque")";
const char* kOpenPbs = R"("job_scheduler_type": "openpbs")";
const char* kAll =
    R"("job_name": "solver", "account": "ai", "queue": "q1", "qos": "high", "wall_time_limit": "36:00:00",
  "node_count": 2, "process_count_per_node": 4, "memory_limit": "8GB", "request_gpus": 1, "job_array": "0-3",
  "standard_output_file": "o ut", "standard_error_file": "err", "combine_stdout_stderr": false, "copy_environment": true,
  "copy_environment_variable": "A,B=1", "job_dependency": "afterok:17", "request_event_notification": "abe",
  "email_address": "user@example.org", "defer_job": "2026-11-27T08:30", "node_exclusive": true)";
const char* kEight = R"("app_type": "mpi", "executable": "x", "mpi_ranks": 8)";

TEST(Schedulers, Slurm) {
  EXPECT_EQ(lines_of(script(document(std::string(kAll) + R"(, "request_specific_nodes": "n[1-2]",
                                     "architecture_constraint": "intel&gpu")",
                                     kEight)),
                     "#"),
            R"(#!/bin/bash
#SBATCH --job-name=solver
#SBATCH --account=ai
#SBATCH --partition=q1
#SBATCH --qos=high
#SBATCH --time=1-12:00:00
#SBATCH --nodes=2
#SBATCH --ntasks=8
#SBATCH --ntasks-per-node=4
#SBATCH --mem=8192M
#SBATCH --gpus-per-node=1
#SBATCH --nodelist="n[1-2]"
#SBATCH --array=0-3
#SBATCH --output="o ut"
#SBATCH --error=err
#SBATCH --mail-type=BEGIN,END,FAIL,INVALID_DEPEND,TIME_LIMIT
#SBATCH --mail-user=user@example.org
#SBATCH --constraint="intel&gpu"
#SBATCH --export=ALL,A
#SBATCH --dependency=afterok:17
#SBATCH --begin=2026-11-27T08:30:00
#SBATCH --exclusive
# Made by kiln job, for docker://ethcscs/openmpi:3.1.3
# shellcheck disable=SC2016 # single quotes keep variables for the processes that are started
# Of a job in which this one may have been submitted.
# In each process, before the application begins.
)");
}

// adaptivecomputing/torque@34ff8454, doc/man1/qsub.1.in; CHANGELOG, 2.5.4: -l nodes=X[:ppn=Y][:gpus=Z].
TEST(Schedulers, Torque) {
  EXPECT_EQ(lines_of(script(document(kAll, kEight, kTorque)), "#PBS"), R"(#PBS -S /bin/bash
#PBS -N solver
#PBS -A ai
#PBS -q q1
#PBS -l qos=high
#PBS -l walltime=36:00:00
#PBS -l nodes=2:ppn=4:gpus=1
#PBS -l mem=16384mb
#PBS -t 0-3
#PBS -o 'o ut'
#PBS -e err
#PBS -V
#PBS -v A
#PBS -W depend=afterok:17
#PBS -m abe
#PBS -M user@example.org
#PBS -a 202611270830.00
#PBS -l naccesspolicy=singlejob
)");
  const std::string text = script(document(R"("copy_environment_variable": "B=a b")", kEight, kTorque));
  EXPECT_TRUE(holds(text, "cd \"${PBS_O_WORKDIR:-${PWD}}\"\n"));
  EXPECT_TRUE(holds(text, "export B='a b'\n"));
  EXPECT_TRUE(holds(text, "#PBS -l procs=8\n"));
  EXPECT_TRUE(holds(text, "mpirun -np 8 sh -c"));
}

// openpbs/openpbs@cd7ab5ed, doc/man1/qsub.1B and pbs_resources.7B.
TEST(Schedulers, OpenPbs) {
  const JobScripts scripts = render_job(deployed(document(kAll, kEight, kOpenPbs)));
  EXPECT_EQ(lines_of(scripts.job, "#PBS"), R"(#PBS -S /bin/bash
#PBS -N solver
#PBS -A ai
#PBS -q q1
#PBS -l walltime=36:00:00
#PBS -l select=2:ncpus=4:mpiprocs=4:ngpus=1:mem=8192mb
#PBS -l place=scatter:excl
#PBS -J 0-3
#PBS -o 'o ut'
#PBS -e err
#PBS -V
#PBS -v A
#PBS -W depend=afterok:17
#PBS -m abe
#PBS -M user@example.org
#PBS -a 202611270830.00
)");
  EXPECT_EQ(scripts.notes, std::vector<std::string>{"qos: OpenPBS has no option for it"});
  EXPECT_TRUE(holds(scripts.job, "# qos: OpenPBS has no option for it\n"));
}

TEST(Schedulers, NodesOfTorque) {
  auto nodes = [](const std::string& options) {
    return lines_of(script(document(options, kPlain, kTorque)), "#PBS -l nodes=");
  };
  EXPECT_EQ(
      nodes(
          R"("node_count": 1, "process_count_per_node": 40, "request_gpus": 1, "request_specific_nodes": "ssd")"),
      "#PBS -l nodes=1:ppn=40:gpus=1:ssd\n");
  EXPECT_EQ(nodes(R"("request_gpus": 2)"),
            "#PBS -l nodes=1:ppn=1:gpus=2\n");  // GPUs without a number of nodes
  EXPECT_EQ(nodes(R"("node_count": 2, "request_specific_nodes": "n1,n2")"),
            "#PBS -l nodes=n1:ppn=1+n2:ppn=1\n");
  EXPECT_EQ(nodes(R"("node_count": 1, "core_count": 40)"), "#PBS -l nodes=1:ppn=40\n");
}

TEST(Schedulers, WhatPbsCannotTakeIsRefused) {
  const std::pair<std::string, std::string> cases[] = {
      {R"("job_name": "a b")", "PBS does not accept the job name 'a b' (at /job/job_options/job_name)"},
      {R"("job_name": "größe")", "PBS does not accept the job name 'größe' (at "},
      {R"("standard_output_file": "h:o")",
       "PBS reads 'h:o' as HOST:FILE (at /job/job_options/standard_output_file)"},
      {R"("defer_job": "now+1hour")",
       "PBS does not support a start time relative to now (at /job/job_options/defer_job)"},
      {R"("request_specific_nodes": "n[1-2]")", "PBS does not support the node list 'n[1-2]' (at "},
      {R"("architecture_constraint": "a:ppn=9")", "PBS does not accept the property 'a:ppn=9' (at "},
      {R"("job_array": "0-15:4")",
       "Torque does not support the step in '0-15:4' (at /job/job_options/job_array)"},
      {R"("job_dependency": "singleton")",
       "torque has no dependency 'singleton' (at /job/job_options/job_dependency)"},
      {R"("job_dependency": "after:1?after:2")", "torque has no '?' in a dependency (at "},
      {R"("job_dependency": "after:1+5")", "torque supports no delay, as in 'after:1+5' (at "}};
  for (const auto& [options, error] : cases)
    EXPECT_TRUE(holds(refusal(document(options, kPlain, kTorque)), error))
        << refusal(document(options, kPlain, kTorque));
  for (const char* array : {"1,3", "3", "5-5"})
    EXPECT_TRUE(holds(refusal(document(fmt::format(R"("job_array": "{}")", array), kPlain, kOpenPbs)),
                      fmt::format("OpenPBS takes one range of two jobs or more, not '{}'", array)));
  EXPECT_TRUE(
      holds(script(document(R"("job_array": "0-15:3%4")", kPlain, kOpenPbs)), "#PBS -J '0-15:3%4'\n"));
}

// ck_job_name.c of both: OpenPBS allows 230 letters, digits and - _ + ., Torque 256 printable characters.
TEST(Schedulers, NamesOfPbs) {
  const std::string equals = R"("job_name": "lr=0.1")";
  EXPECT_TRUE(holds(script(document(equals, kPlain, kTorque)), "#PBS -N lr=0.1\n"));
  EXPECT_TRUE(
      holds(refusal(document(equals, kPlain, kOpenPbs)), "PBS does not accept the job name 'lr=0.1' (at "));
  const std::string name = fmt::format(R"("job_name": "{}")", std::string(231, 'a'));
  EXPECT_TRUE(holds(script(document(name, kPlain, kTorque)), "#PBS -N aaa"));
  EXPECT_TRUE(holds(refusal(document(name, kPlain, kOpenPbs)), "PBS does not accept the job name"));
}

TEST(Schedulers, DependenciesOfEach) {
  EXPECT_TRUE(
      holds(script(document(R"("job_dependency": "on:2")", kPlain, kOpenPbs)), "#PBS -W depend=on:2\n"));
  EXPECT_TRUE(holds(script(document(R"("job_dependency": "singleton")", kPlain)),
                    "#SBATCH --dependency=singleton\n"));
  EXPECT_TRUE(holds(refusal(document(R"("job_dependency": "before:1")", kPlain)),
                    "slurm has no dependency 'before' (at /job/job_options/job_dependency)"));
}

TEST(Schedulers, OneFileForBothOutputsUnlessTheyAreSeparate) {
  EXPECT_EQ(lines_of(script(document(R"("standard_output_file": "o", "standard_error_file": "e")", kPlain)),
                     "#SBATCH --"),
            "#SBATCH --job-name=job\n#SBATCH --output=o\n");
  EXPECT_TRUE(
      holds(script(document(R"("combine_stdout_stderr": false)", kPlain)), "#SBATCH --error=slurm-%j.err\n"));
}

TEST(Schedulers, CommandsOfTheDocumentStayOneArgument) {
  const std::string text = script(document(
      "", R"("executable": "./x", "pre-execution": "module load 'a'", "post-execution": "cp x y\nsync")"));
  EXPECT_TRUE(holds(text, "set +u\neval 'module load '\\''a'\\'''\nset -u\n")) << text;
  EXPECT_TRUE(holds(
      text,
      "finish() {\n  status=$?\n  set +eu\n  eval 'cp x y'$'\\n''sync'\n  exit \"${status}\"\n}\ntrap finish "
      "EXIT\n"));
}

TEST(Schedulers, ABuildIsAJobOfItsOwn) {
  const std::string application = R"("app_type": "hpc", "executable": "./xthi", "mpi_ranks": 80,
    "build": {"src": "https://example.org/Xthi.c", "build_command": "make -j {{BUILD_PARALLELISM}} 'a b'", "build_parallelism": 4})";
  const JobScripts scripts = render_job(deployed(document(
      R"("job_name": "mpi", "node_count": 2, "wall_time_limit": "1h", "standard_output_file": "d/mpi.out", "job_array": "0-3")",
      application)));
  EXPECT_EQ(lines_of(scripts.build, "#SBATCH"),
            "#SBATCH --job-name=mpi_build\n#SBATCH --time=0-01:00:00\n#SBATCH --nodes=1\n#SBATCH --ntasks=1\n"
            "#SBATCH --cpus-per-task=4\n#SBATCH --output=d/build-mpi.out\n");
  EXPECT_TRUE(holds(scripts.build,
                    "[ -e ./Xthi.c ] || curl --fail --silent --show-error --location --output ./Xthi.c -- "
                    "https://example.org/Xthi.c\n\"${container[@]}\" sh -ec 'make -j 4 '\\''a b'\\'''\n"))
      << scripts.build;
  EXPECT_FALSE(holds(scripts.build, "srun") || holds(scripts.build, "xthi"));
  EXPECT_FALSE(holds(scripts.job, "curl"));
  const std::string git =
      with_mistake(application, "https://example.org/Xthi.c", "https://example.org/a b.git");
  EXPECT_TRUE(holds(refusal(document("", git)), "ends in no name of a file"));
}

}  // namespace
}  // namespace kiln
