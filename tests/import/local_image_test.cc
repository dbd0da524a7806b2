// Definition files that start from images which no registry has: those that others of the tree make, those of
// the Singularity library, and those that nothing makes.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "import/import_fixture.h"
#include "support/input_errors.h"

namespace kiln::testing {
namespace {

std::string from(const std::string& agent, const std::string& what, const std::string& post = "echo app") {
  return "Bootstrap: " + agent + "\nFrom: " + what + "\n%post\n  " + post + "\n";
}

const std::string kBase = "Bootstrap: docker\nFrom: ubuntu:18.04\n%post\n  echo the base\n";

TEST(LocalImages, OfADefinitionFileOfTheTreeAreABase) {
  for (const char* what : {"root.sif", "./root.simg", "root.img", "./root/", "root", "../tree/root.sif",
                           "/home/me/images/root.sif", "images/root.sqsh", "Root.SIF"}) {
    Import import = import_files({{"root.def", kBase}, {"app.def", from("localimage", what)}});
    ASSERT_EQ(images(import), Words({"app.def"})) << what;
    EXPECT_EQ(import.images[0].axes.at("base"), "root@18.04");
    Json base = recipe(import, "base/root");
    EXPECT_EQ(base["methods"]["hub"]["image"], "docker.io/library/ubuntu:{version}");
    EXPECT_EQ(base["methods"]["hub"]["script"], "root.sh");
    EXPECT_NE(import.files.at("recipes/base/root/root.sh").find("echo the base"), std::string::npos);
    EXPECT_EQ(import.files.at("recipes/framework/app/app.sh").find("echo the base"), std::string::npos);
    EXPECT_EQ(remarks_of(import, "local-image"),
              Words({std::string("app.def:2: ") + what + " is made by root.def, which becomes the base"}));
  }
}

// One layer for all images that start from it, with its local files and its environment.
TEST(LocalImages, AreSharedByAllThatStartFromThem) {
  Import import = import_files(
      {{"root.def",
        "Bootstrap: docker\nFrom: ubuntu:18.04\n%files\n  tool.sh /opt/tool.sh\n%post\n  pip install "
        "numpy\n%environment\n  export BASE=1\n"},
       {"tool.sh", "echo tool"},
       {"tf/tf.def", from("localimage", "../root.sif", "pip install tensorflow==2.1.0")},
       {"torch/torch.def", from("localimage", "../root.sif", "pip install torch==1.4.0")}});
  ASSERT_EQ(import.images.size(), 2u);
  for (const ImportedImage& image : import.images) EXPECT_EQ(image.axes.at("base"), "root@18.04");
  Json base = recipe(import, "base/root")["methods"]["hub"];
  EXPECT_EQ(base["files"], Json({"files/root/tool.sh"}));
  EXPECT_EQ(import.files.at("recipes/base/root/files/root/tool.sh"), "echo tool");
  Words all = rules(import);
  EXPECT_NE(std::find(all.begin(), all.end(), "root.def:6 unpinned"), all.end())
      << "it is told of the base itself";
}

TEST(LocalImages, AreFoundWhereTheyAreNearest) {
  const std::string app = from("localimage", "./root/");
  auto base_of = [&](std::map<std::string, std::string> files) {
    files["a/b/app.def"] = app;
    Import import = import_files(files);
    for (const ImportedImage& image : import.images)
      if (image.files[0] == "a/b/app.def") return remarks_of(import, "local-image").at(0);
    return remarks_of(import, "not-imported").at(0);
  };
  EXPECT_EQ(base_of({{"a/root.def", kBase}, {"root.def", kBase}}),
            "a/b/app.def:2: ./root/ is made by a/root.def, which becomes the base");
  EXPECT_EQ(base_of({{"a/root.def", kBase}, {"a/b/root.def", kBase}}),
            "a/b/app.def:2: ./root/ is made by a/b/root.def, which becomes the base");
  EXPECT_EQ(base_of({{"x/y/root.def", kBase}}),
            "a/b/app.def:2: ./root/ is made by x/y/root.def, which becomes the base");
  EXPECT_EQ(base_of({{"root/Singularity", kBase}}),
            "a/b/app.def:2: ./root/ is made by root/Singularity, which becomes the base");
  EXPECT_EQ(
      base_of({{"x/root.def", kBase}, {"y/root.def", kBase}}),
      "a/b/app.def:0: several definition files make './root/': x/root.def, y/root.def; say which image of a "
      "registry takes its place: --base ./root/=REGISTRY/IMAGE:TAG");
}

TEST(LocalImages, OfOneNameAreBasesOfTheirOwn) {
  Import import = import_files({{"a/root.def", kBase},
                                {"a/x.def", from("localimage", "root.sif")},
                                {"b/root.def", from("docker", "debian:12", "echo other")},
                                {"b/y.def", from("localimage", "root.sif")}});
  ASSERT_EQ(import.images.size(), 2u);
  EXPECT_EQ(import.images[0].axes.at("base"), "root@18.04");
  EXPECT_EQ(import.images[1].axes.at("base"), "root-2@12");
  EXPECT_NE(import.files.at("recipes/base/root-2/root-2.sh").find("echo other"), std::string::npos);
}

TEST(LocalImages, AChainIsOneBase) {
  Import import = import_files({{"a.def", from("docker", "debian:12", "echo first")},
                                {"b.def", from("localimage", "a.sif", "echo second")},
                                {"c.def", from("localimage", "b.sif", "echo third")}});
  ASSERT_EQ(images(import), Words({"c.def"}));
  const std::string& script = import.files.at("recipes/base/b/b.sh");
  EXPECT_LT(script.find("echo first"), script.find("echo second"));
  EXPECT_EQ(script.find("echo third"), std::string::npos);
}

TEST(LocalImages, ThatNothingMakesAreSaidPlainly) {
  Import import = import_files({{"ok.def", kBase}, {"app.def", from("localimage", "./gone/")}});
  EXPECT_EQ(
      remarks_of(import, "not-imported"),
      Words({"app.def:2: no definition file of this folder makes './gone/'; put the file that makes it into "
             "the "
             "folder, or say which image of a registry takes its place: --base ./gone/=REGISTRY/IMAGE:TAG"}));
}

TEST(LocalImages, WhoseMakerCannotBeImportedAreSaidToo) {
  Import import = import_files({{"ok.def", kBase},
                                {"root.def", "Bootstrap: yum\nMirrorURL: http://x\n"},
                                {"app.def", from("localimage", "root.sif")}});
  Words all = rules(import);
  EXPECT_NE(std::find(all.begin(), all.end(), "root.def:1 not-imported"), all.end());
  EXPECT_NE(std::find(all.begin(), all.end(), "app.def:2 not-imported"), all.end());
}

TEST(LocalImages, InACircle) {
  Import import = import_files({{"a.def", from("localimage", "b.sif")},
                                {"b.def", from("localimage", "a.sif")},
                                {"self.def", from("localimage", "self.sif")},
                                {"ok.def", kBase}});
  EXPECT_EQ(images(import), Words({"ok.def"}));
  EXPECT_EQ(remarks_of(import, "not-imported").size(), 3u);
  std::map<std::string, std::string> chain = {{"c0.def", kBase}};
  for (int i = 1; i < 40; ++i)
    chain[fmt::format("c{}.def", i)] = from("localimage", fmt::format("c{}.sif", i - 1));
  EXPECT_FALSE(remarks_of(import_files(chain), "not-imported").empty()) << "too long";
}

// kiln does not guess which image of a registry a library's is.
TEST(LibraryImages, AreImportedForSomebodyToDecide) {
  for (const char* what : {"ubuntu:18.04", "library://ubuntu:18.04"}) {
    Import import = import_files({{"app.def", from("library", what)}});
    ASSERT_EQ(import.images.size(), 1u);
    EXPECT_EQ(import.images[0].axes.at("base"), "library-ubuntu@18.04");
    Json base = recipe(import, "base/library-ubuntu");
    EXPECT_EQ(base["methods"]["hub"]["image"], "library.invalid/ubuntu:{version}");
    EXPECT_EQ(
        base["description"],
        "Imported: to be decided. ubuntu is an image of the Singularity library, which no registry has");
    EXPECT_EQ(remarks_of(import, "library-base"),
              Words({"app.def:2: ubuntu:18.04 is an image of the Singularity library, which kiln cannot "
                     "pull; say which image of a registry takes its place: --base "
                     "library://ubuntu:18.04=REGISTRY/IMAGE:TAG"}));
  }
  Import import = import_files(
      {{"app.def",
        "Bootstrap: library\nLibrary: https://my.site/lib\nFrom: me/tools/solver:1.0\n%post\n  true\n"}});
  EXPECT_EQ(import.images[0].axes.at("base"), "library-solver@1.0");
  EXPECT_NE(remarks_of(import, "library-base").at(0).find("the library https://my.site/lib"),
            std::string::npos);
}

TEST(LibraryImages, UnderLocalImagesAreToldOnce) {
  Import import = import_files({{"root.def", from("library", "ubuntu:18.04")},
                                {"a.def", from("localimage", "root.sif")},
                                {"b.def", from("localimage", "./root/")}});
  EXPECT_EQ(remarks_of(import, "library-base").size(), 1u);
  EXPECT_EQ(remarks_of(import, "library-base").at(0).substr(0, 10), "root.def:2");
}

// `ubuntu:18.04` of the library and of Docker Hub are two images.
TEST(LibraryImages, AreGivenABaseOfTheirOwn) {
  ImportOptions options = with_compilers();
  options.bases = {{"library://ubuntu:18.04", "quay.io/site/ubuntu:18.04"}};
  Import import = import_files(
      {{"a.def", from("library", "ubuntu:18.04")}, {"b.def", from("docker", "ubuntu:18.04")}}, options);
  Words images;
  for (const auto& [path, bytes] : import.files)
    if (path.starts_with("recipes/base/")) images.push_back(Json::parse(bytes)["methods"]["hub"]["image"]);
  std::sort(images.begin(), images.end());
  EXPECT_EQ(images, Words({"docker.io/library/ubuntu:{version}", "quay.io/site/ubuntu:{version}"}));
}

TEST(LibraryImages, AreTheBaseOfATwinByName) {
  Import import = import_files(
      {{"a/Dockerfile", "FROM ubuntu:18.04\n"}, {"a/Singularity", from("library", "ubuntu:18.04")}});
  EXPECT_EQ(lines(import),
            Words({"a/Dockerfile:1: differs: base: ubuntu:18.04 / a/Singularity:2: library://ubuntu:18.04"}));
  EXPECT_EQ(remarks_of(import, "library-base"), Words()) << "the Dockerfile's is taken";
}

TEST(GivenBases, TakeThePlaceOfWhatNoRegistryHas) {
  ImportOptions options = with_compilers();
  options.bases = {{"ubuntu:18.04", "docker.io/library/ubuntu:18.04"},
                   {"./gone/", "quay.io/me/gone:2"},
                   {"${BASE_IMAGE}", "debian:12"},
                   {"yum", "centos:7"},
                   {"never", "x:1"}};
  Import import = import_files({{"a.def", from("library", "library://ubuntu:18.04")},
                                {"b.def", from("localimage", "./gone/")},
                                {"c/Dockerfile", "ARG BASE_IMAGE\nFROM ${BASE_IMAGE}\nRUN true\n"},
                                {"d.def", "Bootstrap: yum\nOSVersion: 7\n%post\n  true\n"}},
                               options);
  Words bases;
  for (const ImportedImage& image : import.images) bases.push_back(image.axes.at("base"));
  EXPECT_EQ(bases, Words({"ubuntu@18.04", "gone@2", "debian@12", "centos@7"}));
  EXPECT_EQ(remarks_of(import, "given-base"),
            Words({"--base:0: no file starts from 'never'",
                   "a.def:2: docker.io/library/ubuntu:18.04 takes the place of 'library://ubuntu:18.04'",
                   "b.def:2: quay.io/me/gone:2 takes the place of './gone/'",
                   "c/Dockerfile:2: debian:12 takes the place of '${BASE_IMAGE}'",
                   "d.def:1: centos:7 takes the place of 'yum'"}));
}

TEST(GivenBases, AHeaderThatSaysNothingIsNotGivenOne) {
  Import import =
      import_files({{"ok.def", kBase}, {"a.def", "From: x:1\n%post\n  true\n"}, {"b.def", "just text\n"}});
  Words all = remarks_of(import, "not-imported");
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0], "a.def:1: the file has no 'Bootstrap:'; Bootstrap: docker");
  EXPECT_EQ(all[1].find("--base"), std::string::npos) << all[1];
}

TEST(GivenBases, AnArgumentWithoutAValueSaysHow) {
  Import import =
      import_files({{"a/Dockerfile", "FROM debian:12\n"}, {"b/Dockerfile", "ARG BASE\nFROM ${BASE}\n"}});
  EXPECT_EQ(
      remarks_of(import, "not-imported"),
      Words({"b/Dockerfile:2: kiln cannot start from 'FROM ${BASE}'; say which image of a registry takes its "
             "place: --base '${BASE}=REGISTRY/IMAGE:TAG'"}));
}

}  // namespace
}  // namespace kiln::testing
