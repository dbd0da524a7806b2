// What of Slurm needs no Slurm: states, comments, sizes, places, verdicts, the script of a job.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

#include "factory/cluster/compute_node.h"
#include "factory/cluster/controller.h"
#include "factory/cluster/job_end.h"
#include "factory/cluster/job_files.h"
#include "factory/cluster/job_request.h"
#include "factory/cluster/queued_job.h"
#include "support/temporary_folder.h"

namespace kiln {
namespace {

using Words = std::vector<std::string>;
constexpr std::uint64_t kGibibyte = 1u << 30;

TEST(SlurmJobState, EachHasItsMeaning) {
  for (const char* alive : {"PENDING", "CONFIGURING", "RUNNING", "COMPLETING", "SUSPENDED", "STOPPED",
                            "REQUEUED", "REQUEUE_HOLD", "REQUEUE_FED", "RESV_DEL_HOLD", "SPECIAL_EXIT",
                            "SIGNALING", "STAGE_OUT", "RESIZING", "WHAT_COMES_NEXT"})
    EXPECT_EQ(fate_of(alive), JobFate::alive) << alive;
  EXPECT_EQ(fate_of("COMPLETED"), JobFate::over);
  EXPECT_EQ(fate_of("FAILED"), JobFate::over);
  EXPECT_EQ(fate_of("OUT_OF_MEMORY"), JobFate::no_memory);
  EXPECT_EQ(fate_of("TIMEOUT"), JobFate::no_time);
  for (const char* lost : {"NODE_FAIL", "BOOT_FAIL", "PREEMPTED", "REVOKED"})
    EXPECT_EQ(fate_of(lost), JobFate::lost_machine) << lost;
  EXPECT_EQ(fate_of("CANCELLED"), JobFate::ended);
  EXPECT_EQ(fate_of("DEADLINE"), JobFate::ended);
  EXPECT_TRUE(is_pending("PENDING"));
  EXPECT_FALSE(is_pending("CONFIGURING"));
  EXPECT_FALSE(is_pending("SUSPENDED"));
  EXPECT_TRUE(is_held_for_launch("PENDING", "launch failed requeued held"));
  EXPECT_FALSE(is_held_for_launch("PENDING", "JobHeldUser"));
  EXPECT_FALSE(is_held_for_launch("CANCELLED", "launch failed requeued held"));
}

TEST(SlurmQueue, KnowsItsOwnAgain) {
  const JobMark mark{"12-ab", "0123456789ab", std::string(64, 'k')};
  EXPECT_EQ(mark_of(comment_of(mark)), mark);
  EXPECT_FALSE(mark_of("(null)"));
  EXPECT_FALSE(mark_of("kiln run=1"));
  const std::vector<QueuedJob> jobs = parse_queue(
      "17|RUNNING|None|build|node[1-2]|4|1000M|" + comment_of(mark) +
      "\n18|PENDING|Resources|gpu||1|1.50G|a | of | others\n19|FAI\n20|PENDING|Priority|gpu||2|0|" +
      comment_of(mark));
  ASSERT_EQ(jobs.size(), 2u);
  EXPECT_EQ(jobs[0].id, "17");
  EXPECT_EQ(jobs[0].nodes, "node[1-2]");
  EXPECT_EQ(jobs[0].cpus, 4);
  EXPECT_EQ(jobs[0].memory, 1000u << 20);
  EXPECT_EQ(jobs[1].reason, "Priority");
  EXPECT_EQ(jobs[1].memory, 0u);
  EXPECT_NE(folder_mark("/a/.kiln"), folder_mark("/b/.kiln"));
}

PastRun run_of(PastRun::End end, double seconds, std::uint64_t memory, double processors = 0) {
  PastRun run;
  run.key = "k";
  run.kind = "run";
  run.component = "framework/thing";
  run.end = end;
  run.seconds = seconds;
  run.processor_seconds = processors * seconds;
  run.memory = {memory, 0, MemorySource::cgroup1};
  return run;
}

TEST(SlurmJobSize, IsWhatTheSiteSaysWhereNothingIsRecorded) {
  SlurmPartition partition;
  EXPECT_EQ(size_words(job_size(partition, run_of(PastRun::End::done, 1, 1), {}, {})), Words{});
  partition.usual = {8, 2 * kGibibyte, std::chrono::hours(1)};
  EXPECT_EQ(size_words(job_size(partition, run_of(PastRun::End::done, 1, 1), {}, {})),
            (Words{"--cpus-per-task=8", "--mem=2048M", "--time=60"}));
}

TEST(SlurmJobSize, FollowsWhatWasRecordedWithAMargin) {
  SlurmPartition partition;
  partition.usual = {8, 2 * kGibibyte, std::chrono::hours(1)};
  const PastRun run = run_of(PastRun::End::done, 4000, 4 * kGibibyte, 2.2);
  const JobSize size = job_size(partition, run, {run, run}, {});
  EXPECT_EQ(size.cpus, 3);
  EXPECT_EQ(size.memory, 5 * kGibibyte + (256u << 20));
  EXPECT_EQ(size.time, std::chrono::minutes(100));
  EXPECT_EQ(job_size(partition, run_of(PastRun::End::done, 5, kGibibyte),
                     {run_of(PastRun::End::done, 5, kGibibyte)}, {})
                .time,
            std::chrono::minutes(10));
  const PastRun busy = run_of(PastRun::End::done, 100, kGibibyte, 7.9);
  EXPECT_EQ(job_size(partition, busy, {busy}, {}).cpus, 8);  // what was asked for before
  partition.most.cpus = 32;
  EXPECT_EQ(job_size(partition, busy, {busy}, {}).cpus, 10);
}

TEST(SlurmJobSize, GrowsAfterTooLittleUpToTheMost) {
  SlurmPartition partition;
  const PastRun killed = run_of(PastRun::End::out_of_memory, 10, kGibibyte);
  EXPECT_EQ(job_size(partition, killed, {killed}, {}).memory, 5 * kGibibyte / 2 + (256u << 20));
  const PastRun late = run_of(PastRun::End::out_of_time, 3600, 0);
  EXPECT_EQ(job_size(partition, late, {late}, {}).time, std::chrono::hours(2));
  EXPECT_EQ(job_size(partition, late, {late}, {}).memory, 0u);  // it says nothing of that
  const JobSize least{0, 8 * kGibibyte, std::chrono::hours(3)};
  EXPECT_EQ(job_size(partition, killed, {killed, late}, least).memory, 8 * kGibibyte);
  EXPECT_EQ(job_size(partition, killed, {killed, late}, least).time, std::chrono::hours(3));
  partition.most = {0, 6 * kGibibyte, std::chrono::hours(1)};
  EXPECT_EQ(job_size(partition, killed, {killed, late}, least).memory, 6 * kGibibyte);
  EXPECT_EQ(job_size(partition, killed, {killed, late}, least).time, std::chrono::hours(1));
}

class SlurmPlaces : public ::testing::Test {
 protected:
  SlurmPlaces() : cpus(Microarchitectures::parse(read(KILN_ARCHSPEC_JSON), "archspec")) {
    site.standard.name = "build";
    for (const char* name : {"zen4", "zen3", "skylake_avx512"}) {
      site.partitions[name].name = std::string(name) + "-nodes";
      site.partitions[name].microarchitecture = name;
    }
    site.partitions["nvidia:sm_90"].name = "hopper";
    site.partitions["nvidia"].name = "gpus";
  }
  static std::string read(const std::string& file) {
    std::ifstream stream(file);
    return {std::istreambuf_iterator<char>(stream), {}};
  }
  std::string chosen(const std::string& cpu, const Words& accelerators = {}) const {
    return choose_partition(site, {cpu, accelerators}, cpus).name;
  }
  Microarchitectures cpus;
  SlurmSite site;
};

TEST_F(SlurmPlaces, AreOfTheNearestMicroarchitectureThatRunsTheTarget) {
  EXPECT_EQ(chosen(""), "build");
  EXPECT_EQ(chosen("x86_64"), "build");  // a family: anything of it does
  EXPECT_EQ(chosen("zen4"), "zen4-nodes");
  EXPECT_EQ(chosen("zen3"), "zen3-nodes");
  EXPECT_EQ(chosen("zen2"), "zen3-nodes");  // nearer than zen4
  EXPECT_EQ(chosen("zen5"), "build");       // nothing here runs it
  EXPECT_EQ(chosen("a64fx"), "build");
  EXPECT_EQ(chosen("warp9"), "build");
  site.standard.microarchitecture = "zen3";
  EXPECT_EQ(chosen("zen2"), "build");
  EXPECT_EQ(chosen("zen4"), "zen4-nodes");
}

TEST_F(SlurmPlaces, AreOfTheAcceleratorForTests) {
  EXPECT_EQ(chosen("zen4", {"nvidia:sm_80", "nvidia:sm_90"}), "hopper");
  EXPECT_EQ(chosen("zen4", {"nvidia:sm_80"}), "gpus");
  EXPECT_EQ(chosen("zen4", {"amd:gfx90a"}), "zen4-nodes");
  Step step;
  step.parameters = {{"KILN_CPU_TARGET", "zen4"}, {"KILN_GPU_TARGETS", "sm_80 gfx90a"}};
  step.kind = StepKind::run;
  EXPECT_EQ(partition_need(step).cpu, "zen4");
  EXPECT_EQ(partition_need(step).accelerators, Words{});
  step.kind = StepKind::test;
  EXPECT_EQ(partition_need(step).accelerators, (Words{"nvidia:sm_80", "amd:gfx90a"}));
}

TEST_F(SlurmPlaces, OfUnknownNamesAreRefused) {
  EXPECT_NO_THROW(check_partitions(site, cpus, "site.json"));
  site.partitions["zne4"].microarchitecture = "zne4";
  try {
    check_partitions(site, cpus, "site.json");
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_EQ(error.where().pointer, "/launcher/slurm/partitions/zne4");
    EXPECT_NE(error.hint().find("zen4"), std::string::npos);
  }
}

QueuedJob listed(const std::string& state, const std::string& reason = "None") {
  QueuedJob job;
  job.id = "17";
  job.state = state;
  job.reason = reason;
  job.nodes = "nid1";
  return job;
}

JobVerdict judged(std::optional<QueuedJob> job, std::optional<int> status = {}, bool failure = false) {
  JobTraces traces;
  traces.id = "17";
  traces.job = std::move(job);
  if (status) traces.status = JobStatus{"17", *status, "nid1"};
  if (failure) traces.failure = FailureRecord{};
  traces.last_words = "kiln: no buildah";
  return verdict_of(traces);
}

TEST(SlurmVerdict, TheStepsOwnRecordComesFirst) {
  using Next = JobVerdict::Next;
  JobTraces done;
  done.is_done = true;
  done.job = listed("OUT_OF_MEMORY");
  EXPECT_EQ(verdict_of(done).next, Next::done);
  EXPECT_EQ(judged(listed("FAILED"), 1, true).next, Next::failed);
  EXPECT_EQ(judged(listed("OUT_OF_MEMORY"), 1, true).next, Next::more_memory);
  EXPECT_EQ(judged(std::nullopt, 1, true).next, Next::failed);
}

// Slurm ended the job: what the step says of its script, which was killed with it, is nothing against that.
TEST(SlurmVerdict, WhatSlurmEndedIsNoFailureOfTheStep) {
  using Next = JobVerdict::Next;
  for (const char* lost : {"NODE_FAIL", "BOOT_FAIL", "PREEMPTED", "REVOKED"})
    EXPECT_EQ(judged(listed(lost), 1, true).next, Next::again) << lost;
  EXPECT_EQ(judged(listed("TIMEOUT", "TimeLimit"), 1, true).next, Next::more_time);
  EXPECT_EQ(judged(listed("DEADLINE", "DeadLine"), 1, true).next, Next::give_up);
  EXPECT_EQ(judged(listed("CANCELLED"), 1, true).what, "job 17 on nid1: CANCELLED");
  EXPECT_EQ(judged(listed("FAILED", "NonZeroExitCode"), 1, true).next, Next::failed);
  EXPECT_EQ(judged(listed("FAILED", "JobLaunchFailure")).next, Next::again);
  EXPECT_EQ(judged(listed("FAILED", "JobLaunchFailure"), 1).next, Next::give_up);  // it did begin
  // Held after its second start failed: what its first left is nothing.
  EXPECT_EQ(judged(listed("PENDING", "launch failed requeued held"), 130).next, Next::again);
}

TEST(SlurmVerdict, ThenTheStatusThenWhatSlurmSays) {
  using Next = JobVerdict::Next;
  EXPECT_EQ(judged(listed("OUT_OF_MEMORY"), 137).next, Next::more_memory);
  EXPECT_EQ(judged(listed("TIMEOUT"), 130).next, Next::more_time);
  EXPECT_EQ(judged(listed("NODE_FAIL")).next, Next::again);
  EXPECT_EQ(judged(listed("PREEMPTED"), 130).next, Next::again);
  EXPECT_EQ(judged(listed("CANCELLED"), 130).next, Next::give_up);
  EXPECT_EQ(judged(listed("CANCELLED"), 130).what, "job 17 on nid1: CANCELLED");
  EXPECT_EQ(judged(listed("DEADLINE", "DeadLine")).what, "job 17 on nid1: DEADLINE (DeadLine)");
  EXPECT_EQ(judged(std::nullopt).next, Next::again);
  EXPECT_EQ(judged(std::nullopt, 130).next, Next::again);
  EXPECT_EQ(judged(listed("FAILED"), 124).next, Next::too_late);
  const JobVerdict missing = judged(listed("FAILED"), 5);
  EXPECT_EQ(missing.what, "job 17 on nid1: exit status 5: kiln: no buildah");
  EXPECT_EQ(missing.code, ExitCode::tool_missing);
  EXPECT_EQ(judged(listed("FAILED"), 137).what, "job 17 on nid1: killed by signal 9: kiln: no buildah");
  EXPECT_EQ(judged(listed("FAILED")).next, Next::give_up);  // its script could not even begin
  EXPECT_EQ(judged(listed("COMPLETED"), 0).code, ExitCode::store);
}

TEST(SlurmController, TakesAJobsNumberAndNothingElse) {
  EXPECT_EQ(job_number("17\n", false), "17");
  EXPECT_EQ(job_number("17;site\n", false), "17");
  for (const char* more : {"", "Welcome\n17\n", "17\nYour balance: 3.5 SU\n", "Submitted batch job 17",
                           "17 18", "17;", "17;a b", "-17", "x17"})
    EXPECT_EQ(job_number(more, false), std::nullopt) << more;
  EXPECT_EQ(job_number("------\n  Welcome to login4\n\n17\n", true), "17");
  EXPECT_EQ(job_number("17;site\r\nYour balance: 3.5 SU\n", true), "17");
  EXPECT_EQ(job_number("2026\n17\n", true), std::nullopt) << "which of them?";
  EXPECT_EQ(job_number("Welcome\n", true), std::nullopt);
}

TEST(SlurmController, KnowsWhatMayPass) {
  for (const char* passing :
       {"sbatch: error: Batch job submission failed: Unable to contact slurm controller (connect failure)",
        "slurm_load_jobs error: Socket timed out on send/recv operation",
        "sbatch: error: AssocMaxSubmitJobLimit\nsbatch: error: Batch job submission failed: Job violates "
        "accounting/QOS policy (job submit limit, user's size and/or time limits)"})
    EXPECT_TRUE(may_pass(passing)) << passing;
  for (const char* staying :
       {"sbatch: error: invalid partition specified: zne4",
        "sbatch: error: Batch job submission failed: Requested node configuration is not "
        "available"})
    EXPECT_FALSE(may_pass(staying)) << staying;
}

// With sh itself.
TEST(SlurmJobScript, SaysHowItsStepEndedAlsoWhenItIsToldToEnd) {
  const testing::TemporaryFolder folder;
  RealFileSystem files;
  const JobFiles job(folder.path() / "it's $HOME 100%", files);
  const auto run = [&](const std::string& step) {
    files.write(job.script(),
                script_text({{"sh", "-c", step}, "a title\nexit 9", folder.path().string()}, job));
    const std::string command = "SLURM_JOB_ID=17 sh " + ("'" + (folder.path() / "link").string() + "'");
    fs::remove(folder.path() / "link");
    fs::create_symlink(job.script(), folder.path() / "link");
    const int status = std::system(command.c_str());
    EXPECT_EQ(job.status() ? job.status()->id : "", "17") << step;
    EXPECT_EQ(WEXITSTATUS(status), job.status() ? job.status()->status : -1);
    return job.status() ? job.status()->status : -1;
  };
  EXPECT_EQ(run("exit 5"), 5);
  EXPECT_EQ(run("true"), 0);
  EXPECT_EQ(run("kill -9 $$"), 137);
  // The shell is told to end, tells its step, and waits for it.
  EXPECT_EQ(run("trap 'sleep 0.2; exit 130' TERM; kill -TERM $PPID; while :; do sleep 0.05; done"), 130);
  EXPECT_EQ(run("pwd >where"), 0);
  EXPECT_TRUE(fs::exists(folder.path() / "where"));
}

TEST(SlurmJobOutput, HandsOnEventsAsTheyComeAndWordsAreForPeople) {
  const testing::TemporaryFolder folder;
  RealFileSystem files;
  const JobFiles job(folder.path(), files);
  Words heard;
  JobOutput output(job.output(), [&](const StepEvent& event) { heard.push_back(event.title); });
  output.read();
  const auto add = [&](const std::string& text) { std::ofstream(job.output(), std::ios::app) << text; };
  add(R"({"event":"step","key":"k","title":"one","state":"started"})"
      "\nwords\n"
      R"({"event":"step","key")");
  output.read();
  EXPECT_EQ(heard, Words{"one"});
  add(R"(:"k","title":"two","state":"done","seconds":1})"
      "\nslurmstepd: error: x\n\n");
  output.read();
  EXPECT_EQ(heard, (Words{"one", "two"}));
  EXPECT_EQ(job.last_words(), "slurmstepd: error: x");
  std::ofstream(job.output()) << R"({"event":"step","key":"k","title":"again","state":"started"})"
                                 "\n";
  output.read();
  EXPECT_EQ(heard.back(), "again");
}

TEST(SlurmMachine, OfLscpuTheMainLines) {
  EXPECT_EQ(main_lines_of_lscpu("Architecture:        x86_64\n  CPU op-mode(s):    32-bit\nCPU(s):  8\n"
                                "Flags:  sse\nVulnerability X:  none\n  Socket(s):         1\n"),
            "Architecture:        x86_64\nCPU(s):  8\nSocket(s):         1\n");
}

TEST(SlurmEnvironment, HasNothingOfAnotherJob) {
  using Environment = std::map<std::string, std::string>;
  EXPECT_EQ(slurm_environment({{"PATH", "/bin"},
                               {"SLURM_CONF", "/etc/slurm.conf"},
                               {"SLURM_MEM_PER_NODE", "100"},
                               {"SLURMD_NODENAME", "n"},
                               {"SQUEUE_FORMAT", "%i"},
                               {"SBATCH_ACCOUNT", "ai"}}),
            (Environment{{"PATH", "/bin"}, {"SLURM_CONF", "/etc/slurm.conf"}, {"SBATCH_ACCOUNT", "ai"}}));
}

}  // namespace
}  // namespace kiln
