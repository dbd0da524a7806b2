// The wait for a job, by what squeue(1) of Slurm 22.05 printed of real jobs, a second after a second.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "factory/cluster/job_end.h"
#include "factory/cluster/queued_job.h"
#include "support/fake_effects.h"
#include "support/temporary_folder.h"

namespace kiln {
namespace {

using Words = std::vector<std::string>;

// A controller that shows the job 17 as one of `views`, the last one from then on; "": it does not know it.
class SlurmWaits : public ::testing::Test {
 protected:
  SlurmWaits() {
    fs::create_directories(state_.jobs() / "k");
    runner_.respond = [this](const Command& command) { return answer(command); };
  }

  CommandResult answer(const Command& command) {
    CommandResult result;
    if (command.argv.front() == "scancel") {
      cancelled_ = true;
      clock_.now += 2;  // nobody else moves it meanwhile
      return result;
    }
    const std::size_t now = std::min(asked_++, views_.size() - 1);
    std::string view = views_.at(now);
    if (view == kAway) {
      if (away_ == 0) away_ = clock_.now;
      result.status = 1;
      result.tail = "slurm_load_jobs error: Unable to contact slurm controller (connect failure)";
      return result;
    }
    if (cancelled_) view = "CANCELLED|None|build|";
    if (!view.empty()) result.output = fmt::format("17|{}|1|100M|{}\n", view, comment_of({"run", "s", "k"}));
    return result;
  }

  // How many seconds it waited, at most a quarter of an hour.
  std::int64_t wait(std::int64_t no_start_after = 0) {
    const SlurmPrograms programs{runner_, clock_, {}};
    SlurmSite site;
    site.poll = std::chrono::seconds(1);
    site.patience = std::chrono::seconds(kPatience);
    QueueWatch queue(state_, files_, programs, site);
    SlurmController controller(
        programs, site, queue, [](const std::string&) {}, [](auto) {});
    const std::int64_t begun = clock_.now++;
    const JobWaitSetup setup{"17",
                             begun,
                             no_start_after,
                             clock_,
                             [] { return false; },
                             [&](auto) {
                               if (++clock_.now - begun > 900) throw Error(ExitCode::timeout, "it hangs");
                             },
                             [this](const std::string& what) { told_.push_back(what); },
                             [this](const std::string& what) { told_.push_back(what); }};
    JobOutput output(job_.output(), [](const StepEvent&) {});
    JobWait wait(setup, job_, queue, controller);
    wait.run(output);
    traces_.id = "17";
    traces_.job = wait.job();
    traces_.status = job_.status();
    traces_.last_words = job_.last_words();
    was_too_late_ = wait.was_too_late();
    return clock_.now - begun;
  }

  testing::TemporaryFolder folder_;
  RealFileSystem files_;
  testing::FakeClock clock_;
  testing::FakeCommandRunner runner_;
  StatePaths state_{folder_.path()};
  JobFiles job_{state_.jobs() / "k", files_};
  Words views_, told_;
  static constexpr const char* kAway = "away";  // the controller
  static constexpr int kPatience = 400;         // seconds
  std::int64_t away_ = 0;                       // since when
  std::size_t asked_ = 0;
  bool cancelled_ = false, was_too_late_ = false;
  JobTraces traces_;
};

TEST_F(SlurmWaits, ASuspendedJobIsWaitedFor) {
  files_.write(job_.output(), "");
  views_ = {"RUNNING|None|build|n1", "SUSPENDED|None|build|n1", "SUSPENDED|None|build|n1",
            "RUNNING|None|build|n1", "NODE_FAIL|NodeDown|build|n1"};
  wait();
  EXPECT_EQ(told_, (Words{"job 17 on n1", "job 17 SUSPENDED", "job 17 on n1"}));
  EXPECT_EQ(verdict_of(traces_).next, JobVerdict::Next::again);
  EXPECT_EQ(verdict_of(traces_).what, "job 17 on n1: NODE_FAIL (NodeDown)");
}

// What it left before does not count, whatever it says.
TEST_F(SlurmWaits, ARequeuedJobIsWaitedFor) {
  files_.write(job_.output(), "");
  files_.write(job_.status_file(), "17 130 n1\n");
  views_ = {"RUNNING|None|spot|n1",
            "COMPLETING|None|spot|n1",
            "PENDING|BeginTime|spot|",
            "PENDING|Resources|spot|",
            "PENDING|job requeued in held state|spot|",
            "RUNNING|None|spot|n2",
            "PREEMPTED|None|spot|n2"};
  wait();
  EXPECT_EQ(told_, (Words{"job 17 on n1", "job 17 COMPLETING", "job 17 PENDING in spot: BeginTime",
                          "job 17 PENDING in spot: Resources",
                          "job 17 PENDING in spot: job requeued in held state", "job 17 on n2"}));
  EXPECT_EQ(verdict_of(traces_).next, JobVerdict::Next::again);
  EXPECT_EQ(verdict_of(traces_).what, "job 17 on n2: PREEMPTED");
}

// Its status is of before: nobody takes that for its end because the controller is away.
TEST_F(SlurmWaits, ARequeuedJobIsNotOverWhileNobodyAnswers) {
  files_.write(job_.output(), "");
  files_.write(job_.status_file(), "17 130 n1\n");
  views_ = {"RUNNING|None|spot|n1", "PENDING|BeginTime|spot|", "PENDING|BeginTime|spot|", kAway};
  EXPECT_THROW(wait(), Error);
  EXPECT_GE(clock_.now - away_, kPatience);
}

TEST_F(SlurmWaits, AJobThatWroteItsStatusIsOverThoughNobodyAnswers) {
  files_.write(job_.output(), "");
  files_.write(job_.status_file(), "17 130 n1\n");
  views_ = {"RUNNING|None|spot|n1", kAway};
  EXPECT_LT(wait(), 100);
}

// Its prolog failed: nobody lets it go at night.
TEST_F(SlurmWaits, WhatIsHeldForItsLaunchIsCancelledAndTriedAgain) {
  views_ = {"PENDING|None|build|", "PENDING|launch failed requeued held|build|"};
  EXPECT_LT(wait(), 60);
  EXPECT_TRUE(cancelled_);
  EXPECT_FALSE(was_too_late_);
  const JobVerdict verdict = verdict_of(traces_);
  EXPECT_EQ(verdict.next, JobVerdict::Next::again);
  EXPECT_EQ(verdict.what, "job 17: PENDING (launch failed requeued held): the machine did not start it");
}

// Slurm would keep it until an administrator raises the limit.
TEST_F(SlurmWaits, WhatAsksForTooMuchTimeIsCancelledAndNotTriedAgain) {
  for (const std::string reason :
       {"PartitionTimeLimit", "QOSMaxWallDurationPerJobLimit", "AssocMaxWallDurationPerJobLimit"}) {
    cancelled_ = false;
    asked_ = 0;
    views_ = {"PENDING|None|build|", "PENDING|" + reason + "|build|"};
    EXPECT_LT(wait(), 60);
    EXPECT_TRUE(cancelled_);
    const JobVerdict verdict = verdict_of(traces_);
    EXPECT_EQ(verdict.next, JobVerdict::Next::give_up);
    EXPECT_EQ(verdict.what,
              "job 17: PENDING (" + reason + "): it asks for more time than a job may have there");
  }
}

// A job that may not be requeued is CANCELLED then, as by an administrator; but slurmd says why in its
// output.
TEST_F(SlurmWaits, WhatWasCancelledBecauseItsPrologFailedIsTriedAgain) {
  files_.write(job_.output(), "Error running slurm prolog: 1\n");
  views_ = {"CANCELLED|None|build|n1"};
  EXPECT_LT(wait(), 60);
  EXPECT_EQ(verdict_of(traces_).next, JobVerdict::Next::again);
  EXPECT_EQ(verdict_of(traces_).what, "job 17 on n1: CANCELLED: the machine did not start it");
}

TEST_F(SlurmWaits, WhyItWasNotStartedMayBeSeenLater) {
  views_ = {"CANCELLED|None|build|n1"};
  EXPECT_GE(wait(), 60);  // by NFS
  EXPECT_EQ(verdict_of(traces_).next, JobVerdict::Next::give_up);
}

TEST_F(SlurmWaits, WhatSomebodyCancelsIsCancelled) {
  views_ = {"PENDING|Resources|build|", "CANCELLED|None|build|"};  // no machine had it
  EXPECT_LT(wait(), 60);
  EXPECT_EQ(verdict_of(traces_).next, JobVerdict::Next::give_up);
  EXPECT_EQ(verdict_of(traces_).what, "job 17: CANCELLED");
  files_.write(job_.output(), "slurmstepd: error: *** JOB 17 ON n1 CANCELLED AT 2026-11-25T18:49:58 ***\n");
  views_ = {"CANCELLED|None|build|n1"};
  asked_ = 0;
  EXPECT_LT(wait(), 60);
  EXPECT_EQ(verdict_of(traces_).next, JobVerdict::Next::give_up);
  EXPECT_EQ(verdict_of(traces_).what, "job 17 on n1: CANCELLED");
}

TEST_F(SlurmWaits, WhatAMachineCouldNotLaunchIsTriedAgain) {
  views_ = {"FAILED|JobLaunchFailure|build|n1"};
  wait();
  EXPECT_EQ(verdict_of(traces_).next, JobVerdict::Next::again);
  EXPECT_EQ(verdict_of(traces_).what,
            "job 17 on n1: FAILED (JobLaunchFailure): the machine did not start it");
}

// What was submitted a moment ago is in no answer of that second which was there before.
TEST_F(SlurmWaits, AnAnswerOfTheSameSecondIsNotEnoughForWhoLooksForALostJob) {
  const SlurmPrograms programs{runner_, clock_, {}};
  const SlurmSite site;
  QueueWatch queue(state_, files_, programs, site);
  SlurmController controller(
      programs, site, queue, [](const std::string&) {}, [this](auto) { ++clock_.now; });
  views_ = {"", "RUNNING|None|build|n1"};
  EXPECT_EQ(controller.ask().jobs.size(), 0u);
  EXPECT_EQ(controller.ask().jobs.size(), 0u);
  EXPECT_EQ(controller.ask(true).jobs.size(), 1u);
}

// sbatch of a site that greets on stdout, or has something to add.
TEST_F(SlurmWaits, AJobIsFoundByItsMarkWhereSbatchSaysMoreThanItsNumber) {
  const SlurmPrograms programs{runner_, clock_, {}};
  const SlurmSite site;
  QueueWatch queue(state_, files_, programs, site);
  SlurmController controller(
      programs, site, queue, [](const std::string&) {}, [this](auto) { ++clock_.now; });
  std::string said;
  runner_.respond = [&](const Command& command) {
    CommandResult result = command.argv.front() == "sbatch" ? CommandResult{} : answer(command);
    if (command.argv.front() == "sbatch") result.output = said;
    return result;
  };
  const auto submit = [&](const std::string& words, const Words& views, const std::set<std::string>& known) {
    said = words;
    views_ = views;
    asked_ = 0;
    clock_.now += 100;
    return controller.submit({"job.sh"}, {"run", "s", "k"}, known);
  };
  const Words there = {"PENDING|None|build|"};
  EXPECT_EQ(submit("17\n", {""}, {}), "17") << "nobody is asked";
  EXPECT_EQ(submit("-----\n  Welcome to 2026\n\n17\n", there, {}), "17");
  EXPECT_EQ(submit("2026\n17\n", there, {}), "17");
  EXPECT_EQ(submit("Submitted batch job 17\n", there, {}), "17");
  EXPECT_EQ(submit("Welcome\n18\n", there, {"17"}), "18") << "17 is of an earlier try";
  EXPECT_EQ(submit("Welcome\n18\n", {""}, {}), "18") << "it is over, and forgotten";
  EXPECT_THROW(submit("Welcome\n", {""}, {}), Error);
}

// The site must mend that; a program that asks and fails is trouble of the machine.
TEST_F(SlurmWaits, AJobThatSbatchRefusesIsNotTriedAgain) {
  const SlurmPrograms programs{runner_, clock_, {}};
  const SlurmSite site;
  QueueWatch queue(state_, files_, programs, site);
  SlurmController controller(
      programs, site, queue, [](const std::string&) {}, [](auto) { FAIL() << "it waits"; });
  runner_.respond = [](const Command& command) {
    CommandResult result;
    result.status = 1;
    result.tail = command.argv.front() == "sbatch"
                      ? "sbatch: error: Batch job submission failed: Invalid partition name specified"
                      : "scontrol: error: cannot read slurm.conf";
    return result;
  };
  try {
    controller.submit({"job.sh"}, {"run", "s", "k"}, {});
    FAIL();
  } catch (const SlurmRefusal& refusal) {
    EXPECT_NE(refusal.message().find("Invalid partition name specified"), std::string::npos);
  }
  try {
    controller.cluster();
    FAIL();
  } catch (const SlurmRefusal&) {
    FAIL() << "no job was refused";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::images_failed);
  }
}

TEST_F(SlurmWaits, WhatIsHeldByAnybodyElseEndsWithTheTimeToStart) {
  views_ = {"PENDING|JobHeldAdmin|build|"};
  EXPECT_LT(wait(clock_.now + 100), 130);
  EXPECT_TRUE(was_too_late_);
  EXPECT_EQ(told_, Words{"job 17 PENDING in build: JobHeldAdmin"});
}

}  // namespace
}  // namespace kiln
