// Which Dockerfile and which definition file are one image, as people lay them out.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "factory/import/imported_files.h"
#include "import/import_fixture.h"

namespace kiln::testing {
namespace {

std::string dockerfile_of(const std::string& version = "2.1.0", const std::string& base = "ubuntu:18.04") {
  return "FROM " + base + "\nRUN pip install tensorflow==" + version + "\n";
}

std::string def_of(const std::string& version = "2.1.0", const std::string& base = "ubuntu:18.04") {
  return "Bootstrap: docker\nFrom: " + base + "\n%post\n  pip install tensorflow==" + version + "\n";
}

TEST(Twins, BesideADockerfileUnderAnyNameOfADefinitionFile) {
  for (const char* name :
       {"Singularity", "Singularity.def", "singularity.def", "Apptainer", "apptainer.def",
        "Singularity.tf-2.1", "Singularity.tf-2.1.def", "Apptainer.tf", "tf.def", "app.def"})
    EXPECT_EQ(
        images(import_files({{"app/Dockerfile", dockerfile_of()}, {std::string("app/") + name, def_of()}})),
        Words({std::string("app/Dockerfile+app/") + name}));
  for (const char* name : {"Containerfile", "Dockerfile.tf", "tf.dockerfile", "tf-2.1.Dockerfile"})
    EXPECT_EQ(
        images(import_files({{std::string("app/") + name, dockerfile_of()}, {"app/Singularity", def_of()}})),
        Words({std::string("app/") + name + "+app/Singularity"}));
  EXPECT_EQ(images(import_files({{"Dockerfile", dockerfile_of()}, {"Singularity.def", def_of()}})),
            Words({"Dockerfile+Singularity.def"}))
      << "in the imported folder itself";
}

TEST(Twins, AreOneRecipeAndTheirDifferencesAreTold) {
  Import import =
      import_files({{"2.1/gpu/Dockerfile", dockerfile_of("2.1.0", "nvidia/cuda:10.1")},
                    {"2.1/gpu/Singularity.tensorflow-2.1-gpu-src", def_of("2.1.1", "nvidia/cuda:10.1")}});
  ASSERT_EQ(import.images.size(), 1u);
  EXPECT_EQ(lines(import), Words({"2.1/gpu/Dockerfile:2: differs: pip tensorflow: ==2.1.0 / "
                                  "2.1/gpu/Singularity.tensorflow-2.1-gpu-src:4: ==2.1.1"}));
  EXPECT_EQ(import.images[0].axes.at("method"), "source") << "the name that says more";
  EXPECT_EQ(import.images[0].axes.at("target"), "x86_64,nvidia:sm_70");
  EXPECT_NE(import.files.find("recipes/framework/tensorflow/tensorflow-2.1-gpu-src.sh"), import.files.end());
}

TEST(Twins, WheelsByTheirFilesAreCompared) {
  Import import =
      import_files({{"a/Dockerfile",
                     "FROM debian:12\nRUN pip3 install pkg/tensorflow-2.1.1-cp36-cp36m-linux_x86_64.whl\n"},
                    {"a/Singularity",
                     "Bootstrap: docker\nFrom: debian:12\n%post\n pip3 install "
                     "pkg/tensorflow-2.1.0-cp36-cp36m-linux_x86_64.whl\n"}});
  EXPECT_EQ(lines(import),
            Words({"a/Dockerfile:2: differs: wheel tensorflow: 2.1.1 / a/Singularity:4: 2.1.0"}));
}

TEST(Twins, OfOneNameInOneFolder) {
  EXPECT_EQ(images(import_files({{"a/tf.Dockerfile", dockerfile_of("1.1")},
                                 {"a/tf.def", def_of("1.1")},
                                 {"a/Dockerfile.gpu", dockerfile_of("1.2")},
                                 {"a/Singularity.gpu", def_of("1.2")},
                                 {"a/Dockerfile", dockerfile_of("1.3")},
                                 {"a/Singularity.def", def_of("1.3")},
                                 {"a/Dockerfile.X", dockerfile_of("1.4")},
                                 {"a/apptainer.x.def", def_of("1.4")}})),
            Words({"a/Dockerfile+a/Singularity.def", "a/Dockerfile.gpu+a/Singularity.gpu",
                   "a/tf.Dockerfile+a/tf.def", "a/Dockerfile.X+a/apptainer.x.def"}));
}

TEST(Twins, InFoldersThatSayTheFormatOnly) {
  EXPECT_EQ(
      images(import_files({{"a/docker/Dockerfile", dockerfile_of("1.1")},
                           {"a/singularity/Singularity.def", def_of("1.1")},
                           {"b/Docker/tf.Dockerfile", dockerfile_of("1.2")},
                           {"b/defs/tf.def", def_of("1.2")},
                           {"docker/Dockerfile", dockerfile_of("1.3")},
                           {"apptainer/Apptainer", def_of("1.3")}})),
      Words({"docker/Dockerfile+apptainer/Apptainer", "a/docker/Dockerfile+a/singularity/Singularity.def",
             "b/Docker/tf.Dockerfile+b/defs/tf.def"}));
}

// The file in the same folder comes before the one of the same name elsewhere.
TEST(Twins, TheNearerOneComesFirst) {
  EXPECT_EQ(images(import_files({{"a/Dockerfile", dockerfile_of("1.1")},
                                 {"a/Singularity", def_of("1.1")},
                                 {"a/docker/Dockerfile", dockerfile_of("1.2")},
                                 {"a/docker/Singularity", def_of("1.2")}})),
            Words({"a/Dockerfile+a/Singularity", "a/docker/Dockerfile+a/docker/Singularity"}));
}

TEST(Twins, SeveralDefinitionFilesAreImagesOfTheirOwn) {
  Import import = import_files({{"a/Dockerfile", dockerfile_of("1.1")},
                                {"a/Singularity.1.1", def_of("1.1")},
                                {"a/Singularity.1.2", def_of("1.2")},
                                {"a/Singularity.1.3", def_of("1.3")}});
  EXPECT_EQ(import.images.size(), 4u);
  EXPECT_EQ(remarks_of(import, "twins"),
            Words({"a/Dockerfile:0: 3 definition files are next to it (Singularity.1.1, Singularity.1.2, "
                   "Singularity.1.3): each becomes a separate image; give two files the same name to make "
                   "them twins, Dockerfile.x and Singularity.x"}));
}

// `Singularity` may be another name of the newest `Singularity.<version>`.
TEST(Twins, AnotherNameOfTheSameBytesIsNoSecondImage) {
  Import import = import_files({{"a/Singularity", def_of("1.2")},
                                {"a/Singularity.1.1", def_of("1.1")},
                                {"a/Singularity.1.2", def_of("1.2")}});
  EXPECT_EQ(images(import), Words({"a/Singularity.1.1", "a/Singularity.1.2"}));
  EXPECT_EQ(remarks_of(import, "same-file"),
            Words({"a/Singularity:0: it is Singularity.1.2, byte for byte"}));
  EXPECT_EQ(import_files({{"a/Dockerfile.cpu", dockerfile_of()}, {"a/Dockerfile.gpu", dockerfile_of()}})
                .images.size(),
            2u)
      << "names that say something of their own";
}

TEST(Twins, TwoOfOneNameAndFormatAreNotPaired) {
  Import import = import_files({{"a/tf.Dockerfile", dockerfile_of("1.1")},
                                {"a/Dockerfile.tf", dockerfile_of("1.2")},
                                {"a/tf.def", def_of("1.1")}});
  EXPECT_EQ(import.images.size(), 3u);
  EXPECT_EQ(
      remarks_of(import, "twins"),
      Words({"a/Dockerfile.tf:0: tf.Dockerfile, tf.def have the same name: each becomes a separate image"}));
}

TEST(Twins, FoldersOfOtherNamesAreOtherImages) {
  EXPECT_EQ(import_files({{"a/Dockerfile", dockerfile_of()}, {"A/Singularity", def_of()}}).images.size(), 2u);
  EXPECT_EQ(import_files({{"a/Dockerfile", dockerfile_of()}, {"a/b/Singularity", def_of()}}).images.size(),
            2u);
  EXPECT_EQ(import_files({{"a/cpu.Dockerfile", dockerfile_of()}, {"a/gpu.def", def_of()}}).images.size(), 2u)
      << "both names say something, and not the same";
}

TEST(Twins, OfTwoFrameworksAreTwoImages) {
  const std::string torch = "Bootstrap: docker\nFrom: ubuntu:18.04\n%post\n  pip install torch==1.4.0\n";
  Import import = import_files({{"a/Dockerfile", dockerfile_of()}, {"a/pytorch.def", torch}});
  EXPECT_EQ(images(import), Words({"a/Dockerfile", "a/pytorch.def"}));
  EXPECT_EQ(lines(import), Words());
  EXPECT_EQ(remarks_of(import, "twins"),
            Words({"a/Dockerfile:0: pytorch.def is next to it, but is pytorch, and this one is tensorflow: "
                   "each becomes a separate image"}));
  EXPECT_EQ(images(import_files({{"a/Dockerfile", dockerfile_of()}, {"a/Singularity", torch}})),
            Words({"a/Dockerfile+a/Singularity"}))
      << "of one name: that they differ is what is told";
}

TEST(Twins, InTwoThousandFolders) {
  std::vector<std::string> paths;
  for (int i = 0; i < 2000; ++i)
    for (const char* name : {"Dockerfile", "Singularity.x"}) paths.push_back(fmt::format("f{}/{}", i, name));
  TwinPairs twins = pair_twins(paths);
  EXPECT_EQ(twins.pairs.size(), 2000u);
  EXPECT_TRUE(twins.notes.empty());
}

// The rules do not depend on the order in which a disk lists its files.
TEST(Twins, AreTheSameInAnyOrder) {
  std::vector<std::string> paths = {
      "a/Dockerfile",   "a/Singularity",  "a/docker/Dockerfile", "a/x.def",    "a/X.Dockerfile",
      "b/Dockerfile.1", "b/Dockerfile.2", "b/Singularity",       "defs/y.def", "docker/y.Dockerfile"};
  auto text = [](const TwinPairs& twins) {
    std::string out;
    for (const TwinPair& pair : twins.pairs) out += pair.docker + "+" + pair.definition + "\n";
    for (const ImportNote& note : twins.notes) out += format(note) + "\n";
    return out;
  };
  const std::string first = text(pair_twins(paths));
  EXPECT_EQ(
      first,
      "a/Dockerfile+a/Singularity\na/docker/Dockerfile+\na/X.Dockerfile+a/x.def\nb/Dockerfile.1+\n"
      "b/Dockerfile.2+\n+b/Singularity\ndocker/y.Dockerfile+defs/y.def\n"
      "b/Singularity: 2 Dockerfiles are next to it (Dockerfile.1, Dockerfile.2): each becomes a separate "
      "image; give two files the same name to make them twins, Dockerfile.x and Singularity.x [twins]\n");
  for (int turn = 0; turn < 20; ++turn) {
    std::rotate(paths.begin(), paths.begin() + 3, paths.end());
    std::swap(paths[0], paths[5]);
    EXPECT_EQ(text(pair_twins(paths)), first);
  }
}

// Two files of one name in two folders copy two files of one name: neither image gets the other's.
TEST(Twins, LocalFilesOfOneNameStayTwo) {
  auto file = [](const std::string& version) {
    return "FROM debian:12\nRUN pip install torch==" + version + "\nCOPY run.sh /run.sh\n";
  };
  Import import = import_files({{"a/pip/Dockerfile", file("1.4")},
                                {"a/pip/run.sh", "echo a"},
                                {"b/pip/Dockerfile", file("1.5")},
                                {"b/pip/run.sh", "echo b"}});
  std::set<std::string> bytes;
  for (const auto& [path, text] : import.files)
    if (path.ends_with("/run.sh")) bytes.insert(text);
  EXPECT_EQ(bytes, (std::set<std::string>{"echo a", "echo b"}));
}

}  // namespace
}  // namespace kiln::testing
