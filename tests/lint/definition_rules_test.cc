// Definition files. Each case: a text, and what is found in it.
#include "lint_support.h"

namespace kiln::lint {
namespace {

using testing::expect_findings;

const std::string kPinned = "Bootstrap: docker\nFrom: a@sha256:" + std::string(64, 'a') + "\n";

TEST(DefinitionBases, ArePinned) {
  expect_findings("a.def", "",
                  {
                      {"Bootstrap: docker\nFrom: ubuntu\n", "2:7 KL015 'ubuntu' names no fixed version"},
                      {"bootstrap: DOCKER\nfrom: ubuntu:22.04\n",
                       "2:7 KL016 'ubuntu:22.04' can be moved to another image"},
                      {"Bootstrap: localimage\nFrom: ubuntu\n", ""},
                      {"Bootstrap: docker\nFrom: ubuntu:{{ tag }}\n", ""},
                      {"Bootstrap: docker\nFrom: "
                       "a@sha256:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\n",
                       ""},
                  });
}

TEST(Sections, OfShellAreRead) {
  expect_findings("a.def", kPinned,
                  {
                      {"%pre\n    chmod 777 /x\n", "4:11-14 KL079 every user may write here"},
                      {"%setup\n    chmod 777 /x\n", "4:11-14 KL079 every user may write here"},
                      {"%post\n    chmod 777 /x\n", "4:11-14 KL079 every user may write here"},
                      {"%environment\n    chmod 777 /x\n", ""},
                      {"%test\n    chmod 777 /x\n", "4:11-14 KL079 every user may write here"},
                      {"%runscript\n    chmod 777 /x\n", "4:11-14 KL079 every user may write here"},
                      {"%startscript\n    chmod 777 /x\n", "4:11-14 KL079 every user may write here"},
                      {"%help\n    chmod 777 /x\n", ""},
                      {"%files\n    chmod 777 /x\n", ""},
                      {"%post\n    export A=1\n", "4:5-15 KL001 `export` has no effect: its shell ends here"},
                      {"%test\n    export A=1\n", "4:5-15 KL041 nothing here can fail"},
                      {"%environment\n    export A=1\n", ""},
                      {"%post\n    apt-get update\n", "4:5-19 KL050 apt's lists stay in the layer"},
                      {"%test\n    apt-get update\n", ""},
                      {"%post\n    ls\n    apt-get update\n%help\n    text\n",
                       "5:5-19 KL050 apt's lists stay in the layer"},
                  });
}

TEST(DefinitionEnvironment, KeepsTheLibraryPath) {
  expect_findings(
      "a.def", kPinned,
      {
          {"%environment\n    export LD_LIBRARY_PATH=/x\n",
           "4:12-30 KL078 the former value of LD_LIBRARY_PATH, for example that of --nv, is lost"},
          {"%environment\n    export LD_LIBRARY_PATH=/x:$LD_LIBRARY_PATH\n", ""},
          {"%environment\n    LD_LIBRARY_PATH=/x\n",
           "4:5-23 KL078 the former value of LD_LIBRARY_PATH, for example that of --nv, is lost"},
          {"%post\n    LD_LIBRARY_PATH=/x ls\n", ""},
          {"%environment\n    export PATH=/x\n", ""},
      });
}

}  // namespace
}  // namespace kiln::lint
