#include "factory/run/publication_mark.h"

#include <gtest/gtest.h>

#include "factory/run/publish.h"
#include "registry/index/index.h"
#include "support/built_image.h"
#include "support/fake_effects.h"
#include "support/plan_fixture.h"
#include "support/temporary_folder.h"

namespace kiln {
namespace {

BuildPlan plan_of(const std::vector<std::string>& versions) {
  testing::Resolver resolver({testing::RecipeDraft(Kind::base, "debian", {"trixie"}).rootfs(),
                              testing::RecipeDraft(Kind::framework, "hello", {"2", "1"})
                                  .method("distro", "echo", {"KILN_VERSION"})});
  return plan_matrix(
      testing::matrix({testing::axis("framework", {"hello"}), testing::axis("version", versions),
                       testing::axis("base", {"debian"}), testing::axis("target", {"zen3"})}),
      resolver.input());
}

class Mark : public ::testing::Test {
 protected:
  Mark() {
    for (std::uint32_t number : all_images(plan)) build(plan.image(number));
    publish_built(plan, all_images(plan), state, files, clock);
    mark.keep();
  }
  void build(const ResolvedImage& image) { testing::make_built(testing::names_of(image), state, files); }

  testing::TemporaryFolder folder;
  StatePaths state{folder / "state"};
  RealFileSystem files;
  testing::FakeClock clock;
  BuildPlan plan = plan_of({"1", "2"});
  PublicationMark mark{plan, state, files, clock};
};

TEST_F(Mark, IsValidWhileNothingChanges) {
  EXPECT_TRUE(mark.is_valid());
  Index::open(state.root(), Index::Mode::write).prove();
  Index::open(state.root(), Index::Mode::read).entries();
  EXPECT_FALSE(publish_built(plan, all_images(plan), state, files, clock).is_new);
  EXPECT_TRUE(mark.is_valid()) << "a publication of the same writes nothing";
}

TEST_F(Mark, IsOfOnePlan) {
  const BuildPlan fewer = plan_of({"1"});
  EXPECT_FALSE(PublicationMark(fewer, state, files, clock).is_valid());
  EXPECT_TRUE(mark.is_valid());
}

TEST_F(Mark, ARecordThatIsWrittenAnewEndsIt) {
  build(plan.image(0));
  EXPECT_FALSE(mark.is_valid());
}

TEST_F(Mark, AnotherSnapshotEndsIt) {
  Index index = Index::open(state.root(), Index::Mode::write);
  index.retire({index.entries().at(0).image.identity()}, "a hole", "2026-11-27T10:00:00Z");
  EXPECT_FALSE(mark.is_valid());
}

TEST_F(Mark, AnIndexThatIsMadeAgainEndsIt) {
  files.remove_all(state.root() / "index.db");
  EXPECT_FALSE(mark.is_valid());
  Index::open(state.root(), Index::Mode::write).prove();
  EXPECT_FALSE(mark.is_valid());
}

TEST_F(Mark, TheFolderOfSifsIsLookedAt) {
  for (const fs::path& path : {state.sif_folder(), state.sif_snapshots()}) {
    fs::remove_all(path);
    EXPECT_FALSE(mark.is_valid()) << path;
    publish_built(plan, all_images(plan), state, files, clock);
    mark.keep();
    EXPECT_TRUE(mark.is_valid());
  }
  files.write(state.sif_folder() / "another.sif", "by hand");
  EXPECT_FALSE(mark.is_valid());
}

TEST_F(Mark, IsValidForAWeekByAClockThatRuns) {
  constexpr std::int64_t kWeek = 7LL * 24 * 3600;
  const std::int64_t now = clock.unix_seconds();
  const auto valid_at = [&](std::int64_t time) {
    testing::FakeClock other;
    other.now = time;
    return PublicationMark(plan, state, files, other).is_valid();
  };
  EXPECT_TRUE(valid_at(now + kWeek - 1));
  EXPECT_FALSE(valid_at(now + kWeek));
  EXPECT_FALSE(valid_at(now - 1));
}

TEST_F(Mark, AMarkThatCannotBeWrittenIsNoFailure) {
  const fs::path file = state.nights(plan.name()) / "published.json";
  fs::remove(file);
  files.write(file / "in the way", "");
  mark.keep();
  EXPECT_FALSE(mark.is_valid());
}

TEST_F(Mark, DamageIsNoMark) {
  const fs::path file = state.nights(plan.name()) / "published.json";
  const std::string text = files.read(file).value();
  for (const char* damaged :
       {"", "{", "[]", "null", R"({"format": 1})", R"({"format": 1, "stamp": 1, "at": 0})"}) {
    files.write(file, damaged);
    EXPECT_FALSE(mark.is_valid()) << damaged;
  }
  files.write(file, text);
  EXPECT_TRUE(mark.is_valid());
  files.remove_all(file);
  EXPECT_FALSE(mark.is_valid());
}

}  // namespace
}  // namespace kiln
