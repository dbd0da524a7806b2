// Rules that look at a whole file. Each case: a text, and what is found of one rule in it.
#include "factory/lint/checks.h"
#include "lint_support.h"

namespace kiln::lint {
namespace {

struct WholeCase {
  std::string text;
  std::string findings;  // of the rule
};

void expect_rule(const std::string& rule, const std::string& name, const std::vector<WholeCase>& cases) {
  for (const WholeCase& one : cases) {
    kiln::testing::FakeFileSystem files(std::map<std::string, std::string>{{name, one.text}});
    const LintResult result = testing::lint_path(name, files, {}, {{rule}, {}});
    EXPECT_EQ(testing::findings_in(result), one.findings) << one.text;
  }
}

const std::string kSure = " takes any protobuf, and cannot be imported with 4.21 and later";
const std::string kUnsure = kSure + ", which Python 3.7 and newer get";

TEST(WholeFile, KnowsWhatIsSetOnce) {
  const SourceFile file("a", "");
  WholeFile whole{
      &file, {}, {{"A", "1", {}}, {"B", "2", {}}, {"B", "3", {}}, {"C", "$A", {}}, {"D", "", {}}}, {}};
  const std::pair<std::string, std::string> cases[] = {
      {"v$A", "v1"}, {"v${A}.0", "v1.0"},    {"$B", "$B"},      {"$C", "$C"},     {"$D", "$D"},
      {"$", "$"},    {"${A", "${A"},         {"${}", "${}"},    {"$A$A", "11"},   {"$AB", "$AB"},
      {"", ""},      {"${A:-2}", "${A:-2}"}, {"a\\$A", "a\\1"}, {"$E/x", "$E/x"}, {"${A}${B", "1${B"}};
  for (const auto& [text, expanded] : cases) EXPECT_EQ(whole.expanded(text), expanded) << text;
}

TEST(WholeFile, ReadsVersions) {
  EXPECT_EQ(version_at("1.2.3-linux"), "1.2.3");
  EXPECT_EQ(version_at("1.2."), "1.2");
  EXPECT_EQ(version_at("2.1.*"), "2.1");
  for (std::string_view none : {"", "1", ".1", "x1.2", "1..2", "-1.2"})
    EXPECT_EQ(version_at(none), "") << none;
  EXPECT_EQ(version_at("1." + std::string(100, '9')), "");
}

TEST(WholeFile, FindsWords) {
  EXPECT_TRUE(has_whole_word("tf-CPU.def", "cpu"));
  EXPECT_TRUE(has_whole_word("cpus/cpu", "cpu"));
  for (std::string_view none : {"", "cpus", "xcpu", "cp", "cpu2"})
    EXPECT_FALSE(has_whole_word(none, "cpu")) << none;
}

TEST(Protobuf, IsHeldBackByARequirement) {
  const std::string head = "FROM python:3.7\nRUN pip install tensorflow==2.1.0 ";
  const std::string found = "2:17-34 KL024 TensorFlow 2.1.0" + kSure;
  expect_rule("KL024", "Dockerfile",
              {
                  {head + "protobuf==3.20.3\n", ""},
                  {head + "'protobuf<4'\n", ""},
                  {head + "'protobuf<3.21'\n", ""},
                  {head + "'protobuf<4.21'\n", ""},
                  {head + "'protobuf~=3.19'\n", ""},
                  {head + "'protobuf>=3.9,<3.20'\n", ""},
                  {head + "'protobuf<=4.21'\n", found},
                  {head + "'protobuf!=3.20'\n", found},
                  {head + "'protobuf>=3.20'\n", found},
                  {head + "protobuf==4.25.0\n", found},
                  {head + "protobuf\n", found},
                  {head + "'protobuf<'\n", found},
                  {head + "\nRUN conda install -y protobuf=3.20\n", ""},
                  {head + "\nENV PROTOCOL_BUFFERS_PYTHON_IMPLEMENTATION=python\n", ""},
                  {head + "-r r.txt\n", ""},
              });
}

TEST(Protobuf, IsNoMatterOfOldPythons) {
  const std::string install = "RUN pip install tensorflow==2.1.0\n";
  expect_rule("KL024", "Dockerfile",
              {
                  {"FROM python:3.6\n" + install, ""},
                  {"FROM python:3.8\n" + install, "2:17-34 KL024 TensorFlow 2.1.0" + kSure},
                  {"FROM nvidia/cuda:11.8.0-base-ubuntu18.04\n" + install, ""},
                  {"FROM example.org/base:1\n" + install, "2:17-34 KL024 TensorFlow 2.1.0" + kUnsure},
                  {"FROM example.org/base:1\nRUN conda create -y -n a python=3.6\n" + install, ""},
                  {"FROM example.org/base:1\nENV PYTHON_VERSION=3.7\n" + install,
                   "3:17-34 KL024 TensorFlow 2.1.0" + kSure},
                  {"FROM example.org/base:1\nRUN wget Miniconda3-py37_4.8.2.sh\n" + install,
                   "3:17-34 KL024 TensorFlow 2.1.0" + kSure},
                  {"FROM ubuntu:18.04\nRUN pip install tensorflow==2.7.2\n",
                   "2:17-34 KL024 TensorFlow 2.7.2" + kSure},
                  {"FROM python:3.7\nRUN pip install tensorflow==$V tensorflow tensorflow==1.12\n", ""},
              });
}

TEST(Bazel, IsComparedWithTheCheckout) {
  const std::string bazel = "FROM a:1\nENV BAZEL_VERSION=1.2.1\n";
  const std::string clone = "RUN git clone https://github.com/tensorflow/tensorflow\n";
  expect_rule("KL036", "Dockerfile",
              {
                  {bazel + clone + "RUN git checkout tags/v2.1.0\n",
                   "4:18-29 KL036 TensorFlow 2.1.0 is built with Bazel 0.27.1 to 0.29.1, and here is 1.2.1"},
                  {bazel + clone + "RUN git checkout v2.2.0-rc1\n",
                   "4:18-28 KL036 TensorFlow 2.2.0 is built with Bazel 2.0.0, and here is 1.2.1"},
                  {bazel + clone + "RUN git checkout v2.1.0-mine\n", ""},
                  {bazel + clone + "RUN git checkout " + std::string(40, 'a') + "\n", ""},
                  {bazel + clone + "RUN git checkout r2.99\n", ""},
                  {bazel + "RUN git checkout v2.1.0\n", ""},
                  {bazel + clone + "RUN git clone https://a.org/b && cd b && git checkout v2.1.0\n", ""},
                  {bazel + "ENV BAZEL_VERSION=0.29.1\n" + clone + "RUN git checkout v2.1.0\n", ""},
                  {"FROM a:1\n" + clone + "RUN git checkout v2.1.0\n", ""},
                  {"FROM a:1\nRUN apt-get install -y bazel=3.1.0\n" + clone + "RUN git checkout v2.1.0\n",
                   "4:18-24 KL036 TensorFlow 2.1.0 is built with Bazel 0.27.1 to 0.29.1, and here is 3.1.0"},
              });
}

TEST(TimeZone, IsAskedOnceAStage) {
  const std::string asks = " KL083 'tk' brings tzdata, which asks for the geographic area, and waits";
  const std::string run = "RUN apt-get install -y tk\n";
  expect_rule(
      "KL083", "Dockerfile",
      {
          {"FROM ubuntu:18.04\n" + run + run, "2:24-26" + asks},
          {"FROM ubuntu:18.04 AS a\n" + run + "FROM a\n" + run, "2:24-26" + asks},
          {"FROM ubuntu:18.04 AS a\n" + run + "FROM ubuntu:18.04\n" + run,
           "2:24-26" + asks + "\n4:24-26" + asks},
          {"FROM ubuntu:18.04\nENV DEBIAN_FRONTEND=\n" + run, "3:24-26" + asks},
          {"FROM docker.io/library/ubuntu:18.04\n" + run, "2:24-26" + asks},
          {"FROM example.org/ubuntu:18.04\n" + run, ""},
          {"FROM ubuntu:16.04\n" + run, ""},
          {"FROM ubuntu:focal-20220404\n" + run, "2:24-26" + asks},
          {"FROM ubuntu:18.04\nRUN apt-get install -y tk=8.6 && apt-get remove tk\n",
           "2:24-30 KL083 'tk' brings tzdata, which asks for the geographic area, and waits"},
          {"FROM ubuntu:18.04\nRUN apt-get remove -y tk\n", ""},
          {"FROM ubuntu:18.04\nRUN export DEBIAN_FRONTEND=noninteractive && apt-get install -y tk\n", ""},
          {"FROM ubuntu:18.04\nRUN echo 'tzdata tzdata/Areas select Etc' | debconf-set-selections\n" + run,
           ""},
          {"FROM ubuntu:20.04\nRUN apt-get install -y graphviz\n",
           "2:24-32 KL083 'graphviz' brings tzdata, which asks for the geographic area, and waits"},
          {"FROM ubuntu:20.04\nRUN apt-get install -y --no-install-recommends graphviz\n", ""},
      });
}

TEST(CpuImages, SayThatTheyAreForCpus) {
  const std::string run = "RUN pip install mxnet-cu101==1.5.1\n";
  const std::string found = " KL020 'mxnet-cu101==1.5.1' in a file for CPUs: it is MXNet's build with CUDA";
  expect_rule("KL020", "Dockerfile",
              {
                  {"FROM a:1\n" + run, ""},
                  {"FROM a:1-cpu\n" + run, "2:17-35" + found},
                  {"FROM a:1 AS cpu\n" + run, "2:17-35" + found},
                  {"FROM a:1\nLABEL for=CPU\n" + run, "3:17-35" + found},
                  {"FROM a:1\nLABEL for='CPU and GPU'\n" + run, ""},
                  {"FROM a:1\nENV TF_NEED_CUDA=0\n" + run, "3:17-35" + found},
                  {"FROM a:1\nENV TF_NEED_CUDA=1\n" + run, ""},
                  {"FROM a:1-cpu\nENV PATH=/usr/local/cuda/bin:$PATH\n" + run, ""},
                  {"FROM a:1-cpu\nFROM nvidia/cuda:12.6.3-base-ubuntu24.04\n" + run, ""},
                  {"FROM --platform=linux/arm64 a:1-cpu\nRUN pip install torch==2.6.0\n", ""},
              });
}

TEST(ForkCommits, AreNamedByTheirBeginning) {
  const std::string head = "FROM a:1\nRUN git clone https://github.com/pytorch/glow && git -C glow checkout ";
  const std::string found =
      " KL025 no branch and no tag of pytorch/glow has the commit 18c72801755e: it is a fork's merge of June "
      "2019, "
      "with a CPU backend that is set to cross-compile to ARMv7";
  expect_rule("KL025", "Dockerfile",
              {
                  {head + "18c7280\n", "2:71-78" + found},
                  {head + "18C72801755E94A13C75A40B2794539D795E86F3\n", "2:71-111" + found},
                  {head + "18c728\n", ""},
                  {head + "18c7281\n", ""},
                  {head + "18c72801755e94a13c75a40b2794539d795e86f30\n", ""},
              });
}

}  // namespace
}  // namespace kiln::lint
