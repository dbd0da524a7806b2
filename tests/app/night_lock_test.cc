#include "factory/app/night_lock.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "support/fake_effects.h"

namespace kiln::testing {
namespace {

class NightLockTest : public ::testing::Test {
 protected:
  NightLock open() {
    return NightLock({"demo.lock.json", "demo", state_, files_},
                     [this](const std::string& line) { warned_.push_back(line); });
  }
  static Lockfile lock_of(const std::string& archspec) {
    Lockfile lock;
    lock.archspec = archspec;
    return lock;
  }
  std::string archspec() { return open().previous().value_or(lock_of("none")).archspec; }

  FakeFileSystem files_;
  StatePaths state_{"/state"};
  std::vector<std::string> warned_;
};

TEST_F(NightLockTest, BeginsWithTheCheckoutsFileAndGoesOnWithWhatANightMadeOfIt) {
  EXPECT_EQ(archspec(), "none") << "there is no lockfile";
  files_.files["demo.lock.json"] = lockfile_text(lock_of("0.2.1"));
  const std::string checked_out = files_.files["demo.lock.json"];
  NightLock night = open();
  EXPECT_EQ(night.previous()->archspec, "0.2.1");
  night.write(lock_of("0.2.2"));
  EXPECT_EQ(files_.files["demo.lock.json"], lockfile_text(lock_of("0.2.2")));
  files_.files["demo.lock.json"] = checked_out;
  EXPECT_EQ(archspec(), "0.2.2") << "a fresh checkout goes on from the state folder";
  files_.files["demo.lock.json"] = lockfile_text(lock_of("0.3.0"));
  EXPECT_EQ(archspec(), "0.3.0") << "another file was reviewed";
}

TEST_F(NightLockTest, WarnsOfACopyThatCannotBeReadAndUsesTheCheckouts) {
  files_.files["demo.lock.json"] = lockfile_text(lock_of("0.2.1"));
  open().write(lock_of("0.2.2"));
  files_.files["demo.lock.json"] = lockfile_text(lock_of("0.2.1"));
  int damaged = 0;
  for (auto& [path, text] : files_.files)
    if (path.starts_with("/state/locks/")) {
      text = "{";
      ++damaged;
    }
  ASSERT_EQ(damaged, 1);
  EXPECT_EQ(archspec(), "0.2.1");
  ASSERT_EQ(warned_.size(), 1u);
  EXPECT_NE(warned_[0].find("reading the lockfile of the last night"), std::string::npos) << warned_[0];
}

TEST_F(NightLockTest, RefusesACheckoutsFileThatIsNoLockfile) {
  files_.files["demo.lock.json"] = "[]";
  EXPECT_THROW(open(), Error);
}

TEST(ScopeOfNight, AddsNothingThatWasNotReviewedAndDropsNothingThatIsUnknown) {
  EXPECT_EQ(scope_of_night(true, false), LockScope::pins_only);
  EXPECT_EQ(scope_of_night(true, true), LockScope::pins_only);
  EXPECT_EQ(scope_of_night(false, true), LockScope::additions);
  EXPECT_EQ(scope_of_night(false, false), LockScope::whole);
}

TEST(AskingOnce, DoesNotWaitAgainForARegistryThatIsSilent) {
  std::vector<std::string> asked;
  ExitCode code = ExitCode::network;
  const AskDigest ask = asking_once([&](const std::string& reference, const std::string&) -> Digest {
    asked.push_back(reference);
    if (reference.starts_with("a.site")) throw Error(code, "no answer");
    return Digest::of(reference);
  });
  EXPECT_THROW(ask("a.site/x:1", "amd64"), Error);
  EXPECT_THROW(ask("a.site/y:1", "amd64"), Error);
  EXPECT_EQ(asked, std::vector<std::string>{"a.site/x:1"});
  EXPECT_EQ(ask("b.site/x:1", "amd64"), Digest::of("b.site/x:1"));
}

TEST(AskingOnce, AsksAgainAfterAnErrorThatIsTheImages) {
  int asked = 0;
  const AskDigest ask = asking_once([&](const std::string&, const std::string&) -> Digest {
    ++asked;
    throw Error(ExitCode::input, "there is no such tag");
  });
  for (int i = 0; i < 2; ++i) EXPECT_THROW(ask("a.site/x:1", "amd64"), Error);
  EXPECT_EQ(asked, 2);
}

TEST(LockNewsOfANight, SaysWhatMovedWhatIsHeldAndWhatFailed) {
  PolicyUpdate update;
  Lockfile now;
  now.archspec = "0.2.2";
  update.changes = compare_locks({}, now);
  ASSERT_EQ(update.changes.size(), 1u);
  update.held.push_back({update.changes[0], std::nullopt});
  update.problems.push_back({"base/debian", Error(ExitCode::network, "no\x1b answer")});
  UpstreamNews upstream;
  Proposal proposal;
  proposal.component = "framework/jax";
  proposal.release.version = "2.1";
  upstream.proposals.shown = {proposal, proposal};
  upstream.proposals.shown[1].is_new = true;
  upstream.problems.push_back({"framework/pytorch", Error(ExitCode::network, "no answer")});
  LockNews news;
  add_news(update, news);
  add_news(upstream, news);
  EXPECT_EQ(news.changes, std::vector<std::string>{text_of(update.changes[0])});
  EXPECT_EQ(news.held, std::vector<std::string>{text_of(update.held[0])});
  EXPECT_EQ(news.proposals, (std::vector<std::string>{text_of(proposal), text_of(proposal) + ", new"}));
  ASSERT_EQ(news.problems.size(), 2u);
  EXPECT_NE(news.problems[0].find("base/debian stays as it is"), std::string::npos) << news.problems[0];
  EXPECT_EQ(news.problems[0].find('\x1b'), std::string::npos);
  EXPECT_NE(news.problems[1].find("asking upstream of framework/pytorch"), std::string::npos);
}

}  // namespace
}  // namespace kiln::testing
