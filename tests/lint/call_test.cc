// What a command calls: the program behind its wrappers, and its arguments.
#include <gtest/gtest.h>

#include "factory/lint/unit.h"

namespace kiln::lint {
namespace {

// "program argument argument", with "sudo:" in front when it is called so.
std::string call(const std::string& text) {
  const ShellText shell = read_shell(text);
  const Call found = call_of(shell.commands.at(0));
  std::string out = (found.sudo ? "sudo:" : "") + found.program;
  for (const ShellToken* word : found.arguments) out += " " + word->text;
  return out;
}

TEST(Calls, SeeThroughWrappers) {
  EXPECT_EQ(call("sudo -E env A=1 apt-get install x"), "sudo:apt-get install x");
  EXPECT_EQ(call("A=1 B=2 \"$P/bin/python3\" -m pip install x"), "pip install x");
  EXPECT_EQ(call("exec python3 smoke.py"), "python3 smoke.py");
  EXPECT_EQ(call("nice nohup time command eval ionice -c3 a -b"), "a -b");
  EXPECT_EQ(call("/usr/bin/env -i a"), "a");
  EXPECT_EQ(call("A=1"), "");
  EXPECT_EQ(call("A=1 sudo"), "sudo:");
  EXPECT_EQ(call("-x a"), "-x a") << "an option is skipped behind a wrapper only";
  EXPECT_EQ(call("a sudo env"), "a sudo env");
}

TEST(Calls, KnowPipOfPython) {
  EXPECT_EQ(call("python -m pip list"), "pip list");
  EXPECT_EQ(call("/v/bin/python3.11 -m pip"), "pip");
  EXPECT_EQ(call("python3 -m venv pip"), "python3 -m venv pip");
  EXPECT_EQ(call("python3 -c pip"), "python3 -c pip");
  EXPECT_EQ(call("pythonista -m pip"), "pythonista -m pip");
  EXPECT_EQ(call("python -m"), "python -m");
}

TEST(Calls, FindArguments) {
  const ShellText shell = read_shell("git -C folder --depth=1 clone -v url");
  const Call git = call_of(shell.commands.at(0));
  EXPECT_TRUE(git.has("-v"));
  EXPECT_FALSE(git.has("--depth"));
  EXPECT_TRUE(git.has_prefix("--depth"));
  EXPECT_FALSE(git.has_prefix("depth"));
  EXPECT_EQ(git.find("url"), git.arguments.back());
  EXPECT_EQ(git.find("git"), nullptr);
  EXPECT_EQ(git.subcommand({"-C"})->text, "clone");
  EXPECT_EQ(git.subcommand()->text, "folder") << "an option that takes no value";
  const ShellText bare = read_shell("git -C folder");
  EXPECT_EQ(call_of(bare.commands.at(0)).subcommand({"-C"}), nullptr);
}

TEST(PipCalls, HavePackages) {
  auto packages = [](const std::string& text) -> std::string {
    const ShellText shell = read_shell(text);
    auto pip = pip_call(shell.commands.at(0));
    if (!pip) return "none";
    std::string names;
    for (const PipPackage& one : pip->packages) names += one.name + one.url + " ";
    return names;
  };
  EXPECT_EQ(packages("pip install A_b==1 ./c \"$D\" -r e https://x.org/f@1 g.whl"), "a-b https://x.org/f@1 ");
  EXPECT_EQ(packages("uv pip install a"), "a ");
  EXPECT_EQ(packages("uv install a"), "none");
  EXPECT_EQ(packages("pip2.7 install a"), "a ");
  EXPECT_EQ(packages("pipx install a"), "none");
  EXPECT_EQ(packages("pip freeze"), "none");
}

}  // namespace
}  // namespace kiln::lint
