#include "factory/run/publish.h"

#include <gtest/gtest.h>

#include "factory/oci/layout.h"
#include "factory/record/image_blobs.h"
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

// hello 1 and hello 2.
BuildPlan two_versions() {
  testing::Resolver resolver({testing::RecipeDraft(Kind::base, "debian", {"trixie"}).rootfs(),
                              testing::RecipeDraft(Kind::framework, "hello", {"2", "1"})
                                  .method("distro", "echo", {"KILN_VERSION"})});
  return plan_matrix(
      testing::matrix({testing::axis("framework", {"hello"}), testing::axis("version", {"1", "2"}),
                       testing::axis("base", {"debian"}), testing::axis("target", {"zen3"})}),
      resolver.input());
}

class Publish : public ::testing::Test {
 protected:
  void build(const ResolvedImage& image) { testing::make_built(testing::names_of(image), state, files); }
  fs::path layout_of(const ResolvedImage& image) const {
    return state.layout(image.repository(), image.immutable_tag());
  }
  Published publish(const ImageNumbers& images, const PublishOptions& options = {}) {
    return publish_built(plan, images, state, files, clock, options);
  }
  std::vector<std::string> published() {
    std::vector<std::string> names;
    for (const IndexEntry& entry : Index::open(state.root(), Index::Mode::read).entries())
      names.push_back(entry.image.name());
    return names;
  }

  testing::TemporaryFolder folder;
  StatePaths state{folder / "state"};
  BlobStore store{state.store()};
  RealFileSystem files;
  testing::FakeClock clock;
  BuildPlan plan = two_versions();
  ResolvedImage one = plan.image(0);
  ResolvedImage two = plan.image(1);
};

using Strings = std::vector<std::string>;

TEST_F(Publish, WhatIsBuiltIsInTheIndexAfterwards) {
  build(one);
  Published done = publish({0, 1});
  EXPECT_TRUE(done.is_new);
  EXPECT_EQ(done.images, 1u);
  EXPECT_EQ(done.not_built, 1u);
  EXPECT_EQ(published(), Strings{one.reference()});
  build(two);
  Published next = publish({0, 1});
  EXPECT_EQ(next.snapshot, done.snapshot + 1);
  EXPECT_EQ(published(), (Strings{one.reference(), two.reference()}));
}

TEST_F(Publish, TheSameAgainIsNothingNew) {
  build(one);
  Published first = publish({0});
  Published again = publish({0});
  EXPECT_FALSE(again.is_new);
  EXPECT_EQ(again.snapshot, first.snapshot);
}

TEST_F(Publish, ARecordWithoutItsLayoutIsNotBuilt) {
  build(one);
  build(two);
  fs::remove_all(layout_of(two));
  EXPECT_EQ(publish({0, 1}).not_built, 1u);
  EXPECT_EQ(published(), Strings{one.reference()});
}

TEST_F(Publish, AnImageWithADamagedBlobIsNotBuilt) {
  build(one);
  build(two);
  fs::resize_file(store.path(Digest::of("layer of " + two.key())), 3);
  EXPECT_EQ(publish({0, 1}).not_built, 1u);
  EXPECT_EQ(published(), Strings{one.reference()});
}

// As the index has them.
ImageRecord published_record(const StatePaths& state, const std::string& name) {
  for (const IndexEntry& entry : Index::open(state.root(), Index::Mode::read).entries())
    if (entry.image.name() == name) return entry.image;
  throw Error(ExitCode::no_match, name);
}

// Of the image, in seven rounds against stock.
void measure(const ImageRecord& image, double low, double high, const StatePaths& state) {
  Measurement one;
  one.image = image.manifest;
  one.key = image.key;
  one.workload = "mnist-cnn";
  one.unit = "ms/step";
  one.median = 100;
  one.session = one.taken = fmt::format("2026-11-2{}T00:00:00Z", low > 1 ? 3 : 4);
  one.rounds = kProvingRounds;
  one.over_stock = MeasuredGain{"stock", (low + high) / 2, low, high};
  Index::open(state.root(), Index::Mode::write).record(one);
}

TEST_F(Publish, GivesAnImageThatClaimsMoreThanStockTheWordsOfItsGain) {
  for (const ResolvedImage& image : {one, two}) {
    build(image);
    ImageRecord record = *RecordReader(state, files).image(image.record_name());
    record.optimised = image.reference() == one.reference();
    RecordWriter(state, files).write_image(image.record_name(), record);
  }
  const std::int64_t first = publish({0, 1}).snapshot;
  EXPECT_EQ(published_record(state, one.reference()).attachment(kGainKind), nullptr) << "nothing is measured";

  measure(published_record(state, one.reference()), 1.1, 1.3, state);
  EXPECT_EQ(publish({0, 1}).snapshot, first + 1);
  const ImageRecord with = published_record(state, one.reference());
  ASSERT_NE(with.attachment(kGainKind), nullptr);
  EXPECT_NE(store.read(with.attachment(kGainKind)->blob.digest).find("\"proven\""), std::string::npos);
  EXPECT_EQ(published_record(state, two.reference()).attachment(kGainKind), nullptr) << "it claims nothing";
  EXPECT_NO_THROW(check_layout(state.root(), with)) << "the layout was written before";
  EXPECT_FALSE(publish({0, 1}).is_new);

  measure(with, 0.7, 0.9, state);
  EXPECT_TRUE(publish({0, 1}).is_new);
  const ImageRecord later = published_record(state, one.reference());
  EXPECT_EQ(later.attachments.size(), with.attachments.size()) << "the later words replace the earlier";
  EXPECT_NE(store.read(later.attachment(kGainKind)->blob.digest).find("\"slower\""), std::string::npos);
}

TEST_F(Publish, NothingBuiltIsAnError) {
  try {
    publish({0});
    FAIL() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::no_match);
    EXPECT_EQ(error.message(), "nothing of 'demo' is built");
  }
}

// The same matrix without hello 2.
BuildPlan one_version() {
  testing::Resolver resolver({testing::RecipeDraft(Kind::base, "debian", {"trixie"}).rootfs(),
                              testing::RecipeDraft(Kind::framework, "hello", {"2", "1"})
                                  .method("distro", "echo", {"KILN_VERSION"})});
  return plan_matrix(testing::matrix({testing::axis("framework", {"hello"}), testing::axis("version", {"1"}),
                                      testing::axis("base", {"debian"}), testing::axis("target", {"zen3"})}),
                     resolver.input());
}

TEST_F(Publish, WhatTheMatrixLacksByNowCanBeTakenOut) {
  EXPECT_TRUE(lacking_images(plan, state, files).names.empty()) << "without an index";
  build(one);
  build(two);
  publish({0, 1});
  EXPECT_TRUE(lacking_images(plan, state, files).names.empty());
  const std::string gone = two.reference();
  const BuildPlan fewer = one_version();
  const LackingImages lacking = lacking_images(fewer, state, files);
  EXPECT_EQ(lacking.names, Strings{gone});
  EXPECT_EQ(lacking.published, 2u);
  publish_built(fewer, {0}, state, files, clock);
  EXPECT_EQ(published().size(), 2u) << "nobody asked for it";
  publish_built(fewer, {0}, state, files, clock, {{}, lacking.names});
  EXPECT_EQ(published(), Strings{one.reference()});
}

TEST_F(Publish, WhatABrokenCellPublishedBeforeIsStale) {
  build(one);
  build(two);
  publish({0, 1});
  testing::Resolver resolver(
      {testing::RecipeDraft(Kind::base, "debian", {"trixie"}).rootfs(),
       testing::RecipeDraft(Kind::framework, "hello", {"1"}).method("distro", "echo", {"KILN_VERSION"}),
       testing::RecipeDraft(Kind::framework, "other", {"1"}).method("distro", "echo")});
  testing::RecipeDraft hello(Kind::framework, "hello", {"2", "1"});
  resolver.recipes().add_broken({hello.get(), Error(ExitCode::input, "no good")});
  const BuildPlan broken = plan_matrix(
      testing::matrix({testing::axis("framework", {"hello", "other"}), testing::axis("version", {"1"}),
                       testing::axis("base", {"debian"}), testing::axis("target", {"zen3"})}),
      resolver.input());
  ASSERT_EQ(broken.broken(), 1u);
  build(broken.image(0));
  EXPECT_EQ(publish_built(broken, {0}, state, files, clock, {{0}, {}}).not_built, 1u);
  Strings stale;
  for (const IndexEntry& entry : Index::open(state.root(), Index::Mode::read).entries())
    if (entry.stale) stale.push_back(entry.image.name());
  EXPECT_EQ(stale, Strings{"hello:1-distro-zen3-trixie"});
}

}  // namespace
}  // namespace kiln
