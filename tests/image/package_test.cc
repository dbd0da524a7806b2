#include "image/package.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "image/oci_layout.h"
#include "registry/referrer.h"
#include "support/temporary_folder.h"

namespace kiln {
namespace {

class Package : public ::testing::Test {
 protected:
  Package() {
    spec.repository = "pytorch";
    spec.tag = "2.6.0-distro";
    spec.immutable_tag = "2.6.0-distro-0123456789ab";
    spec.key = std::string(64, 'a');
    spec.request.id = "cell";
    spec.target.cpu = "x86_64_v3";
    spec.components = {{Kind::base, "debian", Version("trixie"), "distro"},
                       {Kind::library, "openblas", Version("0.3"), "distro", true},
                       {Kind::framework, "pytorch", Version("2.6.0"), "distro"}};
    spec.optimised = true;
    last.base.emplace().architecture = "arm64";
    spec.environment = {{"OPENBLAS_VERBOSE", "0"}};
    spec.command = {"/bin/bash"};
    spec.labels = {{"org.opencontainers.image.version", "2.6.0"}};
    for (const char* name : {"one", "two"})
      last.layers.push_back({store.put(name, std::string(media_type::kLayerZstd)),
                             Digest::of(std::string("tar ") + name), "k", std::string("step ") + name});
  }

  ImageRecord package() { return package_image(spec, last, state, store, files, 315532800); }
  PulledImage image(const ImageRecord& record) { return read_layout(state.root() / record.layout, files); }

  testing::TemporaryFolder folder;
  StatePaths state{folder / "state"};
  BlobStore store{state.store()};
  RealFileSystem files;
  ImageSpec spec;
  StepRecord last;
};

TEST_F(Package, TheRecordSaysWhatTheImageIs) {
  ImageRecord record = package();
  EXPECT_EQ(record.repository, "pytorch");
  EXPECT_EQ(record.tag, "2.6.0-distro");
  EXPECT_EQ(record.immutable_tag, "2.6.0-distro-0123456789ab");
  EXPECT_EQ(record.key, spec.key);
  EXPECT_EQ(record.cell, "cell");
  EXPECT_EQ(record.application, "pytorch");
  EXPECT_EQ(record.version.text(), "2.6.0");
  EXPECT_EQ(record.method, "distro");
  EXPECT_TRUE(record.optimised);
  ASSERT_EQ(record.components.size(), 3u);
  EXPECT_EQ(record.components[1].name, "openblas");
  EXPECT_TRUE(record.components[1].optimised);
  EXPECT_EQ(record.cpu, "x86_64_v3");
  EXPECT_EQ(record.size, 6u);
  EXPECT_EQ(record.layout, "images/pytorch/2.6.0-distro-0123456789ab");
  EXPECT_EQ(record.created, "1980-01-01T00:00:00Z");
  auto bytes = files.read(state.built(record_name(spec))).value();
  EXPECT_EQ(image_record_from_json(JsonDocument::parse(bytes, "built").root()).manifest, record.manifest);
}

TEST_F(Package, TheConfigurationIsComplete) {
  PulledImage pulled = image(package());
  EXPECT_EQ(pulled.config.architecture, "arm64") << "the base's";
  EXPECT_EQ(pulled.config.variant, "");
  EXPECT_EQ(pulled.config.env,
            (std::vector<std::string>{"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
                                      "OPENBLAS_VERBOSE=0"}));
  EXPECT_EQ(pulled.config.cmd, (std::vector<std::string>{"/bin/bash"}));
  EXPECT_EQ(pulled.config.labels, spec.labels);
  EXPECT_EQ(pulled.config.created, "1980-01-01T00:00:00Z");
  EXPECT_EQ(pulled.config.diff_ids, (std::vector<Digest>{Digest::of("tar one"), Digest::of("tar two")}));
  ASSERT_EQ(pulled.config.history.size(), 2u);
  EXPECT_EQ(pulled.config.history[1].created_by, "step two");
}

TEST_F(Package, ABaseIsInherited) {
  last.base = ImageConfig{};
  last.base->architecture = "ppc64le";
  last.base->env = {"PATH=/opt/bin", "OPENBLAS_VERBOSE=9"};
  last.base->entrypoint = {"/entry"};
  last.base->labels = {{"base", "yes"}};
  last.base->diff_ids = {Digest::of("tar one")};
  last.base->history = {{"", "ADD base", false}, {"", "CMD sh", true}};
  PulledImage pulled = image(package());
  EXPECT_EQ(pulled.config.architecture, "ppc64le");
  EXPECT_EQ(pulled.config.env, (std::vector<std::string>{"PATH=/opt/bin", "OPENBLAS_VERBOSE=0"}));
  EXPECT_EQ(pulled.config.entrypoint, (std::vector<std::string>{"/entry"}));
  EXPECT_EQ(pulled.config.labels.at("base"), "yes");
  ASSERT_EQ(pulled.config.history.size(), 3u);
  EXPECT_EQ(pulled.config.history[0].created_by, "ADD base");
  EXPECT_EQ(pulled.config.history[2].created_by, "step two");
  last.base->history = {{"", "CMD sh", true}};  // says nothing of its layer: worthless
  pulled = image(package());
  ASSERT_EQ(pulled.config.history.size(), 2u);
  EXPECT_EQ(pulled.config.history[0].created_by, "step one");
}

TEST_F(Package, TheSameImageGivesTheSameBytes) {
  Digest first = package().manifest;
  fs::remove_all(state.root() / "images");
  EXPECT_EQ(package().manifest, first);
}

TEST_F(Package, TheLayoutIsWhatOciSays) {
  ImageRecord record = package();
  fs::path layout = state.root() / record.layout;
  EXPECT_EQ(files.read(layout / "oci-layout"), R"({"imageLayoutVersion":"1.0.0"})");
  Json index = Json::parse(files.read(layout / "index.json").value());
  EXPECT_EQ(index["schemaVersion"], 2);
  EXPECT_EQ(index["manifests"].size(), 1u);
  EXPECT_EQ(index["manifests"][0]["digest"], record.manifest.text());
  EXPECT_EQ(index["manifests"][0]["annotations"]["org.opencontainers.image.ref.name"], "2.6.0-distro");
  EXPECT_EQ(files.list(layout / "blobs/sha256").size(), 4u);
  EXPECT_EQ(fs::hard_link_count(blob_in_layout(layout, last.layers[0].blob.digest)), 2u)
      << "no second copy on disk";
  EXPECT_EQ(files.list(layout.parent_path()), std::vector<std::string>{layout.filename()});
}

TEST_F(Package, DocumentsAreReferrersOfTheManifest) {
  Descriptor subject = manifest_descriptor(compose_image(spec, last, 315532800, {}));
  Attachment spdx = attach({"spdx", "application/spdx+json", "{\"bill\":1}"}, subject, 315532800, store);
  ImageRecord record = package_image(spec, last, state, store, files, 315532800, {}, {spdx});
  EXPECT_EQ(record.manifest, subject.digest);
  ASSERT_NE(record.attachment("spdx"), nullptr);
  fs::path layout = state.root() / record.layout;
  Json index = Json::parse(files.read(layout / "index.json").value());
  ASSERT_EQ(index["manifests"].size(), 2u);
  EXPECT_EQ(index["manifests"][1]["artifactType"], "application/spdx+json");
  EXPECT_EQ(index["manifests"][1]["digest"], spdx.referrer.text());
  EXPECT_FALSE(index["manifests"][1]["annotations"].contains("org.opencontainers.image.ref.name"));
  Json manifest = Json::parse(files.read(blob_in_layout(layout, spdx.referrer)).value());
  EXPECT_EQ(manifest["subject"]["digest"], record.manifest.text());
  EXPECT_EQ(manifest["config"]["mediaType"], "application/vnd.oci.empty.v1+json");
  EXPECT_EQ(files.read(blob_in_layout(layout, Digest::of("{}"))), "{}");
  EXPECT_EQ(files.read(blob_in_layout(layout, spdx.blob.digest)), "{\"bill\":1}");
  // Readers of the one image still see one image, and the image is what it was without its documents.
  EXPECT_EQ(image(record).config.labels, spec.labels);
  EXPECT_EQ(package().manifest, record.manifest);
}

TEST_F(Package, NewLabelsReplaceTheLayout) {
  Digest old = package().manifest;
  spec.labels["new"] = "label";
  ImageRecord record = package();
  EXPECT_NE(record.manifest, old);
  EXPECT_EQ(image(record).config.labels.at("new"), "label");
  EXPECT_EQ(files.list(state.root() / "images/pytorch").size(), 1u);
}

TEST_F(Package, ALayerThatIsNotThereLeavesNothing) {
  fs::remove(store.path(last.layers[1].blob.digest));
  EXPECT_THROW(package(), Error);
  EXPECT_FALSE(files.exists(state.built(record_name(spec))));
  EXPECT_TRUE(files.list(state.root() / "images/pytorch").empty());
}

TEST(ReadLayout, SaysWhatIsWrong) {
  testing::TemporaryFolder folder;
  RealFileSystem files;
  EXPECT_THROW(read_layout(folder / "nothing", files), Error);
  folder.write("l/index.json", R"({"manifests": []})");
  try {
    read_layout(folder / "l", files);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.where().pointer, "/manifests");
    EXPECT_EQ(error.message(), "expected one image");
  }
}

}  // namespace
}  // namespace kiln
