#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "factory/oci/layout.h"
#include "factory/package/package.h"
#include "package/packed_image.h"
#include "support/layout.h"
#include "support/temporary_folder.h"

namespace kiln {
namespace {

class Compose : public ::testing::Test {
 protected:
  Compose() {
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
    built.base.emplace().architecture = "arm64";
    spec.environment = {{"OPENBLAS_VERBOSE", "0"}};
    spec.command = {"/bin/bash"};
    spec.labels = {{"org.opencontainers.image.version", "2.6.0"}};
    for (const char* name : {"one", "two"})
      built.layers.push_back({store.put(name, std::string(media_type::kLayerZstd)),
                              Digest::of(std::string("tar ") + name), "k", std::string("step ") + name});
  }

  Artifact composed() { return compose(spec, built, {}, 315532800); }
  // Written as a layout and read again.
  PulledImage written(const Artifact& artifact) {
    write_layout(layout, artifact.image, store, files);
    return read_layout(layout, files);
  }

  testing::TemporaryFolder folder;
  fs::path layout = folder / "images/pytorch/2.6.0";
  BlobStore store{folder / "store"};
  RealFileSystem files;
  ImageSpec spec;
  LayerChain built;
};

TEST_F(Compose, TheRecordSaysWhatTheImageIs) {
  Artifact artifact = composed();
  const ImageRecord& record = artifact.record;
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
  EXPECT_EQ(record.created, "1980-01-01T00:00:00Z");
  EXPECT_EQ(record.manifest, artifact.manifest.digest);
  EXPECT_TRUE(record.attachments.empty());
}

TEST_F(Compose, TheConfigurationIsComplete) {
  PulledImage pulled = written(composed());
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

TEST_F(Compose, ABaseIsInherited) {
  built.base = ImageConfig{};
  built.base->architecture = "ppc64le";
  built.base->env = {"PATH=/opt/bin", "OPENBLAS_VERBOSE=9"};
  built.base->entrypoint = {"/entry"};
  built.base->labels = {{"base", "yes"}};
  built.base->diff_ids = {Digest::of("tar one")};
  built.base->history = {{"", "ADD base", false}, {"", "CMD sh", true}};
  PulledImage pulled = written(composed());
  EXPECT_EQ(pulled.config.architecture, "ppc64le");
  EXPECT_EQ(pulled.config.env, (std::vector<std::string>{"PATH=/opt/bin", "OPENBLAS_VERBOSE=0"}));
  EXPECT_TRUE(pulled.config.entrypoint.empty()) << "it would take the command for its words";
  EXPECT_EQ(pulled.config.labels.at("base"), "yes");
  ASSERT_EQ(pulled.config.history.size(), 3u);
  EXPECT_EQ(pulled.config.history[0].created_by, "ADD base");
  EXPECT_EQ(pulled.config.history[2].created_by, "step two");
  built.base->history = {{"", "CMD sh", true}};  // says nothing of its layer: worthless
  pulled = written(composed());
  ASSERT_EQ(pulled.config.history.size(), 2u);
  EXPECT_EQ(pulled.config.history[0].created_by, "step one");
}

TEST_F(Compose, TheManifestIsTheOneThatIsWritten) {
  Artifact artifact = composed();
  EXPECT_EQ(write_layout(layout, artifact.image, store, files).manifest, artifact.manifest);
  EXPECT_EQ(composed().manifest, artifact.manifest) << "the same bits from the same image";
}

TEST_F(Compose, EvidenceIsInTheLabels) {
  EvidenceRecord evidence;
  evidence.verdict = "conforms";
  evidence.unconditional = {"avx", "avx2"};
  evidence.flags = {"gcc 14: -O2", "gcc 14: -O3"};
  Artifact artifact = compose(spec, built, evidence, 315532800);
  for (const auto* labels : {&artifact.record.labels, &artifact.image.config.labels}) {
    EXPECT_EQ(labels->at("io.kiln.evidence.verdict"), "conforms");
    EXPECT_EQ(labels->at("io.kiln.evidence.unconditional"), "avx avx2");
    EXPECT_EQ(labels->at("io.kiln.evidence.flags"), "gcc 14: -O2; gcc 14: -O3");
    EXPECT_FALSE(labels->contains("io.kiln.evidence.gpu")) << "there is none";
  }
  EXPECT_EQ(artifact.record.evidence.unconditional, evidence.unconditional);
  EXPECT_NE(artifact.manifest.digest, composed().manifest.digest);
}

TEST_F(Compose, WhatItNeedsOfAHostIsInRecordAndLabels) {
  spec.target.accelerators = {"nvidia:sm_80"};
  spec.components.push_back({Kind::distributed, "openmpi", Version("4.1.6"), "distro", false, true, ""});
  spec.labels["io.kiln.facts.cuda"] = "12.9";
  spec.labels["io.kiln.facts.python"] = "3.12";
  EvidenceRecord evidence;
  evidence.verdict = "conforms";
  evidence.glibc = "2.38";
  evidence.glibc_provided = "2.39";
  const Artifact artifact = compose(spec, built, evidence, 315532800);
  EXPECT_EQ(to_json(artifact.record.needs).dump(),
            R"({"cuda":"12.9","driver":"525.60.13","glibc":"2.39","kernel":"3.7","mpi":"openmpi@4.1.6"})")
      << "the base is for arm64";
  EXPECT_EQ(artifact.record.facts,
            (std::map<std::string, std::string>{{"cuda", "12.9"}, {"python", "3.12"}}));
  for (const auto* labels : {&artifact.record.labels, &artifact.image.config.labels}) {
    EXPECT_EQ(labels->at("io.kiln.requires.driver"), "525.60.13");
    EXPECT_EQ(labels->at("io.kiln.requires.mpi"), "openmpi@4.1.6");
    EXPECT_EQ(labels->at("io.kiln.evidence.glibc"), "2.38");
  }
  const ImageRecord again =
      image_record_from_json(JsonDocument::parse(to_json(artifact.record).dump(), "r").root());
  EXPECT_EQ(to_json(again), to_json(artifact.record));
}

// A cell that is not built is judged by what it declares: packaging adds to that, and changes none of it.
TEST_F(Compose, TheRecordIsTheDeclaredOneAndWhatWasFound) {
  spec.target.accelerators = {"nvidia:sm_80"};
  spec.components.push_back({Kind::distributed, "openmpi", Version("4.1.6"), "distro", false, true, ""});
  spec.labels["io.kiln.facts.cuda"] = "12.9";
  spec.labels["io.kiln.facts.glibc"] = "2.36";
  spec.labels["io.kiln.facts.cpu_vendor"] = "GenuineIntel";
  ImageRecord composed = this->composed().record;
  EXPECT_EQ(composed.needs.glibc.text(), "2.36") << "nothing else was found";
  composed.manifest = {};
  composed.size = 0;
  composed.created.clear();
  EXPECT_EQ(to_json(declared_record(spec, "arm64")), to_json(composed));
  EvidenceRecord evidence;
  evidence.glibc_provided = "2.39";
  EXPECT_EQ(to_json(declared_record(spec, "arm64", "2.39").needs),
            to_json(compose(spec, built, evidence, 0).record.needs));
}

TEST_F(Compose, AComponentSaysItsDriver) {
  spec.target.accelerators = {"nvidia:sm_80"};
  spec.labels["io.kiln.facts.cuda"] = "12.9";
  spec.labels["io.kiln.facts.driver"] = "560";
  EXPECT_EQ(composed().record.needs.driver.text(), "560");
  spec.target.accelerators.clear();
  EXPECT_EQ(composed().record.needs.driver.text(), "") << "an image for processors asks for no driver";
}

TEST_F(Compose, TheLayoutIsWhatOciSays) {
  Artifact artifact = composed();
  written(artifact);
  EXPECT_EQ(files.read(layout / "oci-layout"), R"({"imageLayoutVersion":"1.0.0"})");
  Json index = Json::parse(files.read(layout / "index.json").value());
  EXPECT_EQ(index["schemaVersion"], 2);
  EXPECT_EQ(index["manifests"].size(), 1u);
  EXPECT_EQ(index["manifests"][0]["digest"], artifact.manifest.digest.text());
  EXPECT_EQ(index["manifests"][0]["annotations"]["org.opencontainers.image.ref.name"], "2.6.0-distro");
  EXPECT_EQ(files.list(layout / "blobs/sha256").size(), 4u);
  EXPECT_EQ(fs::hard_link_count(blob_in_layout(layout, built.layers[0].blob.digest)), 2u)
      << "no second copy on disk";
  EXPECT_EQ(files.list(layout.parent_path()), std::vector<std::string>{layout.filename()});
}

TEST_F(Compose, ReferrersStandBesideTheImage) {
  Artifact artifact = composed();
  Attachment spdx =
      attach({"spdx", "application/spdx+json", "{\"bill\":1}"}, artifact.manifest, 315532800, store);
  artifact.image.referrers = {referrer_descriptor(spdx, store)};
  PulledImage pulled = written(artifact);
  Json index = Json::parse(files.read(layout / "index.json").value());
  ASSERT_EQ(index["manifests"].size(), 2u);
  EXPECT_EQ(index["manifests"][0]["digest"], artifact.manifest.digest.text());
  EXPECT_EQ(index["manifests"][1]["artifactType"], "application/spdx+json");
  EXPECT_EQ(index["manifests"][1]["digest"], spdx.referrer.text());
  EXPECT_FALSE(index["manifests"][1]["annotations"].contains("org.opencontainers.image.ref.name"));
  Json manifest = Json::parse(files.read(blob_in_layout(layout, spdx.referrer)).value());
  EXPECT_EQ(manifest["subject"]["digest"], artifact.manifest.digest.text());
  EXPECT_EQ(manifest["config"]["mediaType"], "application/vnd.oci.empty.v1+json");
  EXPECT_EQ(files.read(blob_in_layout(layout, Digest::of("{}"))), "{}");
  EXPECT_EQ(files.read(blob_in_layout(layout, spdx.blob.digest)), "{\"bill\":1}");
  EXPECT_EQ(pulled.config.labels, spec.labels) << "readers of the one image still see one image";
}

TEST_F(Compose, NewLabelsReplaceTheLayout) {
  Artifact old = composed();
  written(old);
  spec.labels["new"] = "label";
  Artifact now = composed();
  EXPECT_NE(now.manifest, old.manifest);
  EXPECT_EQ(written(now).config.labels.at("new"), "label");
  EXPECT_EQ(files.list(layout.parent_path()).size(), 1u);
}

using Strings = std::vector<std::string>;

class Documents : public testing::PackedImage {
 protected:
  Artifact with_documents(EvidenceRecord evidence = {}) {
    return attach_documents(compose(spec(), built, std::move(evidence), testing::kEpoch), spec(), "demo",
                            origin, inventory, facts, store);
  }
  static Strings kinds(const Artifact& artifact) {
    Strings kinds;
    for (const Attachment& attachment : artifact.record.attachments) kinds.push_back(attachment.kind);
    return kinds;
  }
  Json document(const Artifact& artifact, const std::string& kind) {
    return Json::parse(store.read(artifact.record.attachment(kind)->blob.digest));
  }

  sbom::RecipeOrigin origin;
  sbom::Inventory inventory;
  DocumentFacts facts{testing::kEpoch, "0.1", "0.2.7", "https://ci.example/"};
};

TEST_F(Documents, EachIsAReferrerOfTheImage) {
  Artifact artifact = with_documents();
  EXPECT_EQ(kinds(artifact), (Strings{"spdx", "cyclonedx", "provenance"}));
  ASSERT_EQ(artifact.image.referrers.size(), 3u);
  for (std::size_t i = 0; i < 3; ++i) {
    const Attachment& attachment = artifact.record.attachments[i];
    EXPECT_EQ(artifact.image.referrers[i].digest, attachment.referrer);
    Json manifest = Json::parse(store.read(attachment.referrer));
    EXPECT_EQ(manifest["subject"]["digest"], artifact.manifest.digest.text());
    EXPECT_EQ(manifest["artifactType"], attachment.blob.media_type);
  }
  EXPECT_EQ(manifest_descriptor(artifact.image).digest, artifact.manifest.digest)
      << "documents do not change the image";
}

TEST_F(Documents, TheySayWhatTheImageIs) {
  spec().labels["org.opencontainers.image.title"] = "OpenBLAS 0.3";
  inventory.packages.emplace_back().name = "libc6";
  Artifact artifact = with_documents();
  Json spdx = document(artifact, "spdx");
  EXPECT_NE(spdx.dump().find("libc6"), std::string::npos);
  EXPECT_NE(spdx.dump().find("OpenBLAS 0.3"), std::string::npos);
  Json provenance = document(artifact, "provenance");
  EXPECT_EQ(provenance["subject"][0]["digest"]["sha256"], artifact.manifest.digest.hex());
  EXPECT_EQ(provenance["predicate"]["runDetails"]["builder"]["id"], "https://ci.example/");
}

TEST_F(Documents, TheEvidenceReportIsOneOfThem) {
  EvidenceRecord evidence;
  evidence.verdict = "conforms";
  evidence.report = store.put("{\"verdict\":\"conforms\"}", std::string(kEvidenceType)).digest;
  Artifact artifact = with_documents(evidence);
  EXPECT_EQ(kinds(artifact), (Strings{"spdx", "cyclonedx", "provenance", "evidence"}));
  EXPECT_EQ(artifact.record.attachment("evidence")->blob.digest, evidence.report);
}

TEST_F(Documents, TheSameImageGivesTheSameDocuments) {
  Artifact first = with_documents();
  Artifact second = with_documents();
  for (std::size_t i = 0; i < 3; ++i)
    EXPECT_EQ(first.record.attachments[i].referrer, second.record.attachments[i].referrer);
}

TEST_F(Documents, AreReadBackFromALayout) {
  Artifact artifact = with_documents();
  fs::path layout = folder / "layout";
  write_layout(layout, artifact.image, store, files);
  auto opened = SourceImage::open({"oci", layout.string(), ""}, "amd64");
  EXPECT_EQ(Json::parse(read_referrer(opened, "spdx").value()), document(artifact, "spdx"));
  EXPECT_EQ(Json::parse(read_referrer(opened, "provenance").value()), document(artifact, "provenance"));
  EXPECT_EQ(
      referrers_text(opened, "it"),
      "the referrers of " + artifact.manifest.digest.text() +
          " in it are application/spdx+json, application/vnd.cyclonedx+json, application/vnd.in-toto+json");
}

TEST_F(Documents, AnImageWithoutAnySaysSo) {
  Artifact artifact = compose(spec(), built, {}, testing::kEpoch);
  fs::path layout = folder / "layout";
  write_layout(layout, artifact.image, store, files);
  auto opened = SourceImage::open({"oci", layout.string(), ""}, "amd64");
  EXPECT_FALSE(read_referrer(opened, "spdx"));
  EXPECT_EQ(referrers_text(opened, "it"),
            "there are no referrers of " + artifact.manifest.digest.text() + " in it");
}

TEST_F(Documents, AnotherStatementIsNoProvenance) {
  Artifact artifact = compose(spec(), built, {}, testing::kEpoch);
  Attachment other = attach(
      {"provenance", "application/vnd.in-toto+json", R"({"predicateType": "https://example.org/scan"})"},
      artifact.manifest, testing::kEpoch, store);
  artifact.image.referrers = {referrer_descriptor(other, store)};
  fs::path layout = folder / "layout";
  write_layout(layout, artifact.image, store, files);
  auto opened = SourceImage::open({"oci", layout.string(), ""}, "amd64");
  EXPECT_FALSE(read_referrer(opened, "provenance"));
}

TEST_F(Documents, ABillOfAnyImageIsMadeFromItsLayers) {
  testing::TestLayout layout;
  layout.one_image({testing::short_tar(
      {"d var/", "d var/lib/", "d var/lib/dpkg/",
       "f var/lib/dpkg/status=Package: libc6\nStatus: install ok installed\nVersion: 2.41\n"})});
  auto opened = SourceImage::open({"oci", layout.path(), ""}, "amd64");
  Json spdx = Json::parse(make_bill(opened, "oci:somewhere", "spdx", testing::kEpoch, "0.1"));
  EXPECT_EQ(spdx["spdxVersion"], "SPDX-2.3");
  EXPECT_NE(spdx.dump().find("libc6"), std::string::npos);
  Json cyclonedx = Json::parse(make_bill(opened, "oci:somewhere", "cyclonedx", testing::kEpoch, "0.1"));
  EXPECT_EQ(cyclonedx["bomFormat"], "CycloneDX");
}

}  // namespace

}  // namespace kiln
