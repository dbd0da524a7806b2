#include "factory/app/building.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "support/plan_fixture.h"
#include "support/temporary_folder.h"

namespace kiln::testing {
namespace {

using Environment = std::map<std::string, std::string>;

std::string refusal(const std::string& jobs) {
  try {
    jobs_of(0, {}, {{"KILN_JOBS", jobs}}, 8);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::usage);
    return error.message();
  }
  return "";
}

TEST(JobsOf, AreAskedForOrNamedOrHalfTheProcessors) {
  Site site;
  EXPECT_EQ(jobs_of(0, site, {}, 8), 5);
  EXPECT_EQ(jobs_of(0, site, {}, 1), 1);
  EXPECT_EQ(jobs_of(0, site, {}, 0), 1) << "of a machine that does not say";
  site.launcher.slurm.emplace();
  EXPECT_EQ(jobs_of(0, site, {}, 8), 32);
  site.jobs = 1;
  EXPECT_EQ(jobs_of(0, site, {}, 8), 1);
  site.jobs = 7;
  EXPECT_EQ(jobs_of(0, site, {}, 8), 7);
  EXPECT_EQ(jobs_of(0, site, {{"KILN_JOBS", ""}}, 8), 7);
  EXPECT_EQ(jobs_of(0, site, {{"KILN_JOBS", "3"}}, 8), 3);
  EXPECT_EQ(jobs_of(9, site, {{"KILN_JOBS", "wrong"}}, 8), 9);
}

TEST(JobsOf, AWrongVariableAreRefused) {
  for (const char* wrong : {"0", "-1", "1025", "many", "3 ", "1.5"})
    EXPECT_EQ(refusal(wrong), fmt::format("KILN_JOBS: expected a number from 1 to 1024, found '{}'", wrong));
  EXPECT_EQ(refusal("1024"), "");
}

TEST(RoomWarning, IsGivenWhereTheBuildNeedsMoreThanIsFree) {
  DiskNeed need;
  need.bytes = 5'000'000'000;
  need.least = 1'000'000'000;
  need.known = 3;
  EXPECT_EQ(room_warning(need, 5'000'000'000, "/state"), "");
  const std::string warning = room_warning(need, 4'999'999'999, "/state");
  EXPECT_TRUE(warning.starts_with("warning: the disk of /state has ")) << warning;
  EXPECT_EQ(warning.find("new kind"), std::string::npos);
  need.unknown = 1;
  EXPECT_NE(room_warning(need, 1'000'000'000, "/state").find("(1 of 4 are of a new kind, and not counted)"),
            std::string::npos);
  EXPECT_THROW(room_warning(need, 999'999'999, "/state"), Error);
}

class OneCell : public ::testing::Test {
 protected:
  OneCell() : names_(state_, files_), view_(plan_, site_, state_, files_, names_) {}
  static BuildPlan plan() {
    static const Resolver resolver;
    return plan_matrix(
        matrix({axis("framework", {"pytorch"}), axis("version", {"2.6.0"}), axis("base", {"debian"}),
                axis("method", {"distro", "pip"}), axis("target", {"x86_64_v3"})}),
        resolver.input());
  }
  TemporaryFolder root_;
  RealFileSystem files_;
  StatePaths state_{root_.path()};
  Site site_;
  BuildPlan plan_ = plan();
  StateNames names_;
  StateView view_;
};

TEST_F(OneCell, OfWhatIsNotBuiltHasSomethingToDo) {
  EXPECT_FALSE(nothing_to_do(plan_, {0, 1}, view_));
  const auto report = nothing_to_do(plan_, {}, view_);
  ASSERT_TRUE(report);
  EXPECT_TRUE(report->images.empty());
}

TEST_F(OneCell, NeedsRoomForEachStepOnce) {
  KnownSizes sizes;
  for (std::uint32_t image : {0u, 1u})
    for (StepTable::Number step : plan_.image(image).steps())
      sizes.steps[plan_.steps().pattern(step).title] = {100};
  const DiskNeed both = need_of(plan_, {0, 1}, view_, false, sizes);
  const DiskNeed first = need_of(plan_, {0}, view_, false, sizes);
  const DiskNeed second = need_of(plan_, {1}, view_, false, sizes);
  EXPECT_GT(first.bytes, 0u);
  EXPECT_LT(both.bytes, first.bytes + second.bytes) << "they share their base";
  EXPECT_EQ(need_of(plan_, {}, view_, false, sizes).bytes, 0u);
  EXPECT_GT(need_of(plan_, {0}, view_, true, {}).unknown, need_of(plan_, {0}, view_, false, {}).unknown)
      << "a SIF counts as well";
}

BuildReport report_of(Outcome outcome, const std::string& reason = "", const std::string& log = "") {
  BuildReport report;
  ImageOutcome image;
  image.name = "hello:2.10";
  image.outcome = outcome;
  image.reason = reason;
  image.log = log;
  report.images = {image};
  return report;
}

TEST(WhyUnbuilt, IsNothingForAnImageThatIsThere) {
  EXPECT_FALSE(why_unbuilt(report_of(Outcome::built)));
  EXPECT_FALSE(why_unbuilt(report_of(Outcome::up_to_date)));
}

TEST(WhyUnbuilt, NamesTheReasonAndTheLog) {
  const auto error = why_unbuilt(report_of(Outcome::failed, "exit status 1", "logs/x"));
  ASSERT_TRUE(error);
  EXPECT_EQ(error->code(), ExitCode::images_failed);
  EXPECT_EQ(error->message(), "hello:2.10 is not built: exit status 1");
  EXPECT_EQ(error->hint(), "log logs/x; nothing is published");
  EXPECT_EQ(why_unbuilt(report_of(Outcome::not_reached))->message(), "hello:2.10 is not built: not reached");
  EXPECT_EQ(why_unbuilt(report_of(Outcome::not_reached))->hint(), "nothing is published");
}

TEST(WhyUnbuilt, IsWhatStoppedTheBuild) {
  BuildReport report = report_of(Outcome::not_reached);
  report.stopped = "ninja was killed by signal 9";
  EXPECT_EQ(why_unbuilt(report)->message(), "ninja was killed by signal 9");
  report.interrupted = true;
  EXPECT_EQ(why_unbuilt(report)->code(), ExitCode::interrupted);
}

}  // namespace
}  // namespace kiln::testing
