#include "factory/record/image_blobs.h"

#include "index/samples.h"

namespace kiln {
namespace {

using testing::MemoryFolder;
using testing::read_bytes;
using testing::stored_image;
using testing::write_bytes;

// An image with a SIF and a bill.
class ImageBlobs : public ::testing::Test {
 protected:
  ImageBlobs() {
    Manifest referrer;
    referrer.config = store.put("{}", std::string(media_type::kEmpty));
    Descriptor bill = store.put("bill of materials", "application/spdx+json");
    referrer.layers = {bill};
    Digest manifest = store.put(to_json(referrer).dump(), std::string(media_type::kManifest)).digest;
    image.attachments = {{"spdx", bill, manifest}, {"sif", store.put("the SIF", "sif"), {}}};
  }
  std::string damage() {
    auto damaged = first_damage(blobs_of(image, store));
    return damaged ? damaged->what + " " + damaged->damage : "";
  }

  MemoryFolder folder;
  BlobStore store{folder.path() / "store"};
  ImageRecord image = stored_image(store, "a", "one");
};

TEST_F(ImageBlobs, AreAllThatAnImageConsistsOf) {
  std::vector<std::string> names;
  for (const ImageBlob& blob : blobs_of(image, store)) {
    names.push_back(blob.what + (blob.role == ImageBlob::Role::apart ? " apart" : ""));
    EXPECT_EQ(store.size_of(blob.digest), blob.size) << blob.what;
    EXPECT_EQ(blob.damage, "");
  }
  EXPECT_EQ(names, (std::vector<std::string>{"manifest", "configuration", "layer 1", "spdx",
                                             "referrer of spdx", "configuration of referrers", "sif apart"}));
}

TEST_F(ImageBlobs, EachIsMissedWhenItIsGoneOrHasAnotherSize) {
  for (const ImageBlob& blob : blobs_of(image, store)) {
    const fs::path file = store.path(blob.digest);
    const std::string bytes = read_bytes(file);
    fs::remove(file);
    EXPECT_EQ(damage(), blob.what + " is missing");
    for (const std::string& other : {std::string(), bytes.substr(1), bytes + "x"}) {
      write_bytes(file, other);
      EXPECT_TRUE(damage().starts_with(blob.what)) << damage();
    }
    fs::remove(file);
    fs::create_directory(file);
    EXPECT_EQ(damage(), blob.what + " is missing") << "a folder is no blob";
    fs::remove(file);
    write_bytes(file, bytes);
    EXPECT_EQ(damage(), "");
  }
}

TEST_F(ImageBlobs, AManifestIsHeldAgainstItsDigest) {
  std::string bytes = read_bytes(store.path(image.manifest));
  bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 1);
  write_bytes(store.path(image.manifest), bytes);
  EXPECT_EQ(damage(), "manifest does not have the bytes that were written");
}

TEST_F(ImageBlobs, DamageNamesImageBlobAndRemedy) {
  Digest layer = Digest::of("layer of one");
  write_bytes(store.path(layer), "");
  Error error = damage_error(image, *first_damage(blobs_of(image, store)));
  EXPECT_EQ(error.code(), ExitCode::store);
  EXPECT_EQ(error.format(),
            "error: pytorch:a is damaged: layer 1, " + layer.text() +
                ", is empty; `kiln index fsck --repair` mends what it can, the next `kiln build` makes the "
                "rest again");
}

}  // namespace
}  // namespace kiln
