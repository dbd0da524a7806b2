// Python and requirements files. Each case: a text, and what is found in it.
#include "lint_support.h"

namespace kiln::lint {
namespace {

using testing::expect_findings;

TEST(Python, LinesAreLookedAt) {
  expect_findings(
      "a.py", "",
      {
          {"flags = \"-march=native\"\n",
           "1:1-24 KL003 -march=native is the builder's CPU, not the target's"},
          {"# flags = \"-march=native\"\n", ""},
          {"x = 1  # -march=native\n", ""},
          {"  urlretrieve(url, \"a\")\n", "1:3-24 KL012 no checksum verifies what urlretrieve() downloads"},
          {"import hashlib\nurlretrieve(url, \"a\")\n", ""},
          {"x = urlopen(u)\n", "1:1-15 KL012 no checksum verifies what urlopen() downloads"},
          {"x = requests.get(u)\n", "1:1-20 KL012 no checksum verifies what requests.get() downloads"},
          {"x = requests.post(u)\n", ""},
          {"t = \"glpat-aaaaaaaaaaaaaaaaaaaa\"\n", "1:1-33 KL060 here is a GitLab token"},
          {"u = \"https://u:p@a.org\"\n", "1:1-24 KL061 this URL has a password"},
      });
}

TEST(RequirementsFiles, AreExact) {
  expect_findings(
      "requirements.txt", "",
      {
          {"numpy\n", "1:1-6 KL013 'numpy' is installed without a version"},
          {"numpy==1.2\n", "1:1-11 KL014 'numpy' has no hash"},
          {"numpy==1.2 --hash=sha256:aa\n", ""},
          {"numpy==1.2 --hash sha256:aa\n", ""},
          {"numpy==1.2 \\\n    --hash=sha256:aa\n", ""},
          {"numpy>=1.2 --hash=sha256:aa\n", "1:1-28 KL013 'numpy' is installed without a version"},
          {"git+https://a.org/a.git\n", "1:1-24 KL010 git+ without a commit installs the newest commit"},
          {"git+https://a.org/a.git@0123456789abcdef0123456789abcdef01234567\n", ""},
          {"a @ https://u:p@a.org/a.whl --hash=sha256:aa\n", "1:1-45 KL061 this URL has a password"},
          {"# numpy\n\n-r other.txt\n./local\n", ""},
          {"numpy==1.2 # why\n", "1:1-17 KL014 'numpy' has no hash"},
          {"NumPy_X.y===1.2\n", "1:1-16 KL014 'numpy-x-y' has no hash"},
          {"https://a.org/a@1.whl\n", "1:1-22 KL014 'https://a.org/a@1.whl' has no hash"},
      });
}

}  // namespace
}  // namespace kiln::lint
