#include "factory/app/test_rerun.h"

#include <gtest/gtest.h>

#include "support/plan_fixture.h"
#include "support/temporary_folder.h"

namespace kiln::testing {
namespace {

// Two images that share a test; the second has another one, of its graph compiler.
class TestRerunTest : public ::testing::Test {
 protected:
  static BuildPlan plan() {
    static const Resolver resolver;
    return plan_matrix(matrix({axis("framework", {"pytorch"}), axis("version", {"2.6.0"}),
                               axis("base", {"debian"}), axis("method", {"distro"}),
                               axis("compiler", {"none", "inductor"}), axis("target", {"x86_64_v3"})}),
                       resolver.input());
  }
  std::string key(std::uint32_t image, std::size_t test) const {
    return plan_.steps().hex(plan_.image(image).tests().at(test));
  }
  void passed(const std::string& key, const std::string& last_line = "ok") {
    TestRecord record;
    record.key = key;
    record.last_line = last_line;
    record.host = "node7";
    record.taken = "2026-11-28T09:00:00Z";
    writer_.write(record);
  }
  void all_passed() {
    for (const std::uint32_t image : {0u, 1u})
      for (const StepTable::Number test : plan_.image(image).tests()) passed(plan_.steps().hex(test));
  }
  bool is_known(const std::string& key) const { return RecordReader(state_, files_).test(key).has_value(); }

  TemporaryFolder root_;
  RealFileSystem files_;
  StatePaths state_{root_.path()};
  BuildPlan plan_ = plan();
  RecordWriter writer_{state_, files_};
  TestRerun rerun_{plan_, state_, files_};
};

TEST_F(TestRerunTest, RunsNothingThatPassed) {
  all_passed();
  EXPECT_TRUE(rerun_.begin({0, 1}, false).empty());
  const auto states = rerun_.states({0, 1});
  ASSERT_EQ(states.size(), plan_.image(0).tests().size() + plan_.image(1).tests().size());
  for (const TestState& state : states) {
    EXPECT_EQ(state.result, "passed");
    EXPECT_EQ(state.machine, "node7");
    EXPECT_EQ(state.taken, "2026-11-28T09:00:00Z");
    EXPECT_FALSE(state.run_now);
  }
}

TEST_F(TestRerunTest, RunsWhatThisMachineMayHave) {
  all_passed();
  const std::string last = key(1, plan_.image(1).tests().size() - 1);
  passed(last, "ok: compiles, not run: there is no GPU here; not counted");
  EXPECT_EQ(rerun_.states({1}).back().result, "not run: there is no GPU here");
  EXPECT_EQ(rerun_.begin({0, 1}, false), ImageNumbers{1}) << "the other image has no such test";
  EXPECT_FALSE(is_known(last)) << "a build runs it";
  EXPECT_TRUE(is_known(key(1, 0)));
  const TestState after = rerun_.states({1}).back();
  EXPECT_EQ(after.result, "not reached");
  EXPECT_EQ(after.machine, "");
  EXPECT_TRUE(after.run_now);
}

TEST_F(TestRerunTest, RunsAllOnceWhereAsked) {
  all_passed();
  EXPECT_EQ(rerun_.begin({0, 1}, true), (ImageNumbers{0, 1}));
  EXPECT_FALSE(is_known(key(0, 0)));
  all_passed();
  EXPECT_EQ(rerun_.begin({0, 1}, true), (ImageNumbers{0, 1}));
  EXPECT_TRUE(is_known(key(0, 0))) << "what was run anew is not taken away a second time";
}

TEST_F(TestRerunTest, NamesAFailureAndWhatWasNotReached) {
  EXPECT_EQ(rerun_.begin({1}, false), ImageNumbers{1});
  FailureRecord failure;
  failure.key = key(1, 0);
  failure.what = "exit status 1";
  writer_.write(failure);
  const auto states = rerun_.states({1});
  ASSERT_GT(states.size(), 1u);
  EXPECT_EQ(states.front().result, "failed: exit status 1");
  EXPECT_FALSE(states.front().run_now) << "there was no record to take away";
  EXPECT_EQ(states.back().result, "not reached");
}

TEST_F(TestRerunTest, PassesOverWhatIsNotPackaged) {
  std::vector<std::string> unbuilt;
  EXPECT_TRUE(rerun_.packaged({0, 1}, unbuilt).empty());
  EXPECT_EQ(unbuilt, (std::vector<std::string>{plan_.image(0).reference(), plan_.image(1).reference()}));
}

}  // namespace
}  // namespace kiln::testing
