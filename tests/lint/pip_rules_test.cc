// pip, wheels and conda. Each case: a text, and what is found in it.
#include "lint_support.h"

namespace kiln::lint {
namespace {

using testing::expect_findings;
using testing::kShell;

const std::string kNoCache = kShell + "export PIP_NO_CACHE_DIR=1\n";

TEST(PipVersions, AreNamedExactly) {
  expect_findings(
      "a.sh", kNoCache,
      {
          {"v/bin/pip install numpy\n", "3:19-24 KL013 'numpy' is installed without a version"},
          {"v/bin/pip install \"numpy>=1.2\" six==1.0\n",
           "3:19-31 KL013 'numpy' is installed without a version"},
          {"v/bin/pip install numpy==1.*\n", "3:19-29 KL013 'numpy' is installed without a version"},
          {"v/bin/pip install --require-hashes numpy==1.2\n", ""},
          {"v/bin/pip install numpy==1.2\n", "3:11-18 KL014 no hash verifies the files that pip downloads"},
          {"v/bin/pip install ./numpy \"$WHEEL\" -e .\n", ""},
          {"v/bin/pip install --no-index numpy==1.2\n", ""},
          {"v/bin/pip install -r requirements.txt\n",
           "3:11-18 KL014 no hash verifies the files that pip downloads"},
          {"v/bin/pip install -r requirements.txt --require-hashes\n", ""},
          {"v/bin/pip install --requirement=requirements.txt\n",
           "3:11-18 KL014 no hash verifies the files that pip downloads"},
          {"v/bin/pip list numpy\n", ""},
          {"v/bin/pip download numpy\n", "3:20-25 KL013 'numpy' is installed without a version"},
          {"v/bin/pip wheel numpy\n", "3:17-22 KL013 'numpy' is installed without a version"},
          {"v/bin/python3.11 -m pip install numpy\n", "3:33-38 KL013 'numpy' is installed without a version"},
          {"v/bin/pythonx -m pip install numpy\n", ""},
          {"uv pip install --python v numpy\n", "3:27-32 KL013 'numpy' is installed without a version"},
          {"uv add numpy\n", ""},
          {"pip() { v/bin/pip \"$@\" --require-hashes; }\npip install numpy==1.2\n", ""},
          {"pip() { v/bin/pip \"$@\"; }\npip install numpy==1.2\n",
           "4:5-12 KL014 no hash verifies the files that pip downloads"},
      });
}

TEST(PipVersions, OfGitAreCommits) {
  expect_findings(
      "a.sh", kNoCache,
      {
          {"v/bin/pip install --require-hashes git+https://a.org/a.git\n",
           "3:36-59 KL010 git+ without a commit installs the newest commit"},
          {"v/bin/pip install --require-hashes git+https://a.org/a.git@v1\n",
           "3:36-62 KL010 git+ without a commit installs the newest commit"},
          {"v/bin/pip install --require-hashes "
           "git+https://a.org/a.git@0123456789abcdef0123456789abcdef01234567\n",
           ""},
          {"v/bin/pip install --require-hashes \"git+https://a.org/a.git@$REF\"\n", ""},
          {"v/bin/pip install --no-deps git+https://a.org/a.git@0123456789abcdef0123456789abcdef01234567\n",
           ""},
          {"v/bin/pip install git+https://a.org/a.git@0123456789abcdef0123456789abcdef01234567 six==1.0\n",
           "3:11-18 KL014 no hash verifies the files that pip downloads"},
          {"v/bin/pip install --require-hashes \"a @ git+https://a.org/a.git@v1\"\n",
           "3:36-68 KL010 git+ without a commit installs the newest commit"},
          {"v/bin/pip install --require-hashes https://a.org/a-1-py3-none-any.zip@1\n", ""},
      });
}

TEST(PipCache, IsNotLeftBehind) {
  expect_findings(
      "a.sh", kShell,
      {
          {"v/bin/pip install --require-hashes -r r.txt\n", "2:11-18 KL051 pip's cache stays in the layer"},
          {"v/bin/pip install --no-cache-dir --require-hashes -r r.txt\n", ""},
          {"v/bin/pip install --require-hashes -r r.txt\nrm -rf /root/.cache\n", ""},
          {"v/bin/pip install --require-hashes -r r.txt\nrm -rf ~/.cache/pip\n", ""},
          {"v/bin/pip install --require-hashes -r r.txt\nv/bin/pip cache purge\n", ""},
          {"uv pip install --require-hashes -r r.txt --python v\n", ""},
          {"pip() { v/bin/pip \"$@\" --no-cache-dir; }\npip install --require-hashes -r r.txt\n", ""},
      });
}

TEST(PipPlace, IsNotTheSystemsPython) {
  expect_findings(
      "a.sh", kNoCache,
      {
          {"pip install --require-hashes -r r.txt\n", "3:1-4 KL080 this pip writes into the system's Python"},
          {"/usr/bin/pip3 install --require-hashes -r r.txt\n",
           "3:1-14 KL080 this pip writes into the system's Python"},
          {"/bin/pip install --require-hashes -r r.txt\n",
           "3:1-9 KL080 this pip writes into the system's Python"},
          {"/opt/bin/pip install --require-hashes -r r.txt\n", ""},
          {"pip install --target=x --require-hashes -r r.txt\n", ""},
          {"pip install -t x --require-hashes -r r.txt\n", ""},
          {"pip install --prefix x --require-hashes -r r.txt\n", ""},
          {"pip install --root x --require-hashes -r r.txt\n", ""},
          {"pip download --require-hashes -r r.txt\n", ""},
          {". v/bin/activate\npip install --require-hashes -r r.txt\n", ""},
          {"export PATH=\"v/bin:$PATH\"\npip install --require-hashes -r r.txt\n", ""},
          {"export PATH=/opt/v/bin:${PATH}\npip install --require-hashes -r r.txt\n", ""},
          {"export PATH=/opt/v/bin\"${PATH:+:$PATH}\"\npip install --require-hashes -r r.txt\n", ""},
          {"PATH=\"$V/bin:$PATH\"\npip install --require-hashes -r r.txt\n", ""},
          {"VIRTUAL_ENV=/v\npip install --require-hashes -r r.txt\n", ""},
          {"conda activate x && pip install --require-hashes -r r.txt\n", ""},
          {"uv pip install --require-hashes -r r.txt\n", ""},
          {"uv pip install --system --require-hashes -r r.txt\n",
           "3:1-3 KL080 this pip writes into the system's Python"},
          {"export PATH=$PATH:/opt/v/bin\npip install --require-hashes -r r.txt\n",
           "4:1-4 KL080 this pip writes into the system's Python"},
          {"export PATH=/usr/bin:$PATH\npip install --require-hashes -r r.txt\n",
           "4:1-4 KL080 this pip writes into the system's Python"},
      });
}

TEST(Wheels, AreNotNamedByHand) {
  expect_findings(
      "a.sh", kShell,
      {
          {"v/bin/python -m build && ls dist/a-1.0-cp36-cp36m-linux_x86_64.whl\n",
           "2:29-67 KL022 'a-1.0-cp36-cp36m-linux_x86_64.whl' is one name of many that this wheel may have"},
          {"ls \"dist/a-1.0-cp36-cp36m-linux_x86_64.whl\"\n",
           "2:4-44 KL022 'a-1.0-cp36-cp36m-linux_x86_64.whl' is one name of many that this wheel may have"},
          {"ls dist/a-1.0-cp36-cp36m-*.whl\n", ""},
          {"ls dist/a-1.0-cp36.whl\n", ""},
          {"ls \"dist/a-$V-cp36-cp36m-linux_x86_64.whl\"\n", ""},
          {"curl -fO https://a.org/a-1.0-cp36-cp36m-linux_x86_64.whl\necho \"$S "
           "a-1.0-cp36-cp36m-linux_x86_64.whl\" | sha256sum -c\n",
           ""},
          {"cp a-1.0-cp36-cp36m-linux_x86_64.whl /x\nsha256sum -c y\n",
           "2:4-37 KL022 'a-1.0-cp36-cp36m-linux_x86_64.whl' is one name of many that this wheel may have"},
          {"curl -fO https://a.org/a-1.0-cp36-cp36m-linux_x86_64.whl\ngpg --verify x\n",
           "2:10-57 KL022 'a-1.0-cp36-cp36m-linux_x86_64.whl' is one name of many that this wheel may have"},
      });
}

TEST(CondaCommands, NamePackagesExactly) {
  expect_findings("a.sh", kShell,
                  {
                      {"conda install -y numpy && conda clean -a\n",
                       "2:18-23 KL013 'numpy' is installed without a version"},
                      {"conda install -y numpy=1.2 && conda clean -a\n", ""},
                      {"mamba create -y -n env -c forge --file a python && mamba clean -a\n",
                       "2:42-48 KL013 'python' is installed without a version"},
                      {"micromamba create -y -p root --prefix root --name env --channel forge \"$P\" ./a && "
                       "micromamba clean -a\n",
                       ""},
                      {"conda list numpy\n", ""},
                      {"miniconda install numpy\n", ""},
                  });
}

TEST(CondaCommands, AskForNoConfirmation) {
  const std::string asks = "KL072 conda asks for confirmation, which a build cannot give";
  expect_findings("a.sh", kShell,
                  {
                      {"conda install numpy=1.2\nconda clean -a\n", "2:7-14 " + asks},
                      {"conda create -p /x python=3.6\nconda clean -a\n", "2:7-13 " + asks},
                      {"mamba install numpy=1.2 && mamba clean -a\n",
                       "2:7-14 KL072 mamba asks for confirmation, which a build cannot give"},
                      {"conda install --yes numpy=1.2\nconda clean -a\n", ""},
                      {"conda install -qy numpy=1.2\nconda clean -a\n", ""},
                      {"yes | conda install numpy=1.2\nconda clean -a\n", ""},
                      {"export CONDA_ALWAYS_YES=1\nconda install numpy=1.2\nconda clean -a\n", ""},
                      {"conda config --set always_yes true\nconda install numpy=1.2\nconda clean -a\n", ""},
                      {"conda env create -f e.yml\nconda clean -a\n", ""},
                  });
}

TEST(CondaCommands, CleanTheirCaches) {
  expect_findings(
      "a.sh", kShell,
      {
          {"conda install -y numpy=1.2\n", "2:1-27 KL052 conda's packages stay in the layer a second time"},
          {"conda clean -a\nconda install -y numpy=1.2\n",
           "3:1-27 KL052 conda's packages stay in the layer a second time"},
          {"conda install -y numpy=1.2\nconda install -y six=1.0\n",
           "3:1-25 KL052 conda's packages stay in the layer a second time"},
          {"conda info\n", ""},
          {"conda install -y numpy=1.2\nrm -rf /opt/conda/pkgs\n", ""},
          {"conda install -y numpy=1.2\nfind /opt/conda/pkgs -type f -delete\n", ""},
          {"rm -rf /opt/conda/pkgs\nconda install -y numpy=1.2\n",
           "3:1-27 KL052 conda's packages stay in the layer a second time"},
      });
}

}  // namespace
}  // namespace kiln::lint
