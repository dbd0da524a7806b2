#include <gtest/gtest.h>

#include "factory/base/effects.h"
#include "factory/oci/blob_store.h"
#include "support/temporary_folder.h"

namespace kiln {
namespace {

class BlobDamageOf : public ::testing::Test {
 protected:
  testing::TemporaryFolder folder;
  BlobStore store{folder / "store"};
  std::string bytes = std::string(3u << 20, 'x') + "end";  // more than is read at a time
  Descriptor blob = store.put(bytes, "");
  fs::path file = store.path(blob.digest);
  RealFileSystem files;
};

TEST_F(BlobDamageOf, AWholeBlobHasNone) {
  EXPECT_EQ(seen_damage(store, blob.digest, blob.size), "");
  EXPECT_EQ(read_damage(store, blob.digest, blob.size), "");
  EXPECT_EQ(read_damage(store, blob.digest, std::nullopt), "");
  EXPECT_TRUE(has_bytes_of(file, blob.digest));
}

TEST_F(BlobDamageOf, WhatIsCutEmptyOrGoneIsSeenWithoutReading) {
  fs::resize_file(file, 10);
  EXPECT_EQ(seen_damage(store, blob.digest, blob.size), "has 10 of 3145731 bytes");
  EXPECT_EQ(read_damage(store, blob.digest, blob.size), "has 10 of 3145731 bytes");
  EXPECT_EQ(read_damage(store, blob.digest, std::nullopt), "does not have the bytes that were written");
  fs::resize_file(file, 0);
  EXPECT_EQ(seen_damage(store, blob.digest, blob.size), "is empty");
  fs::resize_file(file, blob.size + 1);
  EXPECT_EQ(seen_damage(store, blob.digest, blob.size), "has 3145732 of 3145731 bytes");
  fs::remove(file);
  EXPECT_EQ(seen_damage(store, blob.digest, blob.size), "is missing");
  EXPECT_EQ(read_damage(store, blob.digest, std::nullopt), "is missing");
  EXPECT_FALSE(has_bytes_of(file, blob.digest));
}

TEST_F(BlobDamageOf, AFlippedBitIsReadWhereverItIs) {
  for (std::size_t at : {std::size_t{0}, std::size_t{1u << 20}, bytes.size() - 1}) {
    std::string bad = bytes;
    bad[at] = static_cast<char>(bad[at] ^ 4);
    files.write_output(file, bad);
    EXPECT_EQ(seen_damage(store, blob.digest, blob.size), "");
    EXPECT_EQ(read_damage(store, blob.digest, blob.size), "does not have the bytes that were written");
    EXPECT_FALSE(has_bytes_of(file, blob.digest));
  }
}

TEST_F(BlobDamageOf, ReadingSaysHowFarItIs) {
  std::uint64_t read = 0;
  int times = 0;
  read_damage(store, blob.digest, blob.size, [&](std::uint64_t some) {
    read += some;
    ++times;
  });
  EXPECT_EQ(read, blob.size);
  EXPECT_GT(times, 1);
}

// Not the bytes' fault: nobody knows them.
TEST_F(BlobDamageOf, WhatCannotBeReadIsAnErrorOfTheStore) {
  fs::remove(file);
  fs::create_symlink(file, file);
  EXPECT_EQ(read_damage(store, blob.digest, std::nullopt), "is missing");
  fs::remove(file);
  fs::create_directory(file);
  EXPECT_NE(seen_damage(store, blob.digest, blob.size), "");
}

TEST(BlobStore, ListsItsBlobsAndNothingElse) {
  testing::TemporaryFolder folder;
  BlobStore store(folder / "store");
  EXPECT_TRUE(store.blobs().empty());
  std::vector<Digest> put = {store.put("one", "").digest, store.put("two", "").digest};
  std::sort(put.begin(), put.end());
  RealFileSystem().write(store.root() / "sha256/ab/temporary", "");
  RealFileSystem().write(store.root() / "sha256/ab" / std::string(64, '0'), "");  // in another's folder
  EXPECT_EQ(store.blobs(), put);
  store.remove(put[0]);
  store.remove(put[0]);
  EXPECT_EQ(store.blobs(), std::vector<Digest>{put[1]});
}

}  // namespace
}  // namespace kiln
