#include "factory/source/pip_words.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "factory/source/shell.h"

namespace kiln {
namespace {

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
