#include "factory/source/pip_words.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "factory/source/shell.h"

namespace kiln {
namespace {

// "name[extras]version@url!exact"
std::string package_text(const std::string& text) {
  const PipPackage one = read_pip_package(text, {});
  return one.name + (one.extras.empty() ? "" : "[" + one.extras + "]") +
         (one.version.empty() ? "" : " " + one.version) + (one.url.empty() ? "" : " @" + one.url) +
         (one.exact ? " exact" : "");
}

TEST(PipPackages, HaveNormalNames) {
  EXPECT_EQ(normal_package_name("Flask_Login"), "flask-login");
  EXPECT_EQ(normal_package_name("a.-_b"), "a-b");
  EXPECT_EQ(normal_package_name("ruamel.yaml"), "ruamel-yaml");
  EXPECT_EQ(package_text("Flask_Login"), "flask-login");
}

TEST(PipPackages, HaveVersions) {
  EXPECT_EQ(package_text("torch==2.6.0"), "torch 2.6.0 exact");
  EXPECT_EQ(package_text("torch===2.6.0"), "torch 2.6.0 exact");
  EXPECT_EQ(package_text("torch == 2.6.0+cpu ; python_version > '3'"), "torch 2.6.0+cpu exact");
  EXPECT_EQ(package_text("a==1.*"), "a 1.*");
  EXPECT_EQ(package_text("a=="), "a");
  for (const char* text : {"a>=1", "a<1", "a~=1", "a!=1", "a>1,==2"})
    EXPECT_EQ(package_text(text), "a") << text;
  EXPECT_EQ(package_text("a==1,<2"), "a 1 exact");
  EXPECT_EQ(package_text("a==1 --hash=x"), "a 1 exact");
}

TEST(PipPackages, HaveExtras) {
  EXPECT_EQ(package_text("jax[cuda12]==0.4"), "jax[cuda12] 0.4 exact");
  EXPECT_EQ(package_text("jax[a,b] >= 1"), "jax[a,b]");
  EXPECT_EQ(package_text("jax[]==1"), "jax 1 exact");
  EXPECT_EQ(package_text("jax[open==1"), "jax[open==1]") << "nothing closes it";
}

TEST(PipPackages, MayBeUrls) {
  EXPECT_EQ(package_text("a @ https://x.org/a.whl"), "a @https://x.org/a.whl exact");
  EXPECT_EQ(package_text("A_b[c]@https://x.org/a.whl --hash=x"), "a-b[c] @https://x.org/a.whl exact");
  EXPECT_EQ(package_text("git+https://x.org/a.git@v1 b"), " @git+https://x.org/a.git@v1 exact");
  EXPECT_EQ(package_text("https://x.org/a.whl"), " @https://x.org/a.whl exact");
}

TEST(PipPackages, AreNotOptionsPathsOrVariables) {
  for (const char* text : {"./a", "/a", "$X", "a$X", "a*", "dist/a", "dist/*.whl", "a-1.whl", "-r",
                           "--index-url=a", "requirements.txt", "", "  ", "# a"})
    EXPECT_EQ(package_text(text), "") << text;
}

TEST(PipPackages, KeepTheirPlace) {
  const PipPackage one = read_pip_package("a", {3, 4});
  EXPECT_EQ(one.span.begin, 3u);
  EXPECT_EQ(one.span.end, 4u);
}

std::string lines(const std::string& text) {
  const RequirementsFile file = read_requirements_file(SourceFile("r.txt", text));
  std::string out = file.index;
  for (const PipPackage& one : file.packages)
    out += fmt::format(" {}{}:{}-{}", one.name, one.hashed ? "#" : "", one.span.begin, one.span.end);
  return out;
}

TEST(RequirementsFiles, AreReadByLine) {
  EXPECT_EQ(lines("a\n\n# b\nc==1 # d\n-r e.txt\n-c f.txt\n"), " a:0-1 c:7-15");
  EXPECT_EQ(lines("a#b\n"), "") << "a comment needs a blank in front";
  EXPECT_EQ(lines(""), "");
}

TEST(RequirementsFiles, HashesMayStandOnFurtherLines) {
  EXPECT_EQ(lines("a==1 --hash=sha256:b\n"), " a#:0-20");
  EXPECT_EQ(lines("a==1 --hash sha256:b\n"), " a#:0-20");
  EXPECT_EQ(lines("a==1 \\\n  --hash=sha256:b \\\n  --hash=sha256:c\nd\n"), " a#:0-6 d:45-46");
  EXPECT_EQ(lines("a==1 \\"), " a:0-6") << "the file ends in a continued line";
  EXPECT_EQ(lines("a==1\n--hash=x\n"), " a:0-4");
}

TEST(RequirementsFiles, TheLastIndexCounts) {
  EXPECT_EQ(lines("--index-url https://x.org\na\n"), "https://x.org a:26-27");
  EXPECT_EQ(lines("--index-url=https://x.org\n"), "https://x.org");
  EXPECT_EQ(lines("-i https://x.org\n--extra-index-url  https://y.org\n"), "https://y.org");
  EXPECT_EQ(lines("--index-urls https://x.org\n-i\n"), "");
}

// "verb|operands|files|index|marks" of what stands behind "pip"; "none" for another verb.
std::string read(const std::string& line) {
  const ShellText shell = read_shell(line);
  std::vector<const ShellToken*> words;
  for (const ShellToken& word : shell.commands.at(0).words) words.push_back(&word);
  auto pip = read_pip_words(words);
  if (!pip) return "none";
  std::string operands;
  for (const ShellToken* word : pip->operands) operands += (operands.empty() ? "" : " ") + word->text;
  return fmt::format("{}|{}|{}|{}|{}{}", pip->verb->text, operands, fmt::join(pip->files, " "), pip->index,
                     pip->hashes ? "h" : "", pip->no_index ? "n" : "");
}

TEST(PipWords, AreOfThreeVerbs) {
  EXPECT_EQ(read("install a b==1 'c>=2'"), "install|a b==1 c>=2|||");
  EXPECT_EQ(read("download a"), "download|a|||");
  EXPECT_EQ(read("wheel a"), "wheel|a|||");
  EXPECT_EQ(read("--no-cache-dir install a"), "install|a|||");
  EXPECT_EQ(read("install install"), "install|install|||") << "only the first is the verb";
  EXPECT_EQ(read("uninstall a"), "none");
  EXPECT_EQ(read("list"), "none");
}

TEST(PipWords, FilesMayBeNamedInFourWays) {
  EXPECT_EQ(read("install -r a.txt --requirement b.txt -r=c.txt --requirement=d.txt e"),
            "install|e|a.txt b.txt c.txt d.txt||");
  EXPECT_EQ(read("install -r"), "install||||");
  EXPECT_EQ(read("install --requirements a"), "install|a|||") << "no option of pip";
}

TEST(PipWords, TheLastIndexCounts) {
  for (const char* option : {"-i", "--index-url", "--extra-index-url", "-f", "--find-links"}) {
    EXPECT_EQ(read(fmt::format("install {} u a", option)), "install|a||u|") << option;
    EXPECT_EQ(read(fmt::format("install {}=u a", option)), "install|a||u|") << option;
    EXPECT_EQ(read(fmt::format("install -i x {} u a", option)), "install|a||u|") << option;
  }
}

TEST(PipWords, ValuesOfOptionsAreNoPackages) {
  for (const char* option : {"-c",
                             "--constraint",
                             "-t",
                             "--target",
                             "--prefix",
                             "--root",
                             "--python",
                             "--platform",
                             "--abi",
                             "--python-version",
                             "--implementation",
                             "--only-binary",
                             "--no-binary",
                             "--progress-bar",
                             "--cache-dir",
                             "--src",
                             "--timeout",
                             "--retries",
                             "--trusted-host",
                             "--upgrade-strategy",
                             "--root-user-action",
                             "-C",
                             "--config-settings",
                             "-e",
                             "--editable",
                             "--proxy",
                             "-d",
                             "--dest",
                             "-w",
                             "--wheel-dir"}) {
    EXPECT_EQ(read(fmt::format("install {} v a", option)), "install|a|||") << option;
    EXPECT_EQ(read(fmt::format("install {}=v a", option)), "install|a|||") << option;
    EXPECT_EQ(read(fmt::format("install a {}", option)), "install|a|||") << option;
  }
  for (const char* option : {"-U", "--upgrade", "--user", "-q", "--no-deps", "--pre"})
    EXPECT_EQ(read(fmt::format("install {} a", option)), "install|a|||") << option;
}

TEST(PipWords, KnowHashesAndNoIndex) {
  EXPECT_EQ(read("install --require-hashes a"), "install|a|||h");
  EXPECT_EQ(read("install --no-index a"), "install|a|||n");
  EXPECT_EQ(read("--require-hashes install --no-index a"), "install|a|||hn");
  EXPECT_EQ(read("install require-hashes"), "install|require-hashes|||");
}

TEST(PipWords, PipHasAVersionInItsName) {
  for (const char* name : {"pip", "pip2", "pip3", "pip3.11"}) EXPECT_TRUE(is_pip(name)) << name;
  for (const char* name : {"pipx", "pip-compile", "pi", "xpip", "pip3x", ""})
    EXPECT_FALSE(is_pip(name)) << name;
}

}  // namespace
}  // namespace kiln
