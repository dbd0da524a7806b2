#include "factory/app/doctor.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "support/fake_effects.h"
#include "support/plan_fixture.h"
#include "support/temporary_folder.h"

namespace kiln::testing {
namespace {

constexpr const char* kPlainMounts = "25 0 8:1 / / rw,relatime - ext4 /dev/sda1 rw\n";

class Doctor : public ::testing::Test {
 protected:
  Doctor() {
    site_.engine = "buildah";
    runner_.respond = [this](const Command& command) { return answer(command); };
  }
  CommandResult answer(const Command& command) const {
    CommandResult result;
    const auto said = words_.find(command.argv.front());
    result.output = said == words_.end() ? command.argv.front() + " version 9.9.9\n" : said->second;
    if (failing_.contains(command.argv.front())) result.status = 1;
    return result;
  }
  DoctorReport examined(unsigned user = 0, const std::string& held = "") {
    return examine({site_, files_, runner_, archspec(), "0.2.7", {{"USER", "ada"}}, {}, user}, held);
  }
  static DoctorRow row(const DoctorReport& report, const std::string& what) {
    const auto found = std::find_if(report.rows.begin(), report.rows.end(),
                                    [&](const auto& one) { return one.what == what; });
    if (found != report.rows.end()) return *found;
    ADD_FAILURE() << "no row " << what;
    return {};
  }

  Site site_;
  FakeFileSystem files_{{{"/proc/self/mountinfo", kPlainMounts}}};
  FakeCommandRunner runner_;
  std::map<std::string, std::string> words_;  // what programs say
  std::set<std::string> failing_;
};

TEST_F(Doctor, FindsNothingMissingWhereAllIsThere) {
  const DoctorReport report = examined();
  EXPECT_FALSE(report.missing);
  EXPECT_EQ(row(report, "ninja").found, "9.9.9");
  EXPECT_EQ(row(report, "ninja").rating, "ok");
  EXPECT_EQ(row(report, "user").found, "root");
  EXPECT_EQ(row(report, "archspec tables").found, "0.2.7");
  EXPECT_EQ(row(report, "site file").rating, "defaults");
}

TEST_F(Doctor, MissesWhatBuildsNeedAndNoMore) {
  runner_.missing = {"skopeo", "mmdebstrap"};
  EXPECT_FALSE(examined().missing);
  EXPECT_EQ(row(examined(), "skopeo").rating, "optional");
  runner_.missing = {"ip"};
  EXPECT_TRUE(examined().missing);
  runner_.missing = {"ninja"};
  EXPECT_TRUE(examined().missing);
  EXPECT_EQ(row(examined(), "ninja").found, "-");
  EXPECT_EQ(row(examined(), "ninja").rating, "MISSING");
}

TEST_F(Doctor, AsksEachProgramForItsVersionAndWaitsTenSeconds) {
  site_.launcher.slurm.emplace();
  site_.launcher.slurm->standard.name = "cpu";
  examined();
  std::set<std::string> asked;
  for (const Command& command : runner_.commands) {
    asked.insert(fmt::format("{}", fmt::join(command.argv, " ")));
    EXPECT_EQ(command.limits.wall, std::chrono::seconds(10)) << command.argv.front();
  }
  for (const char* command : {"ninja --version", "ip -V", "skopeo --version", "buildah --version",
                              "scontrol --oneliner show partition"})
    EXPECT_TRUE(asked.contains(command)) << command;
}

TEST_F(Doctor, NamesTheEmulatorsOfOtherProcessors) {
  EXPECT_EQ(row(examined(), "other processors").rating, "optional");
  for (const char* name : {"qemu-riscv64", "qemu-s390x"})
    files_.files[std::string("/proc/sys/fs/binfmt_misc/") + name] =
        fmt::format("enabled\ninterpreter /usr/bin/{}\nflags: F\n", name);
  EXPECT_EQ(row(examined(), "other processors").found, "qemu-riscv64, qemu-s390x");
  EXPECT_EQ(row(examined(), "other processors").rating, "ok");
}

TEST_F(Doctor, SaysHowMuchMemoryAStepMayHave) {
  EXPECT_TRUE(row(examined(), "memory of steps").purpose.starts_with("no limit of the site; "));
  site_.step_limits.memory = std::uint64_t{4} << 30;
  EXPECT_TRUE(row(examined(), "memory of steps").purpose.starts_with("at most 4.0 GiB each; "))
      << row(examined(), "memory of steps").purpose;
}

TEST_F(Doctor, RefusesAnOldProgram) {
  words_["ninja"] = "1.9.0\n";
  EXPECT_EQ(row(examined(), "ninja").rating, "MISSING");
  words_["ninja"] = "1.10\n";
  EXPECT_EQ(row(examined(), "ninja").rating, "ok") << "1.10 is newer than 1.9";
  words_["ninja"] = "no number\n";
  EXPECT_EQ(row(examined(), "ninja").rating, "MISSING");
}

TEST_F(Doctor, NeedsTheEngineOfTheSite) {
  words_["podman"] = "podman version 0.1\n";
  EXPECT_FALSE(examined().missing) << "another engine is not needed";
  EXPECT_EQ(row(examined(), "podman").rating, "optional");
  site_.engine = "podman";
  EXPECT_TRUE(examined().missing);
  EXPECT_EQ(row(examined(), "podman").rating, "MISSING");
}

TEST_F(Doctor, AsksDockersDaemonWhereTheSiteHasIt) {
  site_.engine = "docker";
  words_["docker"] = "20.10.24 overlay2\n";
  EXPECT_EQ(row(examined(), "docker's daemon").rating, "ok");
  words_["docker"] = "20.10.24 btrfs\n";
  EXPECT_TRUE(examined().missing);
  failing_ = {"docker"};
  EXPECT_NE(row(examined(), "docker's daemon").purpose.find("start dockerd"), std::string::npos);
}

TEST_F(Doctor, TellsAUserWhatAnAdministratorAdds) {
  files_.files["/etc/subuid"] = "bob:100000:65536\n";
  files_.files["/etc/subgid"] = "bob:100000:65536\n";
  const DoctorReport without = examined(1000);
  EXPECT_TRUE(without.missing);
  EXPECT_NE(row(without, "user").purpose.find("165536:65536 >> /etc/subuid"), std::string::npos)
      << row(without, "user").purpose;
  files_.files["/etc/subuid"] += "1000:165536:65536\n";
  files_.files["/etc/subgid"] += "1000:165536:65536\n";
  EXPECT_FALSE(examined(1000).missing);
}

TEST_F(Doctor, AUserOfApptainerNeedsNamespaces) {
  files_.files["/etc/subuid"] = files_.files["/etc/subgid"] = "1000:100000:65536\n";
  failing_ = {"unshare", "buildah"};
  EXPECT_FALSE(examined(1000).missing) << "buildah knows more ways";
  site_.engine = "apptainer";
  EXPECT_TRUE(examined(1000).missing);
  EXPECT_EQ(row(examined(1000), "PID namespace").rating, "MISSING");
}

TEST_F(Doctor, ABareChrootHoldsNoContainer) {
  files_.files["/proc/self/mountinfo"] = "26 25 0:5 / /proc rw - proc proc rw\n";
  const DoctorReport report = examined();
  EXPECT_TRUE(report.missing);
  EXPECT_EQ(row(report, "root folder").found, "bare chroot");
}

TEST_F(Doctor, AsksSlurmForWhatTheSiteFileNames) {
  site_.launcher.slurm.emplace();
  site_.launcher.slurm->standard.name = "cpu";
  words_["scontrol"] = "PartitionName=gpu AllowGroups=ALL\nPartitionName=cpu AllowGroups=ALL\n";
  EXPECT_FALSE(examined().missing);
  EXPECT_EQ(row(examined(), "slurm partition").rating, "ok");
  EXPECT_EQ(row(examined(), "slurm partition").purpose, "jobs ask for it");
  words_["scontrol"] = "PartitionName=gpu AllowGroups=ALL\n";
  const DoctorReport report = examined();
  EXPECT_TRUE(report.missing);
  EXPECT_NE(row(report, "slurm partition").purpose.find("Slurm has gpu"), std::string::npos);
  failing_ = {"scontrol"};
  EXPECT_EQ(row(examined(), "slurm partition").rating, "unknown");
  EXPECT_EQ(row(examined(), "slurm partition").purpose, "Slurm does not say which there are");
  EXPECT_FALSE(examined().missing) << "a controller that does not answer is no missing partition";
  runner_.missing = {"sbatch"};
  EXPECT_TRUE(examined().missing);
}

TEST_F(Doctor, NamesALauncherThatIsNotInstalled) {
  site_.launcher.words = {"srun", "-n1"};
  EXPECT_EQ(row(examined(), "launcher").rating, "ok");
  runner_.missing = {"srun"};
  EXPECT_TRUE(examined().missing);
}

TEST_F(Doctor, SeesWhetherLocksReachThisMachine) {
  const TemporaryFolder folder;
  const DoctorReport none = examined(0, (folder.path() / "none.lock").string());
  EXPECT_TRUE(none.missing);
  EXPECT_NE(row(none, "locks").purpose.find("another one here"), std::string::npos);
  RealFileSystem().write(folder.path() / "left.lock", "");
  EXPECT_EQ(row(examined(0, (folder.path() / "left.lock").string()), "locks").found, "of each machine");
}

TEST(VersionIn, IsTheFirstNumberWithAPoint) {
  EXPECT_EQ(version_in("ip utility, iproute2-6.1.0, libbpf 1.1.0"), "6.1.0");
  EXPECT_EQ(version_in("ip utility, iproute2-ss200127"), "2");
  EXPECT_EQ(version_in("git version 2.39.5"), "2.39.5");
  EXPECT_EQ(version_in("none"), "?");
  EXPECT_EQ(version_in(""), "?");
}

}  // namespace
}  // namespace kiln::testing
