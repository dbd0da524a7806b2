// What a build takes from the machine that it runs on, and from its neighbours: KL003, KL026, KL041, KL084.
#include "lint_support.h"

namespace kiln::lint {
namespace {

using testing::expect_findings;
using testing::kShell;

TEST(NativeFlags, OfGpusAndBuildSystemsAreFound) {
  const std::string gpu = " is the builder's GPU, not the target's";
  const std::string cpu = " is the builder's CPU, not the target's";
  expect_findings("a.sh", kShell,
                  {
                      {"nvcc -arch=native x.cu\n", "2:6-18 KL003 -arch=native" + gpu},
                      {"nvcc -arch native x.cu\n", "2:12-18 KL003 -arch native" + gpu},
                      {"cmake -DCMAKE_CUDA_ARCHITECTURES=native .\n",
                       "2:7-40 KL003 -DCMAKE_CUDA_ARCHITECTURES=native" + gpu},
                      {"export CUDAARCHS=native\nls\n", "2:8-24 KL003 CUDAARCHS=native" + gpu},
                      {"hipcc --offload-arch=native z.hip\n", "2:7-28 KL003 --offload-arch=native" + gpu},
                      {"cmake -DGGML_NATIVE=ON .\n", "2:7-23 KL003 -DGGML_NATIVE=ON" + cpu},
                      {"icx -xhost a.c\n", "2:5-11 KL003 -xhost" + cpu},
                      {"nvc -tp=native b.c\n", "2:5-15 KL003 -tp=native" + cpu},
                      {"cmake -DGGML_NATIVE=OFF -DBACKEND=native .\n", ""},
                      {"sed -i s/-arch=native// Makefile\n", ""},
                  });
}

TEST(SecondIndexes, AreFound) {
  const std::string says = "KL026 pip takes each package from the index with the higher version";
  const std::string pip = "pip --no-cache-dir install --require-virtualenv ";
  expect_findings(
      "Dockerfile", "FROM scratch\n",
      {
          {"ENV PIP_EXTRA_INDEX_URL=https://a.org/simple\n", "2:5-45 " + says},
          {"RUN pip config set global.extra-index-url https://a.org/simple\n", "2:20-42 " + says},
          {"RUN uv pip install --extra-index-url https://a.org x==1 --require-hashes\n", ""},
          {"RUN pip install --no-cache-dir --require-hashes --extra-index-url https://a.org -r r.txt\n", ""},
      });
  expect_findings("Dockerfile", "FROM scratch\n",
                  {
                      {"RUN pip install --no-cache-dir --extra-index-url https://a.org x==1\n",
                       "2:9-16 KL014 no hash verifies the files that pip downloads\n2:32-49 " + says},
                      {"RUN pip install --no-cache-dir --extra-index-url=https://a.org torch==2.1.0+cu118\n",
                       "2:9-16 KL014 no hash verifies the files that pip downloads"},
                  });
  expect_findings(
      "requirements.txt", "",
      {
          {"--extra-index-url https://a.org\nx==1 --hash=sha256:" + std::string(64, 'a') + "\n", ""},
          {"--extra-index-url https://a.org\nx==1\n", "1:1-32 " + says + "\n2:1-5 KL014 'x' has no hash"},
      });
}

TEST(SelfTests, ThatAreForgivenAreFound) {
  const std::string says = " KL041 `|| true` forgives its failure";
  const std::string head = "Bootstrap: docker\nFrom: a@sha256:" + std::string(64, 'a') + "\n";
  expect_findings("a.def", head,
                  {
                      {"%test\n  python3 -c 'import torch' || true\n", "4:3-28" + says},
                      {"%test\n  echo hello\n", "4:3-13 KL041 nothing here can fail"},
                      {"%test\n  python3 -c 'import torch' || exit 1\n", ""},
                      {"%test\n  python3 -c 'import torch'\n  x || true\n", ""},
                      {"%test\n", ""},
                      {"%post\n  python3 -c 'import torch' || true\n", "4:3-28" + says},
                      {"%post\n  make check || :\n", "4:3-13" + says},
                      {"%post\n  rm /x || true\n", ""},
                  });
}

TEST(Jobs, WithoutALimitAreFound) {
  const std::string says = " KL084 make starts a job for every file that is ready";
  expect_findings(
      "a.sh", kShell,
      {
          {"make -j\n", "2:6-8" + says},
          {"make -j all\n", "2:6-8" + says},
          {"make -C x -kj\n", "2:11-14" + says},
          {"make --jobs\n", "2:6-12" + says},
          {"cmake --build b --parallel\n", "2:17-27 KL084 cmake starts a job for every file that is ready"},
          {"MAKEFLAGS=-j make\n", "2:1-13" + says},
          {"make -j8\nmake -j 8\nmake -j \"$N\"\nmake -j\"$(nproc)\"\nmake\nninja -j\n", ""},
          {"cmake --build b -j 4\nmake --jobs=4\n", ""},
      });
}

}  // namespace
}  // namespace kiln::lint
