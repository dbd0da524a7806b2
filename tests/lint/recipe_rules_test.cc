// What recipe.json says, and the files that it names: each case changes some of them.
#include "lint_support.h"

namespace kiln::lint {
namespace {

using testing::kShell;

using Files = std::map<std::string, std::string>;

// recipe.json with more members of its version, method and test.
std::string recipe(const std::string& version, const std::string& method, const std::string& test) {
  return "{\"licenses\": \"MIT\", \"versions\": {\"1\": {" + version +
         "}}, \"methods\": {\"distro\": {\"script\": \"a.sh\"" + method +
         "}}, \"test\": {\"script\": \"t.sh\"" + test + "}}";
}

// A recipe with one method and one test, without a finding.
Files plain_recipe() {
  return {{"recipe.json", recipe("", "", "")}, {"a.sh", kShell + "ls\n"}, {"t.sh", kShell + "a --version\n"}};
}

struct RecipeCase {
  Files changed;  // "" removes a file
  std::string findings;
};

void expect_findings(const std::string& folder, const std::vector<RecipeCase>& cases) {
  for (const RecipeCase& one : cases) {
    Files all = plain_recipe();
    for (const auto& [path, text] : one.changed) all[path] = text;
    kiln::testing::FakeFileSystem files;
    for (const auto& [path, text] : all)
      if (!text.empty()) files.files["r/" + folder + "/" + path] = text;
    LintResult result = testing::lint_path("r", files);
    // No fact of these says how it is known: facts_test.
    std::erase_if(result.findings, [](const Finding& finding) { return finding.rule == "KL094"; });
    for (const Error& error : result.unreadable) ADD_FAILURE() << error.format();
    EXPECT_EQ(testing::findings_in(result, "r/" + folder), one.findings)
        << one.changed.begin()->first << ": " << one.changed.begin()->second;
  }
}

TEST(RecipeTests, AreThere) {
  expect_findings("library/x", {
                                   {{{"recipe.json", recipe("", "", "")}}, ""},
                                   {{{"recipe.json",
                                      "{\"licenses\": \"MIT\", \"versions\": {\"1\": {}}, \"methods\": "
                                      "{\"distro\": {\"script\": \"a.sh\"}}}"},
                                     {"t.sh", ""}},
                                    "recipe.json:1:1 KL040 nothing proves that x works in an image"},
                               });
}

TEST(RecipeTests, CanFail) {
  expect_findings(
      "library/x",
      {
          {{{"t.sh", kShell + "exit 0\na\n"}}, "t.sh:2:1-7 KL041 `exit 0` comes before any check"},
          {{{"t.sh", kShell + "a\nexit 0\n"}}, ""},
          {{{"t.sh", kShell + "exit 1\n"}}, ""},
          {{{"t.sh", kShell + "echo a\n"}}, "t.sh:1:1-14 KL041 nothing here can fail"},
          {{{"t.sh", kShell + "a || true\n"}}, "t.sh:2:1-2 KL041 `|| true` forgives its failure"},
          {{{"t.sh", kShell + "a || exit 1\n"}}, ""},
          {{{"t.sh", kShell + "a || echo no\n"}}, "t.sh:2:1-2 KL041 `|| true` forgives its failure"},
          {{{"t.sh", kShell + "a || :\n"}}, "t.sh:2:1-2 KL041 `|| true` forgives its failure"},
          {{{"t.sh", kShell + "a || b\n"}}, ""},
          {{{"t.sh", kShell + "set +e\na\nls\n"}}, ""},
          {{{"t.sh", kShell + "set +e\na\n"}}, ""},
          {{{"t.sh", kShell + "if a; then exit 0; fi\nb\n"}}, ""},
          {{{"t.sh", kShell + "(exit 0)\nb\n"}}, ""},
          {{{"t.sh", kShell + "x=$(a)\n"}}, "t.sh:1:1-14 KL041 nothing here can fail"},
          {{{"t.sh", kShell + "mkdir x && cd x && rm y\n"}}, "t.sh:1:1-14 KL041 nothing here can fail"},
          {{{"t.sh", kShell + "for i in 1 2; do echo $i; done\n"}},
           "t.sh:1:1-14 KL041 nothing here can fail"},
          {{{"t.sh", kShell + "[ -e x ]\n"}}, ""},
          {{{"t.sh", kShell + "a || true\nb\n"}}, ""},
      });
}

TEST(RecipeTests, InPythonAssert) {
  expect_findings("library/x",
                  {
                      {{{"recipe.json", recipe("", "", ", \"files\": [\"smoke.py\"]")},
                        {"t.sh", kShell + "python3 smoke.py\n"},
                        {"smoke.py", "import a\n"}},
                       "smoke.py:1:1-9 KL041 no assert, raise or exit: only an import can fail"},
                      {{{"recipe.json", recipe("", "", ", \"files\": [\"smoke.py\"]")},
                        {"t.sh", kShell + "python3 smoke.py\n"},
                        {"smoke.py", "import a\nassert a\n"}},
                       ""},
                      {{{"recipe.json", recipe("", "", ", \"files\": [\"smoke.py\"]")},
                        {"t.sh", kShell + "python3 smoke.py\n"},
                        {"smoke.py", "import a\nraise SystemExit(1)\n"}},
                       ""},
                      {{{"recipe.json", recipe("", "", ", \"files\": [\"smoke.py\"]")},
                        {"t.sh", kShell + "python3 smoke.py\n"},
                        {"smoke.py", "import sys\nsys.exit(a())\n"}},
                       ""},
                      {{{"recipe.json", recipe("", "", ", \"files\": [\"smoke.py\"]")},
                        {"t.sh", kShell + "python3 smoke.py\n"},
                        {"smoke.py", "import subprocess\nsubprocess.run([\"a\"], check=True)\n"}},
                       ""},
                      {{{"recipe.json", recipe("", "", ", \"files\": [\"smoke.py\"]")},
                        {"t.sh", kShell + "python3 ./smoke.py\n"},
                        {"smoke.py", "import a\n"}},
                       "smoke.py:1:1-9 KL041 no assert, raise or exit: only an import can fail"},
                      {{{"recipe.json", recipe("", "", ", \"files\": [\"smoke.py\"]")},
                        {"t.sh", kShell + "python3 smoke.py\na --version\n"},
                        {"smoke.py", "import a\n"}},
                       ""},
                      {{{"recipe.json", recipe("", "", ", \"files\": [\"smoke.py\"]")},
                        {"t.sh", kShell + "python3 other.py\n"},
                        {"smoke.py", "import a\n"}},
                       ""},
                  });
}

TEST(Parameters, AreDeclared) {
  expect_findings(
      "library/x",
      {
          {{{"recipe.json", recipe("", "", "")}, {"a.sh", kShell + "echo \"$KILN_CPU_FLAGS\"\n"}},
           "a.sh:2:8-22 KL090 method 'distro' does not declare KILN_CPU_FLAGS"},
          {{{"recipe.json", recipe("", "", "")}, {"a.sh", kShell + "echo \"${KILN_CPU_FLAGS}\"\n"}},
           "a.sh:2:9-23 KL090 method 'distro' does not declare KILN_CPU_FLAGS"},
          {{{"recipe.json", recipe("", "", "")}, {"a.sh", kShell + "echo \"${KILN_CPU_FLAGS:-x}\"\n"}}, ""},
          {{{"recipe.json", recipe("", "", "")}, {"a.sh", kShell + "echo \"${KILN_CPU_FLAGS-x}\"\n"}}, ""},
          {{{"recipe.json", recipe("", "", "")}, {"a.sh", kShell + "echo \"${KILN_CPU_FLAGS:+x}\"\n"}}, ""},
          {{{"recipe.json", recipe("", "", "")}, {"a.sh", kShell + "echo \"${KILN_CPU_FLAGS+x}\"\n"}}, ""},
          {{{"recipe.json", recipe("", "", "")}, {"a.sh", kShell + "echo \"${KILN_CPU_FLAGS:=x}\"\n"}}, ""},
          {{{"recipe.json", recipe("", "", "")}, {"a.sh", kShell + "echo \"${KILN_CPU_FLAGS%x}\"\n"}},
           "a.sh:2:9-23 KL090 method 'distro' does not declare KILN_CPU_FLAGS"},
          {{{"recipe.json", recipe("", "", "")}, {"a.sh", kShell + "echo \"$KILN_PREFIX $KILN_JOBS\"\n"}},
           "a.sh:2:8-19 KL090 method 'distro' does not declare KILN_PREFIX"},
          {{{"recipe.json", recipe("", "", "")}, {"a.sh", kShell + "# $KILN_CPU_FLAGS\n"}}, ""},
          {{{"recipe.json", recipe("", "", "")},
            {"a.sh", kShell + "KILN_CPU_FLAGS=x\necho \"$KILN_CPU_FLAGS\"\n"}},
           ""},
          {{{"recipe.json", recipe("", "", "")},
            {"a.sh", kShell + "MY_KILN_CPU_FLAGS=x\necho \"$KILN_CPU_FLAGS\"\n"}},
           "a.sh:3:8-22 KL090 method 'distro' does not declare KILN_CPU_FLAGS"},
          {{{"recipe.json", recipe("", "", "")}, {"a.sh", kShell + "make \"$CFLAGS\"\n"}},
           "a.sh:2:8-14 KL090 method 'distro' does not declare CFLAGS"},
          {{{"recipe.json", recipe("", "", "")}, {"a.sh", kShell + "echo \"$FLAGS\"\n"}}, ""},
          {{{"recipe.json", recipe("", "", "")},
            {"a.sh", kShell + "echo \"$KILN_CPU_FLAGS $KILN_CPU_FLAGS\"\n"}},
           "a.sh:2:8-22 KL090 method 'distro' does not declare KILN_CPU_FLAGS"},
          {{{"recipe.json", recipe("", ", \"parameters\": [\"KILN_CPU_FLAGS\"]", "")},
            {"a.sh", kShell + "echo \"$KILN_CPU_FLAGS\"\n"}},
           ""},
          {{{"recipe.json", recipe("", ", \"environment\": {\"KILN_CPU_FLAGS\": \"x\"}", "")},
            {"a.sh", kShell + "echo \"$KILN_CPU_FLAGS\"\n"}},
           ""},
          {{{"t.sh", kShell + "a \"$KILN_VERSION\"\n"}}, ""},
          {{{"t.sh", kShell + "a \"$KILN_CPU_FLAGS\"\n"}},
           "t.sh:2:5-19 KL090 method 'distro' does not declare KILN_CPU_FLAGS"},
          {{{"recipe.json", recipe("", "", ", \"files\": [\"smoke.py\"]")},
            {"t.sh", kShell + "python3 smoke.py\n"},
            {"smoke.py", "import os\nassert os.environ[\"KILN_CPU_FLAGS\"]\n"}},
           "smoke.py:2:20-34 KL090 method 'distro' does not declare KILN_CPU_FLAGS"},
          {{{"recipe.json", recipe("", "", ", \"files\": [\"smoke.py\"]")},
            {"t.sh", kShell + "python3 smoke.py\n"},
            {"smoke.py", "import os\nassert os.environ['KILN_CPU_FLAGS'], os.environ.get('KILN_MTUNE')\n"}},
           "smoke.py:2:20-34 KL090 method 'distro' does not declare KILN_CPU_FLAGS"},
      });
}

TEST(Parameters, AreRead) {
  expect_findings(
      "library/x",
      {
          {{{"recipe.json", recipe("", ", \"parameters\": [\"KILN_CPU_FLAGS\"]", "")},
            {"a.sh", kShell + "ls\n"}},
           "recipe.json:1:100 KL091 no script of method 'distro' reads KILN_CPU_FLAGS"},
          {{{"recipe.json", recipe("", ", \"parameters\": [\"CFLAGS\"]", "")}, {"a.sh", kShell + "ls\n"}},
           ""},
          {{{"recipe.json", recipe("", ", \"parameters\": [\"KILN_CPU_FLAGS\", \"CFLAGS\"]", "")},
            {"a.sh", kShell + "ls\n"}},
           "recipe.json:1:100 KL091 no script of method 'distro' reads KILN_CPU_FLAGS"},
          {{{"recipe.json", recipe("", ", \"parameters\": [\"KILN_CPU_FLAGS\"]", "")},
            {"t.sh", kShell + "a \"$KILN_CPU_FLAGS\"\n"}},
           ""},
      });
}

TEST(RecipeFiles, AreNamed) {
  expect_findings("library/x",
                  {
                      {{{"b.txt", "x\n"}}, "b.txt:1:1 KL092 recipe.json does not name 'b.txt'"},
                      {{{"b/c.sh", kShell + ""}}, "b/c.sh:1:1 KL092 recipe.json does not name 'b/c.sh'"},
                  });
}

TEST(Licenses, AreSaid) {
  expect_findings("library/x", {
                                   {{{"recipe.json",
                                      "{\"versions\": {\"1\": {}}, \"methods\": {\"distro\": {\"script\": "
                                      "\"a.sh\"}}, \"test\": {\"script\": \"t.sh\"}}"}},
                                    "recipe.json:1:1 KL093 nothing says under which licences it is"},
                               });
}

TEST(Caches, AreUsedByAScript) {
  auto recipe_with = [](const std::string& list) {
    return "{\"licenses\": \"MIT\", \"versions\": {\"1\": {}}, \"methods\": {\"distro\": {\"script\": "
           "\"a.sh\", \"cache\": [" +
           list + "]}}, \"test\": {\"script\": \"t.sh\"}}";
  };
  expect_findings(
      "library/x",
      {
          {{{"recipe.json", recipe_with("\"ccache\"")}},
           "recipe.json:1:94 KL095 no script of the method 'distro' uses the cache 'ccache': install ccache "
           "and "
           "put /usr/lib/ccache first in PATH"},
          {{{"recipe.json", recipe_with("\"ccache\"")},
            {"a.sh", kShell + "PATH=/usr/lib/ccache:$PATH make\n"}},
           ""},
          {{{"recipe.json", recipe_with("\"pip\"")},
            {"a.sh", kShell + "/opt/x/bin/pip install --no-cache-dir ./x\n"}},
           "recipe.json:1:94 KL095 no script of the method 'distro' uses the cache 'pip': call pip without "
           "--no-cache-dir"},
          {{{"recipe.json", recipe_with("\"pip\"")}, {"a.sh", kShell + "/opt/x/bin/pip install ./x\n"}}, ""},
      });
}

TEST(Sources, AreThereForScriptsThatReadThem) {
  expect_findings(
      "library/x",
      {
          {{{"a.sh", kShell + "curl -f \"${KILN_SOURCE_URL:-}\" | sha256sum -c\n"}},
           "recipe.json:1:39 KL018 method 'distro' downloads the source of 1, and there is none"},
          {{{"recipe.json",
             recipe("\"source\": {\"url\": \"https://a.org/a.tar\", \"checksum\": "
                    "\"sha256:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\"}",
                    "", "")},
            {"a.sh", kShell + "curl -f \"${KILN_SOURCE_URL:-}\" | sha256sum -c\n"}},
           ""},
          {{{"recipe.json",
             recipe("\"source\": {\"url\": \"https://u:p@a.org/a.tar\", \"checksum\": "
                    "\"sha256:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\"}",
                    "", "")}},
           "recipe.json:1:58 KL061 this URL has a password"},
      });
}

TEST(RecipeSecrets, AreFound) {
  expect_findings(
      "library/x",
      {
          {{{"recipe.json", recipe("\"facts\": {\"x\": \"glpat-aaaaaaaaaaaaaaaaaaaa\"}", "", "")}},
           "recipe.json:1:55 KL060 here is a GitLab token"},
          {{{"recipe.json", recipe("", ", \"environment\": {\"A_TOKEN\": \"hunter2\"}", "")}},
           "recipe.json:1:112 KL060 A_TOKEN looks like a secret by its name"},
          {{{"recipe.json", recipe("", ", \"environment\": {\"INDEX\": \"https://u:p@a.org\"}", "")}},
           "recipe.json:1:110 KL061 this URL has a password"},
      });
}

TEST(RecipeEnvironment, KeepsTheLibraryPath) {
  expect_findings(
      "library/x",
      {
          {{{"recipe.json", recipe("", ", \"environment\": {\"LD_LIBRARY_PATH\": \"/x\"}", "")}},
           "recipe.json:1:120 KL078 the base's LD_LIBRARY_PATH is lost"},
          {{{"recipe.json",
             recipe("", ", \"environment\": {\"LD_LIBRARY_PATH\": \"/cuda/stubs:$LD_LIBRARY_PATH\"}", "")}},
           "recipe.json:1:120 KL082 the stub hides the host's driver"},
          {{{"recipe.json", recipe("", ", \"environment\": {\"LIBRARY_PATH\": \"/cuda/stubs\"}", "")}}, ""},
      });
}

TEST(Drivers, SuitTheToolkit) {
  expect_findings(
      "base/x",
      {
          {{{"recipe.json",
             "{\"licenses\": \"MIT\", \"versions\": {\"1\": {\"facts\": {\"cuda\": \"11.8\"}}}, \"methods\": "
             "{\"hub\": {\"image\": "
             "\"docker.io/a@sha256:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\"}}, "
             "\"test\": {\"script\": \"t.sh\"}}"},
            {"a.sh", ""}},
           "recipe.json:1:39 KL032 CUDA 11.8 needs a driver from 450.80.02 on, and no fact says so"},
          {{{"recipe.json",
             "{\"licenses\": \"MIT\", \"versions\": {\"1\": {\"facts\": {\"cuda\": \"11.8\", \"driver\": "
             "\"450.80.02\"}}}, \"methods\": {\"hub\": {\"image\": "
             "\"docker.io/a@sha256:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\"}}, "
             "\"test\": {\"script\": \"t.sh\"}}"},
            {"a.sh", ""}},
           ""},
          {{{"recipe.json",
             "{\"licenses\": \"MIT\", \"versions\": {\"1\": {\"facts\": {\"cuda\": \"11.8\", \"driver\": "
             "\"450.80.01\"}}}, \"methods\": {\"hub\": {\"image\": "
             "\"docker.io/a@sha256:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\"}}, "
             "\"test\": {\"script\": \"t.sh\"}}"},
            {"a.sh", ""}},
           "recipe.json:1:39 KL032 CUDA 11.8 needs a driver from 450.80.02 on, not 450.80.01"},
          {{{"recipe.json",
             "{\"licenses\": \"MIT\", \"versions\": {\"1\": {\"facts\": {\"cuda\": \"11.8\", \"driver\": "
             "\"460\"}}}, \"methods\": {\"hub\": {\"image\": "
             "\"docker.io/a@sha256:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\"}}, "
             "\"test\": {\"script\": \"t.sh\"}}"},
            {"a.sh", ""}},
           ""},
          {{{"recipe.json",
             "{\"licenses\": \"MIT\", \"versions\": {\"1\": {\"facts\": {\"cuda\": \"none\"}}}, \"methods\": "
             "{\"hub\": {\"image\": "
             "\"docker.io/a@sha256:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\"}}, "
             "\"test\": {\"script\": \"t.sh\"}}"},
            {"a.sh", ""}},
           ""},
          {{{"recipe.json",
             "{\"licenses\": \"MIT\", \"versions\": {\"1\": {\"facts\": {\"driver\": \"1\"}}}, \"methods\": "
             "{\"hub\": {\"image\": "
             "\"docker.io/a@sha256:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\"}}, "
             "\"test\": {\"script\": \"t.sh\"}}"},
            {"a.sh", ""}},
           ""},
      });
}

TEST(RecipeBases, ArePinned) {
  expect_findings(
      "base/x",
      {
          {{{"recipe.json",
             "{\"licenses\": \"MIT\", \"versions\": {\"1\": {}}, \"methods\": {\"hub\": {\"image\": "
             "\"docker.io/a:1\"}}, \"test\": {\"script\": \"t.sh\"}}"},
            {"a.sh", ""}},
           "recipe.json:1:73 KL016 'docker.io/a:1' can be moved to another image"},
          {{{"recipe.json",
             "{\"licenses\": \"MIT\", \"versions\": {\"1\": {}}, \"methods\": {\"hub\": {\"image\": "
             "\"docker.io/a\"}}, \"test\": {\"script\": \"t.sh\"}}"},
            {"a.sh", ""}},
           "recipe.json:1:73 KL015 'docker.io/a' names no fixed version"},
          {{{"recipe.json",
             "{\"licenses\": \"MIT\", \"versions\": {\"1\": {}}, \"methods\": {\"hub\": {\"image\": "
             "\"docker.io/a@sha256:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\"}}, "
             "\"test\": {\"script\": \"t.sh\"}}"},
            {"a.sh", ""}},
           ""},
      });
}

TEST(RecipeWheels, AreForTheRecipesPython) {
  expect_findings(
      "library/x",
      {
          {{{"recipe.json", recipe("\"facts\": {\"python\": \"3.6\"}", ", \"files\": [\"list.txt\"]", "")},
            {"list.txt", "x\na-1.0-cp36-cp36m-linux_x86_64.whl\n"}},
           ""},
          {{{"recipe.json", recipe("\"facts\": {\"python\": \"3.7\"}", ", \"files\": [\"list.txt\"]", "")},
            {"list.txt", "x\na-1.0-cp36-cp36m-linux_x86_64.whl\n"}},
           "list.txt:2:1-34 KL023 this wheel is for Python 3.6, and the recipe's is 3.7"},
          {{{"recipe.json", recipe("\"facts\": {\"python\": \"3.12\"}", ", \"files\": [\"list.txt\"]", "")},
            {"list.txt", "x\na-1.0-cp312-cp312-linux_x86_64.whl\n"}},
           ""},
          {{{"recipe.json", recipe("\"facts\": {\"python\": \"3.1\"}", ", \"files\": [\"list.txt\"]", "")},
            {"list.txt", "x\na-1.0-cp312-cp312-linux_x86_64.whl\n"}},
           "list.txt:2:1-35 KL023 this wheel is for Python 3.12, and the recipe's is 3.1"},
          {{{"recipe.json", recipe("\"facts\": {\"python\": \"3.6\"}", ", \"files\": [\"list.txt\"]", "")},
            {"list.txt", "x\na-1.0-cp37-abi3-linux_x86_64.whl\n"}},
           ""},
          {{{"recipe.json", recipe("\"facts\": {\"python\": \"3.6\"}", ", \"files\": [\"list.txt\"]", "")},
            {"list.txt", "x\na-1.0-py3-none-linux_x86_64.whl\n"}},
           ""},
          {{{"recipe.json", recipe("\"facts\": {\"x\": \"3.7\"}", ", \"files\": [\"list.txt\"]", "")},
            {"list.txt", "x\na-1.0-cp36-cp36m-linux_x86_64.whl\n"}},
           ""},
      });
}

}  // namespace
}  // namespace kiln::lint
