#include "factory/state/fsck.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <set>

#include "factory/oci/layout.h"
#include "factory/run/mend.h"
#include "support/small_state.h"

namespace kiln {
namespace {

using testing::SmallState;

// Two images of three steps, packaged and published.
class StoreCheck : public ::testing::Test {
 protected:
  StoreCheck() {
    EXPECT_EQ(small.build().exit_code(), ExitCode::ok);
    small.publish();
    image = *RecordReader(small.state, small.files).image(small.plan.image(0).record_name());
  }
  FsckReport check(bool deep = false, unsigned jobs = 1) const {
    return check_store(small.state, small.files, {deep, jobs, {}});
  }
  ImageBlob blob(const std::string& what) const {
    for (const ImageBlob& one : blobs_of(image, store))
      if (one.what == what) return one;
    ADD_FAILURE() << "no " << what;
    return {};
  }
  fs::path file(const std::string& what) const { return store.path(blob(what).digest); }
  void flip(const fs::path& path) const {
    std::string bytes = testing::read_bytes(path);
    bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 1);
    testing::write_bytes(path, bytes);
  }
  // With the copies in layouts, which are links to the same file, given bytes of their own.
  void part(const std::string& what) const {
    const std::string bytes = testing::read_bytes(file(what));
    fs::remove(file(what));
    testing::write_bytes(file(what), bytes);
  }
  std::vector<Mended> mend_all(bool deep = false) {
    auto package = [&](const BlobUser& user) {
      for (std::size_t number = 0; number < small.plan.size(); ++number)
        if (small.plan.image(number).record_name() == user.record) small.package(small.plan.image(number));
    };
    return mend(check(deep), {small.state, small.files, package});
  }
  std::map<std::string, std::string> blobs() const {
    std::map<std::string, std::string> all;
    for (const Digest& digest : store.blobs()) all[digest.hex()] = testing::read_bytes(store.path(digest));
    return all;
  }

  SmallState small;
  BlobStore store{small.state.store()};
  ImageRecord image;
};

TEST_F(StoreCheck, AWholeStoreHasNoDamage) {
  for (bool deep : {false, true}) {
    const FsckReport report = check(deep, 3);
    EXPECT_TRUE(report.is_whole());
    EXPECT_EQ(report.looked_at, store.blobs().size());
    std::uint64_t bytes = 0;
    for (const auto& [name, content] : blobs()) bytes += content.size();
    EXPECT_EQ(report.read, deep ? bytes : 0);
  }
}

TEST_F(StoreCheck, AnEmptyStateIsWhole) {
  const StatePaths nowhere(small.folder.path() / "nowhere");
  EXPECT_TRUE(check_store(nowhere, small.files, {true, 2, {}}).is_whole());
  EXPECT_FALSE(fs::exists(nowhere.root()));
}

TEST_F(StoreCheck, EveryBlobIsUsedBySomebody) {
  const BlobUses uses = blob_uses(small.state, small.files);
  std::multiset<BlobUser::Kind> kinds;
  for (const BlobUser& user : uses.users) kinds.insert(user.kind);
  EXPECT_EQ(kinds.count(BlobUser::Kind::packaged), 2u);
  EXPECT_EQ(kinds.count(BlobUser::Kind::published), 2u);
  EXPECT_EQ(kinds.count(BlobUser::Kind::step), 3u);
  for (const auto& [digest, used] : uses.blobs) {
    EXPECT_FALSE(used.uses.empty()) << digest.text();
    EXPECT_EQ(used.size, store.size_of(digest));
    EXPECT_EQ(used.damage, "");
  }
  const UsedBlob& base = uses.blobs.at(blob("layer 1").digest);
  std::set<std::string> names;
  for (const BlobUse& use : base.uses) names.insert(uses.users[use.user].name);
  EXPECT_EQ(names.size(), 3u) << "two images, and the one step that made it";
}

TEST_F(StoreCheck, DamageNamesTheBlobAndWhoseItIs) {
  for (const char* what :
       {"manifest", "configuration", "layer 1", "layer 2", "sif", "spdx", "referrer of spdx"}) {
    if (std::string(what) == "sif" && image.attachment("sif") == nullptr) continue;
    const std::string before = testing::read_bytes(file(what));
    const fs::path path = file(what);
    const Digest digest = blob(what).digest;
    for (std::size_t size : {before.size() / 2, std::size_t{0}}) {
      fs::resize_file(path, size);
      const FsckReport report = check();
      ASSERT_EQ(report.blobs.size(), 1u) << what;
      EXPECT_EQ(report.blobs[0].blob, digest);
      EXPECT_FALSE(report.blobs[0].of.empty());
      EXPECT_NE(report.blobs[0].damage, "");
      EXPECT_FALSE(report.blobs[0].is_unread);
    }
    testing::write_bytes(path, before);
    ASSERT_TRUE(check(true).is_whole()) << what;
  }
}

TEST_F(StoreCheck, AFlippedBitIsForTheDeepOne) {
  for (const char* what : {"manifest", "configuration", "layer 2", "spdx", "referrer of spdx"}) {
    const fs::path path = file(what);
    const Digest digest = blob(what).digest;
    flip(path);
    const FsckReport report = check(true, 2);
    ASSERT_EQ(report.blobs.size(), 1u) << what;
    EXPECT_EQ(report.blobs[0].blob, digest);
    EXPECT_EQ(report.blobs[0].damage, "does not have the bytes that were written");
    flip(path);
  }
}

TEST_F(StoreCheck, ABlobOfNobodyIsLookedAtToo) {
  const Descriptor alone = store.put("nobody's", "");
  EXPECT_TRUE(check(true).is_whole());
  flip(store.path(alone.digest));
  EXPECT_TRUE(check().is_whole()) << "its size is all that nobody wrote down";
  const FsckReport report = check(true);
  ASSERT_EQ(report.blobs.size(), 1u);
  EXPECT_TRUE(report.blobs[0].of.empty());
  EXPECT_EQ(mend_all(true).at(0).done, "taken away");
  EXPECT_FALSE(store.has(alone.digest));
}

TEST_F(StoreCheck, RecordsAndSidecarsThatCannotBeReadAreNamed) {
  const fs::path record = small.state.built(small.plan.image(0).record_name());
  const fs::path step = small.state.step(small.plan.steps().hex(small.plan.image(0).steps()[0]));
  const fs::path sidecar = small.state.store() / "records" / (image.manifest.hex() + ".json");
  for (const fs::path& path : {record, step, sidecar}) {
    ASSERT_TRUE(fs::exists(path)) << path;
    fs::resize_file(path, fs::file_size(path) / 2);
  }
  const FsckReport report = check();
  EXPECT_EQ(report.uses.unreadable.size(), 3u);
  EXPECT_FALSE(report.is_whole());
  for (const Mended& one : remedies(report)) EXPECT_FALSE(one.is_whole) << one.damage;
}

TEST_F(StoreCheck, ADamagedRecordOfATestIsNamedAndTakenAway) {
  const std::string test = small.plan.steps().hex(small.plan.image(0).tests().front());
  fs::resize_file(small.state.test(test), 3);
  EXPECT_EQ(check().uses.unreadable, std::vector<std::string>{"tests/" + test + ".json"});
  EXPECT_FALSE(mend_all().at(0).is_whole);
  EXPECT_FALSE(fs::exists(small.state.test(test)));
  EXPECT_TRUE(check().is_whole());
}

TEST_F(StoreCheck, EverySidecarIsLookedAt) {
  store.write_sidecar(BlobStore::Sidecar::measurement, image.manifest.hex() + "-1", "{\"a\":1}");
  EXPECT_TRUE(check().is_whole());
  const std::string measurement = "measurements/" + image.manifest.hex() + "-1.json";
  for (const std::string& file :
       {std::string("snapshots/1.json"), std::string("snapshots/current.json"), measurement}) {
    const fs::path sidecar = small.state.store() / file;
    const std::string whole = testing::read_bytes(sidecar);
    for (const std::string& text : {std::string(), whole.substr(0, whole.size() / 2), "x" + whole}) {
      testing::write_bytes(sidecar, text);
      EXPECT_EQ(check().uses.unreadable, std::vector<std::string>{"store/" + file}) << text;
      EXPECT_NE(remedies(check()).at(0).done.find("`kiln index recover`"), std::string::npos);
    }
    testing::write_bytes(sidecar, whole);
  }
}

TEST_F(StoreCheck, ALayoutThatLostSomethingIsNamedAndMadeAgain) {
  const fs::path layout = small.state.root() / image.layout;
  for (const char* lost : {"index.json", "oci-layout", "blobs"}) {
    fs::remove_all(layout / lost);
    const FsckReport report = check();
    EXPECT_TRUE(report.blobs.empty()) << lost;
    ASSERT_EQ(report.layouts.size(), 1u) << lost;
    EXPECT_EQ(report.layouts[0].folder, image.layout);
    EXPECT_TRUE(mend_all().at(0).is_whole) << lost;
    EXPECT_TRUE(check(true).is_whole()) << lost;
  }
  fs::remove_all(layout);
  mend_all();
  EXPECT_TRUE(check(true).is_whole());
}

TEST_F(StoreCheck, ProgressReachesTheEnd) {
  std::uint64_t last = 0;
  std::uint64_t all = 0;
  const FsckReport report =
      check_store(small.state, small.files, {true, 2, [&](std::uint64_t done, std::uint64_t of) {
                                               EXPECT_GE(done, last);
                                               last = done;
                                               all = of;
                                             }});
  EXPECT_EQ(last, all);
  EXPECT_EQ(report.read, all);
}

TEST_F(StoreCheck, ACopyInALayoutRestoresABlob) {
  const auto whole = blobs();
  for (const char* what : {"layer 1", "layer 2", "configuration", "spdx"}) {
    const fs::path path = file(what);
    fs::remove(path);
    const std::vector<Mended> done = mend_all();
    EXPECT_EQ(done.at(0).done.find("restored from images/hello/"), 0u) << done.at(0).done;
    EXPECT_TRUE(done.at(0).is_whole);
    EXPECT_EQ(blobs(), whole) << what;
    EXPECT_TRUE(check(true).is_whole()) << what;
  }
}

// The copy in a layout is the same file where it is a link: it is as damaged.
TEST_F(StoreCheck, ALinkIsNoCopy) {
  for (const char* what : {"configuration", "spdx", "referrer of spdx"}) {
    flip(file(what));
    for (const Mended& one : mend_all(true)) EXPECT_TRUE(one.is_whole) << one.damage << ": " << one.done;
    EXPECT_TRUE(check(true).is_whole()) << what;
  }
}

// One layout has the blob as a file of its own, the other links the one that is damaged.
TEST_F(StoreCheck, ALayoutThatLinksTheDamagedFileIsMadeAgain) {
  const std::string whole = testing::read_bytes(file("layer 1"));
  const fs::path copy = blob_in_layout(small.state.root() / image.layout, blob("layer 1").digest);
  fs::remove(copy);
  testing::write_bytes(copy, whole);
  flip(file("layer 1"));
  for (const Mended& one : mend_all(true)) EXPECT_TRUE(one.is_whole) << one.damage << ": " << one.done;
  EXPECT_TRUE(check(true).is_whole());
}

TEST_F(StoreCheck, ALayerWithoutACopyIsForTheNextBuild) {
  const auto whole = blobs();
  const Digest layer = blob("layer 2").digest;
  flip(store.path(layer));
  const std::vector<Mended> done = mend_all(true);
  ASSERT_FALSE(done.empty());
  EXPECT_FALSE(done[0].is_whole);
  EXPECT_NE(done[0].damage.find(layer.text()), std::string::npos) << done[0].damage;
  EXPECT_NE(done[0].done.find("`kiln build` runs the step"), std::string::npos) << done[0].done;
  EXPECT_FALSE(store.has(layer)) << "what is damaged is not left to be believed";
  const BuildReport report = small.build();
  EXPECT_EQ(report.exit_code(), ExitCode::ok);
  EXPECT_EQ(blobs(), whole);
  EXPECT_TRUE(check(true).is_whole());
}

TEST_F(StoreCheck, WithoutRepairNothingIsChanged) {
  fs::remove(file("layer 2"));
  const auto before = blobs();
  const std::vector<Mended> said = remedies(check());
  ASSERT_EQ(said.size(), 1u);
  EXPECT_FALSE(said[0].is_whole);
  EXPECT_NE(said[0].done.find("`kiln build`"), std::string::npos);
  EXPECT_EQ(blobs(), before);
}

// A published image that no plan makes any more: nobody here can make it, and its sidecar stays.
TEST_F(StoreCheck, WhatNobodyMakesAgainIsSaid) {
  part("layer 2");
  fs::remove_all(small.state.built_folder());
  fs::remove_all(small.state.step_folder());
  fs::remove_all(small.state.root() / "images");
  fs::remove(file("layer 2"));
  bool said = false;
  for (const Mended& one : mend_all()) said |= one.done.find("no build here makes") != std::string::npos;
  EXPECT_TRUE(said);
  EXPECT_TRUE(fs::exists(small.state.store() / "records" / (image.manifest.hex() + ".json")));
}

TEST_F(StoreCheck, TwiceMendedIsMendedOnce) {
  fs::remove(file("spdx"));
  fs::remove(file("manifest"));
  mend_all();
  const auto once = blobs();
  EXPECT_TRUE(mend_all(true).empty());
  EXPECT_EQ(blobs(), once);
}

}  // namespace
}  // namespace kiln
