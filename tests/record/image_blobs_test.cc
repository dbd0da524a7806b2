#include "factory/record/image_blobs.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "factory/base/effects.h"
#include "factory/oci/layout.h"
#include "index/samples.h"
#include "support/temporary_folder.h"

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

namespace fs = std::filesystem;
namespace {

// An image with a layout and a SIF.
class ImageCheck : public ::testing::Test {
 protected:
  ImageCheck() {
    LayoutImage made;
    made.layers = {store.put("the layer", std::string(media_type::kLayerZstd))};
    made.tag = "1";
    image.repository = "hello";
    image.tag = "1";
    image.layout = "images/hello/1-k";
    image.manifest = write_layout(state / image.layout, made, store, files).manifest.digest;
    image.attachments = {{"sif", store.put("the SIF", "sif"), {}}};
  }
  template <typename Check>
  std::string damage(Check&& check) {
    try {
      check();
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::store);
      EXPECT_NE(error.message().find("hello:1"), std::string::npos) << error.message();
      EXPECT_FALSE(error.hint().empty());
      return error.message();
    }
    return "";
  }
  std::string layout() {
    return damage([&] { check_layout(state, image); });
  }
  std::string sif(const fs::path& file) {
    return damage([&] { check_sif(state, image, file); });
  }
  bool has(const std::string& text, const std::string& words) {
    return text.find(words) != std::string::npos;
  }

  testing::TemporaryFolder folder;
  fs::path state = folder / "state";
  BlobStore store{state / "store"};
  RealFileSystem files;
  ImageRecord image;
  Digest layer = Digest::of("the layer");
};

TEST_F(ImageCheck, WhatIsWholeIsNoError) {
  check_blobs(state, image);
  EXPECT_EQ(layout(), "");
  EXPECT_EQ(sif(store.path(image.attachments[0].blob.digest)), "");
}

TEST_F(ImageCheck, ACutLayerIsDamage) {
  fs::resize_file(store.path(layer), 3);
  for (const std::string& found : {damage([&] { check_blobs(state, image); }), layout(), sif("/nowhere/x")})
    EXPECT_TRUE(has(found, "layer 1, " + layer.text() + ", has 3 of 9 bytes")) << found;
}

TEST_F(ImageCheck, ALayoutIsMissedWholeAndInParts) {
  fs::path made = state / image.layout;
  fs::path blob = blob_in_layout(made, layer);
  fs::remove(blob);
  EXPECT_TRUE(has(layout(), "has no blobs/sha256/" + layer.hex())) << layout();
  files.write(blob, "the");
  EXPECT_TRUE(has(layout(), "has 3 of 9 bytes of blobs/sha256/" + layer.hex())) << layout();
  files.write(blob, "the layer");
  EXPECT_EQ(layout(), "");
  for (const char* name : {"oci-layout", "index.json"}) {
    std::string bytes = files.read(made / name).value();
    fs::remove(made / name);
    EXPECT_TRUE(has(layout(), std::string("has no ") + name)) << layout();
    files.write(made / name, bytes);
  }
  files.write(made / "index.json", "");
  EXPECT_TRUE(has(layout(), "has no index.json that can be read")) << layout();
  fs::remove_all(made);
  EXPECT_TRUE(has(layout(), "is missing")) << layout();
}

TEST_F(ImageCheck, ALayoutWithNewLabelsIsNoDamage) {
  LayoutImage newer;
  newer.layers = {store.put("the layer", std::string(media_type::kLayerZstd))};
  newer.tag = "1";
  newer.annotations = {{"new", "label"}};
  write_layout(state / image.layout, newer, store, files);
  EXPECT_EQ(layout(), "");
  fs::remove(blob_in_layout(state / image.layout, manifest_descriptor(newer).digest));
  EXPECT_TRUE(has(layout(), "has no blobs/sha256/")) << layout();
}

TEST_F(ImageCheck, ASifIsLookedAtWhereItsFolderIs) {
  EXPECT_EQ(sif("/of/another/machine/hello_1.sif"), "");
  fs::path file = folder / "sifs/hello_1.sif";
  fs::create_directories(file.parent_path());
  EXPECT_TRUE(has(sif(file), "it is missing")) << sif(file);
  files.write(file, "");
  EXPECT_TRUE(has(sif(file), "it has 0 of 7 bytes")) << sif(file);
  files.write(file, "the SIF");
  EXPECT_EQ(sif(file), "");
}

}  // namespace

}  // namespace kiln
