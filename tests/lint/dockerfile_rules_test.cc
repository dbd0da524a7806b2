// Dockerfiles. Each case: a text, and what is found in it.
#include "lint_support.h"

namespace kiln::lint {
namespace {

using testing::expect_findings;

TEST(Bases, ArePinned) {
  expect_findings(
      "Dockerfile", "",
      {
          {"FROM ubuntu\n", "1:6 KL015 'ubuntu' names no fixed version"},
          {"FROM ubuntu:latest\n", "1:6 KL015 'ubuntu:latest' names no fixed version"},
          {"FROM ubuntu:22.04\n", "1:6 KL016 'ubuntu:22.04' can be moved to another image"},
          {"FROM scratch\n", ""},
          {"FROM localhost:5000/a\n", "1:6 KL015 'localhost:5000/a' names no fixed version"},
          {"FROM localhost:5000/a:1\n", "1:6 KL016 'localhost:5000/a:1' can be moved to another image"},
          {"FROM ubuntu:22.04@sha256:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\n", ""},
          {"FROM "
           "nvidia/cuda:10.2-base@sha256:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\n",
           "1:6 KL019 'nvidia/cuda:10.2-base@sha256:"
           "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa' cannot be pulled: NVIDIA "
           "deleted all "
           "of CUDA 10 in 2023"},
          {"FROM docker.io/nvidia/cuda:11.0.3-base-ubuntu20.04\n",
           "1:6 KL016 'docker.io/nvidia/cuda:11.0.3-base-ubuntu20.04' can be moved to another image"},
          {"FROM registry.example.org/nvidia/cuda:10.2-base\n",
           "1:6 KL016 'registry.example.org/nvidia/cuda:10.2-base' can be moved to another image"},
          {"FROM scratch AS one\nFROM one\n", ""},
          {"ARG TAG=22.04\nFROM ubuntu:${TAG}\n", "2:6 KL016 'ubuntu:22.04' can be moved to another image"},
          {"ARG TAG\nFROM ubuntu:${TAG}\n", ""},
          {"ARG TAG=1\nARG TAG=\"latest\"\nFROM ubuntu:${TAG}\n",
           "3:6 KL015 'ubuntu:latest' names no fixed version"},
          {"FROM --platform=linux/arm64 ubuntu\n", "1:29 KL015 'ubuntu' names no fixed version"},
      });
}

TEST(Pairs, AreLookedAt) {
  expect_findings(
      "Dockerfile", "",
      {
          {"FROM scratch\nENV CFLAGS=\"-O2 -march=native\"\n",
           "2:5-31 KL003 -march=native is the builder's CPU, not the target's"},
          {"FROM scratch\nENV A=1 DB_PASSWORD=hunter2hunter2\n",
           "2:9-35 KL060 DB_PASSWORD looks like a secret by its name"},
          {"FROM scratch\nARG DB_PASSWORD\n",
           "2:5-16 KL060 the value of DB_PASSWORD stays in the image's history"},
          {"FROM scratch\nARG DB_PASSWORD=\n",
           "2:5-17 KL060 the value of DB_PASSWORD stays in the image's history"},
          {"FROM scratch\nARG DB_PASSWORD=$OTHER\n",
           "2:5-23 KL060 the value of DB_PASSWORD stays in the image's history"},
          {"FROM scratch\nARG USE_TOKEN=false\n", ""},
          {"FROM scratch\nENV CUDAARCHS=native\n",
           "2:5-21 KL003 CUDAARCHS=native is the builder's GPU, not the target's"},
          {"FROM scratch\nARG UPLOAD\nENV TWINE_PASSWORD=${UPLOAD}\n",
           "3:5-29 KL060 the value of TWINE_PASSWORD stays in the image's configuration"},
          {"FROM scratch\nARG UPLOAD\nENV TWINE_NAME=${UPLOAD}\n", ""},
          {"FROM scratch\nENV DB_PASSWORD=$ELSEWHERE\n", ""},
          {"FROM scratch\nARG UPLOAD_PASS\n",
           "2:5-16 KL060 the value of UPLOAD_PASS stays in the image's history"},
          {"FROM scratch\nARG NAME\n", ""},
          {"ARG API_KEY=hunter2\nFROM scratch\n", "1:5-20 KL060 API_KEY looks like a secret by its name"},
          {"FROM scratch\nENV INDEX https://u:p@a.org/simple\n", "2:5-35 KL061 this URL has a password"},
          {"FROM scratch\nENV LD_LIBRARY_PATH=/x\n", "2:5-23 KL078 the base's LD_LIBRARY_PATH is lost"},
          {"FROM scratch\nENV LD_LIBRARY_PATH=/x:$LD_LIBRARY_PATH\n", ""},
          {"FROM scratch\nARG LD_LIBRARY_PATH=/x\n", ""},
          {"FROM scratch\nENV LD_LIBRARY_PATH=/cuda/stubs:$LD_LIBRARY_PATH\n",
           "2:5-49 KL082 the stub hides the host's driver"},
          {"FROM scratch\nENV LIBRARY_PATH=/cuda/stubs\n", ""},
          {"FROM scratch\nLABEL DB_PASSWORD=hunter2hunter2\n", ""},
      });
}

TEST(Add, IsCopyForPlainFiles) {
  expect_findings(
      "Dockerfile", "",
      {
          {"FROM scratch\nADD a /\n", "2:1-4 KL076 ADD does more than this needs"},
          {"FROM scratch\nADD a.tar.gz /\n", ""},
          {"FROM scratch\nADD a.tgz /\n", ""},
          {"FROM scratch\nADD a.txz /\n", ""},
          {"FROM scratch\nADD *.gz /\n", ""},
          {"FROM scratch\nADD $A /\n", ""},
          {"FROM scratch\nADD a b /\n", "2:1-4 KL076 ADD does more than this needs"},
          {"FROM scratch\nADD a b.tar /\n", ""},
          {"FROM scratch\nADD [\"a\", \"/\"]\n", ""},
          {"FROM scratch\nCOPY a /\n", ""},
          {"FROM scratch\nONBUILD ADD a /\n", "2:9-12 KL076 ADD does more than this needs"},
          {"FROM scratch\nADD https://a.org/b.bin /\n",
           "2:5-24 KL012 no checksum verifies what ADD downloads"},
          {"FROM scratch\nADD "
           "--checksum=sha256:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa "
           "https://a.org/b.bin /\n",
           ""},
          {"FROM scratch\nADD https://github.com/a/b/archive/master.zip /\n",
           "2:5-46 KL011 /archive/master. in this URL is a branch: it moves\n2:5-46 KL012 no checksum "
           "verifies what ADD downloads"},
          {"FROM scratch\nADD https://api.github.com/repos/a/b/git/refs/heads/main /v.json\n", ""},
          {"FROM scratch\nADD git@a.org:b.git#v1 /\n",
           "2:5-23 KL012 no checksum verifies what ADD downloads"},
          {"FROM scratch\nADD https://a.org/a.git#0123456789abcdef0123456789abcdef01234567 /\n", ""},
      });
}

TEST(Run, IsAScriptOfItsOwn) {
  expect_findings(
      "Dockerfile", "",
      {
          {"FROM scratch\nRUN export A=1\n", "2:5-15 KL001 `export` has no effect: its shell ends here"},
          {"FROM scratch\nRUN A=1\n", "2:5-8 KL001 an assignment has no effect: its shell ends here"},
          {"FROM scratch\nRUN . ./x\n", "2:5-10 KL001 `.` has no effect: its shell ends here"},
          {"FROM scratch\nRUN a && cd /x\n", "2:10-15 KL001 `cd` has no effect: its shell ends here"},
          {"FROM scratch\nRUN cd /x && a\n", ""},
          {"FROM scratch\nRUN [\"cd\", \"/x\"]\n", ""},
          {"FROM scratch\nRUN a; b\n", "2:5-6 KL077 when this fails, the next command runs all the same"},
          {"FROM scratch\nRUN export A=1; b\n", ""},
          {"FROM scratch\nRUN a || true; b\n", ""},
          {"FROM scratch\nRUN a || exit 1; b\n", ""},
          {"FROM scratch\nRUN A=$(a); b\n",
           "2:5-11 KL077 when this fails, the next command runs all the same"},
          {"FROM scratch\nSHELL [\"/bin/bash\", \"-euo\", \"pipefail\", \"-c\"]\nRUN a; b\n", ""},
          {"FROM scratch AS x\nSHELL [\"/bin/bash\", \"-ec\"]\nFROM x\nRUN a; b\n", ""},
          {"FROM scratch AS x\nSHELL [\"/bin/bash\", \"-ec\"]\nFROM scratch\nRUN a; b\n",
           "4:5-6 KL077 when this fails, the next command runs all the same"},
          {"FROM scratch\nRUN <<END bash -e\na; b\nEND\n", ""},
          {"FROM scratch\nRUN <<END\n#!/bin/bash -e\na; b\nEND\n", ""},
          {"FROM scratch\nRUN set -e; a; b\n", ""},
          {"FROM scratch\nRUN (a; b)\n", ""},
          {"FROM scratch\nRUN if a; then b; fi; c\n", ""},
          {"FROM scratch\nRUN a && b\n", ""},
          {"FROM scratch\nRUN make CFLAGS=-march=skylake\n", ""},
          {"FROM scratch\nRUN sudo make\n", "2:5-9 KL075 this step is root already"},
          {"FROM scratch\nRUN pip install a==1\n",
           "2:9-16 KL014 no hash verifies the files that pip downloads\n2:9-16 KL051 pip's cache "
           "stays in the layer"},
      });
}

TEST(Run, ThatWritesFilesOfKilnIsNoCommand) {
  const std::string writes =
      " AS kiln-files\nRUN mkdir -p /kiln && printf '%s\\n' 'gcc -march=native a.c' >/kiln/a.sh\n";
  expect_findings(
      "Dockerfile", "",
      {{"FROM scratch" + writes, ""}, {"FROM ubuntu" + writes, "1:6 KL015 'ubuntu' names no fixed version"}});
}

TEST(Run, OfAnEarlierStageLeavesNothing) {
  expect_findings("Dockerfile", "",
                  {
                      {"FROM scratch AS a\nRUN apt-get update\nFROM scratch\nCOPY --from=a /x /x\n", ""},
                      {"FROM scratch AS a\nRUN x\nFROM scratch\nRUN apt-get update\n",
                       "4:5-19 KL050 apt's lists stay in the layer"},
                      {"FROM scratch\nRUN --mount=type=cache,target=/var/lib/apt apt-get update\n", ""},
                      {"FROM scratch\nRUN --mount=type=bind,target=/x apt-get update\n",
                       "2:33-47 KL050 apt's lists stay in the layer"},
                      {"FROM scratch AS a\nRUN cd /x; b\nFROM scratch\n",
                       "2:5-10 KL077 when this fails, the next command runs all the same"},
                  });
}

TEST(Run, OfOneStageBelongTogether) {
  expect_findings(
      "Dockerfile", "",
      {
          {"FROM scratch\nRUN git clone https://a.org/a\nRUN git -C a checkout \"$A_COMMIT\"\n", ""},
          {"FROM scratch AS a\nRUN git clone https://a.org/a\nFROM scratch\nRUN git -C a checkout "
           "\"$A_COMMIT\"\n",
           "2:5-30 KL010 this clone names no commit"},
          {"FROM scratch\nRUN curl -fO https://a.org/a.bin\nRUN sha256sum -c a.sum\n", ""},
          {"FROM scratch\nRUN curl -f https://a.org/a.bin | cat\nRUN x | sh\n", ""},
      });
}

TEST(Run, MayBeAHeredoc) {
  expect_findings(
      "Dockerfile", "",
      {
          {"FROM scratch\nRUN <<EOF\nchmod 777 /x\nEOF\n", "3:7-10 KL079 every user may write here"},
          {"FROM scratch\nRUN <<EOF bash\nchmod 777 /x\nEOF\n", "3:7-10 KL079 every user may write here"},
          {"FROM scratch\nRUN <<EOF python3\nchmod 777 /x\nEOF\n", ""},
          {"FROM scratch\nRUN <<EOF\n#!/usr/bin/python3\nchmod 777 /x\nEOF\n", ""},
          {"FROM scratch\nRUN <<EOF\n#!/bin/bash\nchmod 777 /x\nEOF\n",
           "4:7-10 KL079 every user may write here"},
          {"FROM scratch\nRUN cat <<EOF\nchmod 777 /x\nEOF\n", ""},
          {"FROM scratch\nRUN a && \\\n# no\n\n  chmod 777 /x\n", "5:9-12 KL079 every user may write here"},
      });
}

}  // namespace
}  // namespace kiln::lint
