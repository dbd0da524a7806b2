// Clones, branches and downloads. Each case: a text, and what is found in it.
#include "lint_support.h"

namespace kiln::lint {
namespace {

using testing::expect_findings;
using testing::kShell;

TEST(Clones, FloatUntilTheyArePinned) {
  expect_findings(
      "a.sh", kShell,
      {
          {"git clone https://example.org/a.git\n", "2:1-36 KL010 this clone names no commit"},
          {"git clone https://example.org/a.git && cd a && git checkout "
           "0123456789abcdef0123456789abcdef01234567 && make\n",
           ""},
          {"git clone https://example.org/a.git && cd a && git checkout "
           "0123456789abcdef0123456789abcdef0123456 && make\n",
           "2:61-100 KL010 '0123456789abcdef0123456789abcdef0123456' is only the beginning of a commit"},
          {"git clone https://a.org/a && git -C a checkout b2ee0f4\n",
           "2:48-55 KL010 'b2ee0f4' is only the beginning of a commit"},
          {"git clone https://a.org/a && git -C a checkout feedback1\n",
           "2:1-26 KL010 this clone names no commit"},
          {"git clone https://example.org/a.git && cd a && git checkout "
           "0123456789abcdef0123456789abcdef012345678 && make\n",
           "2:1-36 KL010 this clone names no commit"},
          {"git clone https://example.org/a.git && cd a && git checkout "
           "0123456789ABCDEF0123456789ABCDEF01234567 && make\n",
           ""},
          {"git clone https://example.org/a.git && cd a && git checkout "
           "g123456789abcdef0123456789abcdef01234567 && make\n",
           "2:1-36 KL010 this clone names no commit"},
          {"git clone https://example.org/a.git && cd a && git log "
           "0123456789abcdef0123456789abcdef01234567\n",
           "2:1-36 KL010 this clone names no commit"},
          {"git clone https://example.org/a.git && git -C a reset --hard \"$A_COMMIT\"\n", ""},
          {"git clone https://example.org/a.git && git -C a switch --detach \"$a_sha\"\n", ""},
          {"git clone https://example.org/a.git && git -C a fetch origin \"$A_REVISION\"\n", ""},
          {"git clone https://example.org/a.git && git -C a worktree add ../b \"$A_HASH\"\n", ""},
          {"git clone https://example.org/a.git && git -C a checkout A_COMMIT\n",
           "2:1-36 KL010 this clone names no commit"},
          {"git clone https://example.org/a.git && git -C a checkout \"$A_VERSION\"\n",
           "2:1-36 KL010 this clone names no commit"},
          {"git clone https://example.org/0123456789abcdef0123456789abcdef01234567/a.git\n",
           "2:1-77 KL010 this clone names no commit"},
          {"git clone https://example.org/a.git a --revision=0123456789abcdef0123456789abcdef01234567\n", ""},
          {"git clone --depth 1 -b v1.0 https://example.org/a.git\n",
           "2:1-54 KL010 this clone names no commit"},
      });
}

TEST(Clones, AreCountedAgainstPins) {
  expect_findings(
      "a.sh", kShell,
      {
          {"git clone https://a.org/a && git clone https://a.org/b && git -C b checkout \"$B_COMMIT\" && git "
           "-C a checkout \"$A_COMMIT\"\n",
           ""},
          {"git clone https://a.org/a && git clone https://a.org/b && git -C b checkout \"$B_COMMIT\"\n",
           "2:1-26 KL010 this clone names no commit"},
          {"git clone https://a.org/a && git -C a checkout \"$A_COMMIT\" && git clone https://a.org/b\n",
           "2:63-88 KL010 this clone names no commit"},
          {"git -C x checkout \"$X_COMMIT\"\n", ""},
      });
}

TEST(Branches, Move) {
  expect_findings(
      "a.sh", kShell,
      {
          {"git clone -b master https://a.org/a\n", "2:14-20 KL011 'master' is a branch: it moves"},
          {"git clone --branch main https://a.org/a\n", "2:20-24 KL011 'main' is a branch: it moves"},
          {"git clone --branch=r2.1 https://a.org/a\n",
           "2:11-24 KL011 '--branch=r2.1' is a branch: it moves"},
          {"git clone -b r2.x1 https://a.org/a && git -C a checkout \"$C_REV\"\n", ""},
          {"git clone -b 1.9.x https://a.org/a\n", "2:14-19 KL011 '1.9.x' is a branch: it moves"},
          {"git clone -b release/1.4 https://a.org/a\n", "2:14-25 KL011 'release/1.4' is a branch: it moves"},
          {"git clone -b releases/1.4 https://a.org/a\n",
           "2:14-26 KL011 'releases/1.4' is a branch: it moves"},
          {"git clone -b branch-2 https://a.org/a\n", "2:14-22 KL011 'branch-2' is a branch: it moves"},
          {"git clone -b origin/develop https://a.org/a\n",
           "2:14-28 KL011 'origin/develop' is a branch: it moves"},
          {"git clone -b refs/heads/nightly https://a.org/a\n",
           "2:14-32 KL011 'refs/heads/nightly' is a branch: it moves"},
          {"git clone -b remotes/origin/next https://a.org/a\n",
           "2:14-33 KL011 'remotes/origin/next' is a branch: it moves"},
          {"git clone master && git -C a checkout \"$C_REV\"\n", ""},
          {"git checkout master\n", "2:14-20 KL011 'master' is a branch: it moves"},
          {"git checkout -b main\n", ""},
          {"git -C a fetch origin stable\n", "2:23-29 KL011 'stable' is a branch: it moves"},
          {"git -C a switch dev\n", "2:17-20 KL011 'dev' is a branch: it moves"},
          {"git -C a merge master\n", ""},
          {"git -c checkout=master -C stable checkout v1\n", "2:27-33 KL011 'stable' is a branch: it moves"},
          {"git clone -b main https://a.org/a && git -C a reset --hard \"$A_COMMIT\"\n", ""},
          {"git clone https://a.org/a && git -C a reset --hard \"$A_COMMIT\" && git -C a checkout trunk\n",
           "2:85-90 KL011 'trunk' is a branch: it moves"},
          {"git clone https://a.org/a && git -C a reset --hard \"$A_COMMIT\" && git -C a pull\n",
           "2:67-80 KL011 git pull takes the newest commit"},
          {"git submodule update --init --remote --depth 1\n",
           "2:29-37 KL011 --remote takes the newest commits of the submodules"},
          {"git submodule update --init\n", ""},
          {"git\n", ""},
      });
}

TEST(Branches, InUrlsMove) {
  expect_findings("a.sh", kShell,
                  {
                      {"tool https://github.com/a/b/archive/master.zip\n",
                       "2:6-47 KL011 /archive/master. in this URL is a branch: it moves"},
                      {"tool https://github.com/a/b/archive/v1.0.zip\n", ""},
                      {"tool https://raw.githubusercontent.com/a/b/main/install.py\n",
                       "2:6-59 KL011 /main/ in this URL is a branch: it moves"},
                      {"tool https://raw.githubusercontent.com/a/b/v1.0/install.py\n", ""},
                      {"tool https://github.com/a/b/raw/develop/install.py\n",
                       "2:6-51 KL011 /raw/develop/ in this URL is a branch: it moves"},
                      {"tool /archive/master.zip\n", ""},
                      {"tool https://github.com/a/b/blob/master/c\n",
                       "2:6-42 KL011 /blob/master/ in this URL is a branch: it moves"},
                      {"tool https://github.com/a/b/tree/1.9.x/c\n", ""},
                  });
}

TEST(Downloads, AreChecked) {
  expect_findings(
      "a.sh", kShell,
      {
          {"curl -fLO https://a.org/b.bin\n", "2:1-30 KL012 no checksum verifies what curl downloads"},
          {"wget \"$URL\"\n", "2:1-12 KL012 no checksum verifies what wget downloads"},
          {"aria2c ftp://a.org/b.bin\n", "2:1-25 KL012 no checksum verifies what aria2c downloads"},
          {"curl b.bin\n", ""},
          {"http https://a.org/b.bin\n", ""},
          {"curl -I https://a.org/b.bin\n", ""},
          {"curl --head https://a.org/b.bin\n", ""},
          {"curl --version https://a.org/b.bin\n", ""},
          {"wget --spider https://a.org/b.bin\n", ""},
          {"curl -fLO https://a.org/b.bin\necho \"$SUM b.bin\" | sha256sum -c\n", ""},
          {"echo \"$SUM b.bin\" | sha256sum -c\ncurl -fLO https://a.org/b.bin\n",
           "3:1-30 KL012 no checksum verifies what curl downloads"},
          {"curl -fLO https://a.org/b.bin\nopenssl dgst -sha256 b.bin\n", ""},
          {"curl -fLO https://a.org/b.bin\nopenssl version\n",
           "2:1-30 KL012 no checksum verifies what curl downloads"},
          {"curl -fLO https://a.org/b.bin\ngpg --verify b.sig b.bin\n", ""},
          {"curl -fLO https://a.org/b.bin\nmd5sum -c b.md5\n",
           "2:1-30 KL012 no checksum verifies what curl downloads"},
      });
}

TEST(Downloads, ThatAreOnlyReadNeedNoCheck) {
  expect_findings(
      "a.sh", kShell,
      {
          {"curl -s https://a.org/version | grep -o 1\n", ""},
          {"v=$(curl -s https://a.org/version)\necho \"$v\"\n", ""},
          {"v=$(curl -o f https://a.org/version)\necho \"$v\"\n",
           "2:5-36 KL012 no checksum verifies what curl downloads"},
          {"v=$(wget -O f https://a.org/version)\necho \"$v\"\n",
           "2:5-36 KL012 no checksum verifies what wget downloads"},
          {"v=$(curl --output=f https://a.org/version)\necho \"$v\"\n",
           "2:5-42 KL012 no checksum verifies what curl downloads"},
          {"curl -s https://a.org/b.tar | tar x\n", "2:1-28 KL012 no checksum verifies what curl downloads"},
          {"curl -s https://a.org/b.gz | gunzip >b\n",
           "2:1-27 KL012 no checksum verifies what curl downloads"},
          {"curl -s https://a.org/key | apt-key add -\n",
           "2:1-26 KL012 no checksum verifies what curl downloads"},
          {"tar x | curl -s https://a.org/b | cat\n", ""},
      });
}

TEST(Downloads, AreNotRunUnseen) {
  expect_findings("a.sh", kShell,
                  {
                      {"curl -s https://a.org/install | sh\n",
                       "2:1-30 KL017 a shell runs what curl downloads, and nothing checks it"},
                      {"curl -s https://a.org/install | cat | sudo bash -s -- -y\n",
                       "2:1-30 KL017 a shell runs what curl downloads, and nothing checks it\n2:39-43 KL075 "
                       "this step is root already"},
                      {"wget -qO- https://a.org/get-pip.py | python3 -\n",
                       "2:1-35 KL017 a shell runs what wget downloads, and nothing checks it"},
                      {"bash -c \"$(curl -s https://a.org/install)\"\n",
                       "2:12-41 KL017 a shell runs what curl downloads, and nothing checks it"},
                      {"eval \"$(curl -s https://a.org/install)\"\n",
                       "2:9-38 KL017 a shell runs what curl downloads, and nothing checks it"},
                      {"echo \"$(curl -s https://a.org/install)\"\n", ""},
                      {"sh -c true | curl -s https://a.org/a | cat\n", ""},
                      {"curl -s https://a.org/a | cat\nsh install\n", ""},
                      {"curl -fO https://a.org/install; sh install\n",
                       "2:1-31 KL012 no checksum verifies what curl downloads"},
                  });
}

}  // namespace
}  // namespace kiln::lint
