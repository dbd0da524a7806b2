// Habits, compiler flags and state of a shell. Each case: a text, and what is found in it.
#include "lint_support.h"

namespace kiln::lint {
namespace {

using testing::expect_findings;
using testing::kShell;

TEST(Sudo, IsNotNeeded) {
  expect_findings("a.sh", kShell,
                  {
                      {"sudo make install\n", "2:1-5 KL075 this step is root already"},
                      {"sudo -E make\n", "2:1-5 KL075 this step is root already"},
                      {"/usr/bin/sudo make\n", "2:1-14 KL075 this step is root already"},
                      {"echo sudo\n", ""},
                      {"A=1 sudo make\n", "2:5-9 KL075 this step is root already"},
                  });
}

TEST(Modes, AreNotOpenToAll) {
  expect_findings("a.sh", kShell,
                  {
                      {"chmod 777 /x\n", "2:7-10 KL079 every user may write here"},
                      {"chmod 0777 /x\n", "2:7-11 KL079 every user may write here"},
                      {"chmod 666 /x\n", "2:7-10 KL079 every user may write here"},
                      {"chmod 0666 /x\n", "2:7-11 KL079 every user may write here"},
                      {"chmod a+rwx /x\n", "2:7-12 KL079 every user may write here"},
                      {"chmod a+w /x\n", "2:7-10 KL079 every user may write here"},
                      {"chmod o+w /x\n", "2:7-10 KL079 every user may write here"},
                      {"chmod a=rwx /x\n", "2:7-12 KL079 every user may write here"},
                      {"chmod ugo+rwx /x\n", "2:7-14 KL079 every user may write here"},
                      {"chmod 755 /x\n", ""},
                      {"chmod a+r /x\n", ""},
                      {"chmod g+w /x\n", ""},
                      {"chmod 7777 /x\n", ""},
                      {"chmod -R 777 /x /y\n", "2:10-13 KL079 every user may write here"},
                      {"mkdir -m 777 /x\n", ""},
                  });
}

TEST(Questions, AreNotAsked) {
  expect_findings("a.sh", kShell,
                  {
                      {"update-alternatives --config cc\n", "2:1-32 KL081 update-alternatives asks a person"},
                      {"update-alternatives --install a b c 1\n", ""},
                      {"passwd\n", "2:1-7 KL081 passwd asks a person"},
                      {"passwd root\n", "2:1-12 KL081 passwd asks a person"},
                      {"passwd -l root\n", ""},
                      {"dpkg-reconfigure tzdata\n", "2:1-24 KL081 dpkg-reconfigure asks a person"},
                      {"dpkg-reconfigure -f noninteractive tzdata\n", ""},
                      {"dpkg-reconfigure -fnoninteractive tzdata\n", ""},
                      {"dpkg-reconfigure --frontend=noninteractive tzdata\n", ""},
                  });
}

TEST(Stubs, DoNotStayInTheImage) {
  expect_findings(
      "a.sh", kShell,
      {
          {"ln -s /usr/local/cuda/lib64/stubs/libcuda.so /usr/lib/libcuda.so.1\n",
           "2:7-45 KL082 the stub hides the host's driver"},
          {"cp /usr/local/cuda/lib64/stubs/libcuda.so /usr/lib/\n",
           "2:4-42 KL082 the stub hides the host's driver"},
          {"mv /cuda/stubs/libcuda.so.1 /usr/lib/\n", "2:4-28 KL082 the stub hides the host's driver"},
          {"install /cuda/stubs/libcuda.so.1 /usr/lib/\n", "2:9-33 KL082 the stub hides the host's driver"},
          {"ls /cuda/stubs/libcuda.so\n", ""},
          {"ln -s /cuda/stubs/libcuda.so /cuda/stubs/libcuda.so.1\n", ""},
          {"ln -s /cuda/stubs/libcuda.so /cuda/lib64/libcuda.so.1\n",
           "2:7-29 KL082 the stub hides the host's driver"},
          {"ln -s /cuda/stubs/libnvml.so /usr/lib/\n", ""},
          {"echo /usr/local/cuda/lib64/stubs >/etc/ld.so.conf.d/z.conf\n",
           "2:6-33 KL082 the stub hides the host's driver"},
          {"echo /usr/local/cuda/lib64 >/etc/ld.so.conf.d/z.conf\n", ""},
          {"echo /opt/stubs >/etc/ld.so.conf.d/z.conf\n", ""},
          {"echo /usr/local/cuda/lib64/stubs >/x\n", ""},
      });
}

TEST(Errors, StopAScript) {
  expect_findings(
      "a.sh", "",
      {
          {"ls\n", "1:1-3 KL077 run by hand, this script continues after a failure"},
          {"#!/bin/sh\nls\n", "1:1-10 KL077 run by hand, this script continues after a failure"},
          {"#!/bin/sh -e\nls\n", ""},
          {"#!/bin/sh -ue\nls\n", ""},
          {"#!/bin/bash\nls\n", "1:1-12 KL077 run by hand, this script continues after a failure"},
          {"#!/bin/sh -u\nls\n", "1:1-13 KL077 run by hand, this script continues after a failure"},
          {"#!/bin/sh\nset -e\nls\n", ""},
          {"#!/bin/sh\nset -o errexit\nls\n", ""},
          {"#!/bin/sh\nset -u\nls\n", "1:1-10 KL077 run by hand, this script continues after a failure"},
          {"#!/bin/sh\nset --e\nls\n", "1:1-10 KL077 run by hand, this script continues after a failure"},
          {"#!/usr/bin/env bash\nset -euo pipefail\nls\n", ""},
          {"#!/usr/bin/env\nls\n", "1:1-15 KL077 run by hand, this script continues after a failure"},
      });
}

TEST(NativeFlags, AreTheBuildersCpu) {
  expect_findings(
      "a.sh", kShell,
      {
          {"make CFLAGS=\"-O2 -march=native\"\n",
           "2:6-32 KL003 -march=native is the builder's CPU, not the target's"},
          {"make CFLAGS=\"-O2 -mcpu=native\"\n",
           "2:6-31 KL003 -mcpu=native is the builder's CPU, not the target's"},
          {"make CFLAGS=\"-O2 -mtune=native\"\n",
           "2:6-32 KL003 -mtune=native is the builder's CPU, not the target's"},
          {"make CFLAGS=\"-O2 -xHost\"\n", "2:6-25 KL003 -xHost is the builder's CPU, not the target's"},
          {"make CFLAGS=\"-O2 -QxHost\"\n", "2:6-26 KL003 -QxHost is the builder's CPU, not the target's"},
          {"make CFLAGS=\"-O2 -tp=native\"\n",
           "2:6-29 KL003 -tp=native is the builder's CPU, not the target's"},
          {"make CFLAGS=\"-O2 -march=$CPU\"\n", ""},
          {"RUSTFLAGS=\"-C target-cpu=native\" cargo build\n",
           "2:1-33 KL003 target-cpu=native is the builder's CPU, not the target's"},
          {"sed -i s/-march=native// Makefile\n", ""},
          {"grep -march=native Makefile\n", ""},
      });
}

TEST(WrittenFlags, AreOneTargets) {
  expect_findings(
      "a.sh", kShell,
      {
          {"make CFLAGS=-march=skylake\n", "2:6-27 KL004 -march=skylake is right for one target only"},
          {"make CFLAGS=\"-mcpu=power9 -O2\"\n", "2:6-31 KL004 -mcpu=power9 is right for one target only"},
          {"make CFLAGS=-mtune=znver3\n", "2:6-26 KL004 -mtune=znver3 is right for one target only"},
          {"make CFLAGS=-march=x86-64-v3.x_y\n",
           "2:6-33 KL004 -march=x86-64-v3.x_y is right for one target only"},
          {"make CFLAGS=\"-march=$KILN_MARCH\"\n", ""},
          {"make CFLAGS=-march=\n", ""},
          {"make CFLAGS=-march=a$B\n", ""},
          {"make CFLAGS=-mfma\n", ""},
      });
}

TEST(TensorFlow, ConfigOptIsNative) {
  expect_findings(
      "a.sh", kShell,
      {
          {"bazel build --config=opt //x\n",
           "2:13-25 KL003 --config=opt means -march=native: CC_OPT_FLAGS is not set in this script"},
          {"bazelisk build --config=opt //x\n",
           "2:16-28 KL003 --config=opt means -march=native: CC_OPT_FLAGS is not set in this script"},
          {"export CC_OPT_FLAGS=-O2\nbazel build --config=opt //x\n", ""},
          {"bazel build --config=optimal //x\n", ""},
          {"make --config=opt\n", ""},
      });
}

TEST(State, EndsWithItsShell) {
  expect_findings(
      "a.sh", kShell,
      {
          {"ls\nexport A=1\n", "3:1-11 KL001 `export` has no effect: its shell ends here"},
          {"ls\ncd /x\n", "3:1-6 KL001 `cd` has no effect: its shell ends here"},
          {"ls\nalias a=b\n", "3:1-10 KL001 `alias` has no effect: its shell ends here"},
          {"ls\nconda activate x\n", "3:1-17 KL001 `conda activate` has no effect: its shell ends here"},
          {"conda deactivate\n", ""},
          {"export A=1\nls\n", ""},
          {"ls\nexport A=1\ncd /x\n",
           "3:1-11 KL001 `export` has no effect: its shell ends here\n4:1-6 KL001 `cd` has no effect: its "
           "shell ends here"},
          {"ls\n(cd /x)\n", ""},
          {"ls\nexport A=$(date)\n", "3:1-17 KL001 `export` has no effect: its shell ends here"},
          {"ls\nA=1\n", ""},
          {"ls\n. ./x\n", ""},
          {"ls\nsource x\n", ""},
          {"{\n  cd /x\n}\n", ""},
      });
}

TEST(Profiles, AreReadByNobody) {
  expect_findings(
      "a.sh", kShell,
      {
          {"echo A=1 >>/etc/profile\n", "2:12-24 KL002 no step and no program reads /etc/profile"},
          {"echo A=1 >>/etc/bash.bashrc\n", "2:12-28 KL002 no step and no program reads /etc/bash.bashrc"},
          {"echo A=1 >>/etc/environment\n", "2:12-28 KL002 no step and no program reads /etc/environment"},
          {"echo A=1 >>/etc/bashrc\n", "2:12-23 KL002 no step and no program reads /etc/bashrc"},
          {"echo A=1 >>/root/.bashrc\n", "2:12-25 KL002 no step and no program reads /root/.bashrc"},
          {"echo A=1 >>/home/.bashrc\n", "2:12-25 KL002 no step and no program reads /home/.bashrc"},
          {"echo A=1 >>/home/u/.profile\n", "2:12-28 KL002 no step and no program reads /home/u/.profile"},
          {"echo A=1 >>/home/.bashrc\n. /home/.bashrc\nls\n", ""},
          {"echo A=1 >>~/.bashrc && source ~/.bashrc && ls\n", ""},
          {". /home/.bashrc\necho A=1 >>/home/.bashrc\n",
           "3:12-25 KL002 no step and no program reads /home/.bashrc"},
          {"echo A=1 >>/root/.profile\n", "2:12-26 KL002 no step and no program reads /root/.profile"},
          {"echo A=1 >>/etc/profile.d/a.sh\n",
           "2:12-31 KL002 no step and no program reads /etc/profile.d/a.sh"},
          {"echo A=1 >>~/.bashrc\n", "2:12-21 KL002 no step and no program reads ~/.bashrc"},
          {"echo A=1 >>\"$HOME/.profile\"\n", "2:12-28 KL002 no step and no program reads $HOME/.profile"},
          {"echo A=1 >>\"${HOME}/.bash_profile\"\n",
           "2:12-35 KL002 no step and no program reads ${HOME}/.bash_profile"},
          {"echo A=1 >>/etc/profiles\n", ""},
          {"echo A=1 >>~/.vimrc\n", ""},
          {"echo A=1 | tee -a /etc/profile\n", "2:19-31 KL002 no step and no program reads /etc/profile"},
          {"cat </etc/profile\n", ""},
          {"cp x /etc/profile\n", ""},
      });
}

}  // namespace
}  // namespace kiln::lint
