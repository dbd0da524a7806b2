// Steps that are shared by a folder which others may write to.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/shared_steps_fixture.h"

namespace kiln {
namespace {

using testing::kBase, testing::kStep, testing::kTest;

class SharedFolder : public testing::SharedStepsOf {
 protected:
  SharedFolder() {
    writes = reads = {};
    writes.folder = reads.folder = (folder / "shared").string();
    writes.is_private = reads.is_private = true;
    fs::create_directory(writes.folder);
  }
  fs::path record(const std::string& name) const {
    return fs::path(reads.folder) / "steps" / (name + ".json");
  }
};

TEST_F(SharedFolder, OursAreBelievedWithoutASignature) {
  share_all();
  EXPECT_TRUE(takes(kStep));
  EXPECT_TRUE(takes(kTest));
  EXPECT_EQ(RecordReader(taker, files).step(kStep)->origin.signer, "");
  EXPECT_EQ(shared(reads, taker).names().size(), 3u);
}

TEST_F(SharedFolder, WhatOthersMayWriteIsNotOurs) {
  share_all();
  fs::permissions(record(tag), fs::perms::group_write, fs::perm_options::add);
  refuses(kStep, "its record there may be written by its group");
  fs::permissions(record(tag), fs::perms::group_write, fs::perm_options::remove);
  fs::permissions(record(tag).parent_path(), fs::perms::others_write, fs::perm_options::add);
  refuses(kStep, "its record there may be written by all users");
  fs::permissions(record(tag).parent_path(), fs::perms::others_write, fs::perm_options::remove);
  EXPECT_TRUE(takes(kStep));
}

TEST_F(SharedFolder, WhatBelongsToSomebodyElseIsNotOurs) {
  if (::geteuid() != 0) GTEST_SKIP() << "files can be given away by root only";
  share_all();
  ASSERT_EQ(::chown(record(tag).c_str(), 1234, 0), 0);
  refuses(kStep, "its record there belongs to the user 1234");
}

TEST_F(SharedFolder, ALinkAndAPipeAreNoRecords) {
  share_all();
  fs::rename(record(tag), folder / "elsewhere");
  fs::create_symlink(folder / "elsewhere", record(tag));
  refuses(kStep, "cannot open");
  fs::remove(record(tag));
  ASSERT_EQ(::mkfifo(record(tag).c_str(), 0600), 0);
  refuses(kStep, "its record there is no file");
}

TEST_F(SharedFolder, WithoutThePromiseASignatureIsAsked) {
  share_all();
  reads.is_private = false;
  reads.trust = {(folder / "key.pub").string()};
  refuses(kStep, "no key that the site file trusts has signed it");
  writes.key = (folder / "key").string();
  fs::remove(record(tag));
  share_all();
  EXPECT_TRUE(takes(kStep));
}

TEST_F(SharedFolder, ADamagedLayerIsMadeGoodByWhoeverFindsIt) {
  share_all();
  const BlobStore store(reads.folder);
  files.write(store.path(Digest::of("step")), "stop");
  SharedSteps finder = shared(writes, taker);
  EXPECT_FALSE(finder.fetch(wanted(kStep)));
  fs::copy(maker.root(), taker.root(), fs::copy_options::recursive | fs::copy_options::overwrite_existing);
  finder.share(wanted(kStep));  // it was run here meanwhile
  EXPECT_EQ(store.read(Digest::of("step")), "step");
}

TEST_F(SharedFolder, LayersGoWithTheLastRecordThatNamesThem) {
  share_all();
  const BlobStore store(reads.folder);
  auto age = [&](const fs::path& file) {
    fs::last_write_time(file, fs::file_time_type::clock::now() - std::chrono::hours(48));
  };
  for (const Digest& blob : store.blobs()) age(store.path(blob));
  shared(writes, maker).remove({{"step-" + kStep}, 3});
  EXPECT_TRUE(store.has(Digest::of("base"))) << "a record that stays needs it";
  EXPECT_FALSE(store.has(Digest::of("step")));
  // A young one may be waiting for its record.
  shared(writes, maker).share(wanted(kStep));
  age(store.path(Digest::of("base")));
  shared(writes, maker).remove({{"step-" + kStep}, 3});
  EXPECT_TRUE(store.has(Digest::of("step")));
  // Where a record cannot be read, kiln cannot know what it needs.
  age(store.path(Digest::of("step")));
  files.write(record("step-" + std::string(64, 'd')), "damaged");
  EXPECT_THROW(shared(writes, maker).remove({{"step-" + kBase}, 3}), Error);
  EXPECT_TRUE(store.has(Digest::of("step")));
  EXPECT_TRUE(store.has(Digest::of("base")));
}

TEST_F(SharedFolder, AFolderThatIsNotThereIsAway) {
  fs::remove(writes.folder);
  EXPECT_FALSE(takes(kStep));
  EXPECT_FALSE(fs::exists(writes.folder)) << "it may be a mount point";
  ASSERT_EQ(told.size(), 1u);
  EXPECT_NE(told[0].find("there is no folder"), std::string::npos) << told[0];
}

}  // namespace
}  // namespace kiln
