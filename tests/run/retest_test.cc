// A test that is new or stricter runs on images that are built, and what it says of their bits reaches the
// index.
#include <gtest/gtest.h>

#include <utility>

#include "factory/run/cell_state.h"
#include "registry/index/index.h"
#include "support/small_state.h"

namespace kiln {
namespace {

using testing::SmallState;
using Strings = std::vector<std::string>;

class Retest : public ::testing::Test {
 protected:
  Retest() {
    EXPECT_EQ(small.build().exit_code(), ExitCode::ok);
    small.publish();
    keys = image_keys();
  }
  Strings image_keys() const {
    Strings all;
    for (std::size_t number = 0; number < small.plan.size(); ++number)
      all.push_back(small.plan.image(number).key());
    return all;
  }
  ExplainedState standing(std::size_t image) const {
    StateNames names(small.state, small.files);
    return StateView(small.plan, small.site, small.state, small.files, names)
        .explain(small.plan.image(image));
  }
  // "1", "2 failing", of the current snapshot
  Strings published() const {
    Strings all;
    for (const IndexEntry& entry : Index::open(small.state.root(), Index::Mode::read).entries())
      all.push_back(entry.image.version.text() + (entry.stale ? " stale" : "") +
                    (entry.failing ? " failing" : ""));
    return all;
  }
  fs::file_time_type packaged_at() const {
    return fs::last_write_time(small.state.built(small.plan.image(0).record_name()));
  }

  SmallState small;
  Strings keys;
};

TEST_F(Retest, AnImageIsBuiltWhenItPassedTheTestsOfToday) {
  StateNames before(small.state, small.files);
  EXPECT_TRUE(before.is_built(small.plan.image(0), small.plan.steps()));
  EXPECT_TRUE(before.is_built(small.plan.image(0).spec()));
  small.change_test("try harder");
  StateNames names(small.state, small.files);
  EXPECT_FALSE(names.is_built(small.plan.image(0), small.plan.steps()));
  EXPECT_FALSE(names.is_built(small.plan.image(0).spec()));
  EXPECT_TRUE(names.is_packaged(small.plan.image(0)));
  EXPECT_FALSE(names.is_failing(small.plan.image(0), small.plan.steps())) << "nobody ran it yet";
  EXPECT_EQ(standing(0).state, CellState::to_test);
  EXPECT_EQ(image_keys(), keys);
}

TEST_F(Retest, OnlyTheTestRuns) {
  const auto packaged = packaged_at();
  small.change_test("try harder");
  BuildReport report = small.build();
  EXPECT_EQ(report.exit_code(), ExitCode::ok);
  EXPECT_EQ(report.count(Outcome::built), 2u);
  EXPECT_EQ(small.ran, (Strings{"test test hello 1", "test test hello 2"}));
  EXPECT_EQ(packaged_at(), packaged) << "the bits are what they were";
  EXPECT_EQ(standing(0).state, CellState::built);
  EXPECT_EQ(small.build().count(Outcome::up_to_date), 2u);
  EXPECT_EQ(small.ran, Strings{});
  EXPECT_FALSE(small.publish().is_new);
}

TEST_F(Retest, BitsThatFailAreFailingUntilTheyPass) {
  small.change_test("try harder");
  small.failing = "2";
  BuildReport report = small.build();
  EXPECT_EQ(report.exit_code(), ExitCode::images_failed);
  EXPECT_EQ(report.count(Outcome::built), 1u);
  EXPECT_EQ(report.count(Outcome::failed), 1u);
  Published done = small.publish();
  EXPECT_EQ(done.images, 1u);
  EXPECT_EQ(done.failing, 1u);
  EXPECT_EQ(done.not_built, 0u);
  EXPECT_EQ(published(), (Strings{"1", "2 failing"}));
  EXPECT_FALSE(small.publish().is_new);
  small.build();
  EXPECT_EQ(small.ran, Strings{"test test hello 2"}) << "each build tries again";
  small.failing = "";
  EXPECT_EQ(small.build().exit_code(), ExitCode::ok);
  EXPECT_EQ(small.ran, Strings{"test test hello 2"});
  small.publish();
  EXPECT_EQ(published(), (Strings{"1", "2"}));
}

TEST_F(Retest, WhereNothingElseIsBuiltTheIndexSaysSo) {
  small.change_test("try harder");
  small.failing = "2";
  small.build();
  fs::remove_all(small.state.built_folder());
  EXPECT_EQ(small.publish().failing, 1u);
  EXPECT_EQ(published(), (Strings{"1 stale", "2 failing"}));
}

TEST_F(Retest, ATestThatNobodyRanYetIsNoFailure) {
  small.change_test("try harder");
  EXPECT_THROW(small.publish(), Error) << "nothing is built";
  EXPECT_EQ(published(), (Strings{"1", "2"}));
}

// Its steps are done, and what they made was refused: nothing of it waits for a new name.
TEST_F(Retest, AnImageThatEvidenceRefusedIsFailed) {
  fs::remove_all(small.state.built_folder());
  EXPECT_EQ(standing(0).state, CellState::to_retag);
  FailureRecord refused;
  refused.key = small.plan.image(0).key();
  refused.what = "code exceeds the target x86_64: …; the lowest target that holds it is x86_64_v2";
  refused.hint = "the log has them all";
  refused.log = "log";
  RecordWriter(small.state, small.files).write(refused);
  EXPECT_EQ(standing(0).state, CellState::failed);
  EXPECT_EQ(standing(0).why, (Strings{refused.what, refused.hint}));
  EXPECT_EQ(standing(1).state, CellState::to_retag) << "it is another image";
  small.files.write(small.state.failure(refused.key), "{");
  EXPECT_EQ(standing(0).why, Strings{"failed last time"});
  small.build();
  EXPECT_EQ(standing(0).state, CellState::built) << "the next build tries again";
}

// A damaged image is packaged again, and its test runs, too.
TEST_F(Retest, DamageAndANewTestGoTogether) {
  small.change_test("try harder");
  fs::remove_all(small.state.layout("hello", small.plan.image(0).immutable_tag()));
  EXPECT_EQ(small.build().exit_code(), ExitCode::ok);
  EXPECT_EQ(small.ran, (Strings{"test test hello 1", "image 1", "test test hello 2"}));
  EXPECT_EQ(standing(0).state, CellState::built);
}

// What a test could not try where it ran is known of the image, until it is tried somewhere.
TEST_F(Retest, TheIndexKnowsWhatWasTested) {
  auto tests = [&] {
    TestsRecord all = Index::open(small.state.root(), Index::Mode::read).entries().at(0).image.tests.value();
    for (const auto& [test, run] : std::exchange(all.ran, {})) {
      EXPECT_EQ(test, "hello 1 (distro)");
      EXPECT_FALSE(run.host.empty());
      EXPECT_FALSE(run.at.empty());
    }
    return all;
  };
  EXPECT_EQ(tests(), (TestsRecord{{"hello 1 (distro)"}, {}}));
  small.change_test("try harder");
  small.said = "hello 1, not run: there is no GPU here; two threads";
  small.build();
  EXPECT_TRUE(small.publish().is_new);
  EXPECT_EQ(tests(), (TestsRecord{{}, {{"hello 1 (distro)", "there is no GPU here"}}}));
  EXPECT_FALSE(small.publish().is_new);
  const fs::path record = small.state.test(small.plan.steps().hex(small.plan.image(0).tests().at(0)));
  small.files.write(record, "{");
  small.publish();
  EXPECT_EQ(tests(), (TestsRecord{{}, {{"hello 1 (distro)", "there is no GPU here"}}}))
      << "a damaged record says nothing: what was published stays until the test has run again";
  fs::remove(record);
  small.said = "hello 1 ran on a GPU";
  small.build();
  small.publish();
  EXPECT_EQ(tests(), (TestsRecord{{"hello 1 (distro)"}, {}}));
}

}  // namespace
}  // namespace kiln
