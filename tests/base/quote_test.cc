#include "factory/base/quote.h"

#include <gtest/gtest.h>

#include <random>
#include <sstream>

#include "factory/base/effects.h"
#include "support/render_sample.h"

namespace kiln::testing {
namespace {

// Random lines of the characters that matter, always the same ones.
std::vector<std::string> random_values(std::size_t count) {
  const std::vector<std::string> pieces = {
      "'", "\"", "\\", "$",   "`", "{{", "{",  "}}", "%post", "# syntax=", "EOF", "é",  "\xf0\x9f\x94\xa5",
      " ", "\t", "a",  "b c", "!", "*",  "&&", ";",  "|",     "(",         ")",   "<<", ":",
      "=", "~",  "#"};
  std::mt19937 random(7);
  std::vector<std::string> values = hostile_values();
  while (values.size() < count) {
    std::string value;
    for (auto length = random() % 12; length > 0; --length) value += pieces[random() % pieces.size()];
    values.push_back(value);
  }
  return values;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

std::string output_of(const std::vector<std::string>& argv) {
  RealCommandRunner runner;
  Command command;
  command.argv = argv;
  command.environment = {{"PATH", "/usr/bin:/bin"}, {"HOME", "/"}};
  command.capture_stdout = true;
  CommandResult result = runner.run(command);
  EXPECT_TRUE(result.ok()) << result.tail;
  return result.output;
}

TEST(QuoteShell, ARealShellReadsBackEveryValue) {
  std::vector<std::string> values = random_values(600);
  std::string script;
  for (const std::string& value : values) script += "printf '%s\\n' " + quote_shell(value) + "\n";
  EXPECT_EQ(lines_of(output_of({"/bin/sh", "-euc", script})), values);
}

TEST(QuoteShell, NeverShowsADoubleBraceToTemplating) {
  for (const std::string& value : random_values(600)) {
    EXPECT_EQ(quote_shell(value).find("{{"), std::string::npos) << value;
  }
  EXPECT_EQ(quote_shell("{{ x }}"), "'{''{ x }}'");
}

TEST(QuoteShell, RefusesLineEnds) {
  for (const std::string& value : {std::string("a\nRUN id"), std::string("a\rb"), std::string("a\0b", 3)}) {
    EXPECT_THROW(quote_shell(value), Error);
    EXPECT_THROW(quote_docker_env(value), Error);
    EXPECT_THROW(quote_ninja(value), Error);
  }
  EXPECT_THROW(quote_shell("a\xff"), Error) << "BuildKit would make U+FFFD of it";
  EXPECT_THROW(quote_docker_env("\xc3"), Error);
  try {
    quote_shell("one\ntwo");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::input);
    EXPECT_EQ(error.message(), "the value 'one?two' has a line end or a NUL in it");
  }
}

TEST(QuoteShellText, ARealShellReadsBackEveryByte) {
  std::string all;
  for (int i = 1; i < 256; ++i) all += static_cast<char>(i);
  EXPECT_EQ(output_of({"/bin/sh", "-euc", "printf %s " + quote_shell_text(all)}), all);
  EXPECT_EQ(output_of({"/bin/sh", "-euc", "printf %s " + shell_text_word(all)}), all);
  EXPECT_EQ(quote_shell_text("a'b"), "'a'\\''b'");
  EXPECT_EQ(quote_shell_text("/usr/bin"), "'/usr/bin'");
}

TEST(ShellWord, IsBareWhereNoShellSeesAnything) {
  EXPECT_EQ(shell_word("/usr/a.b:c@d_e+f=g,h-1"), "/usr/a.b:c@d_e+f=g,h-1");
  EXPECT_EQ(shell_word(""), "''");
  EXPECT_EQ(shell_text_word("/usr/a.b"), "/usr/a.b");
  for (char c : std::string_view(" \t\n!\"#$%&'()*;<>?[\\]^`{|}~\xc3"))
    EXPECT_EQ(shell_text_word(std::string("a") + c).front(), '\'') << c;
  EXPECT_EQ(shell_word("it's"), quote_shell("it's"));
  EXPECT_EQ(shell_text_word("it's"), quote_shell_text("it's"));
  EXPECT_THROW(shell_word("a\nb"), Error);
}

// Docker's rule for double quotes: a backslash goes before ", \ and $ only; $ starts a variable; " ends the
// value.
std::string read_docker_value(const std::string& quoted) {
  EXPECT_TRUE(quoted.size() >= 2 && quoted.front() == '"' && quoted.back() == '"') << quoted;
  std::string value;
  for (std::size_t i = 1; i + 1 < quoted.size(); ++i) {
    char c = quoted[i];
    EXPECT_NE(c, '"') << "the value ends early: " << quoted;
    EXPECT_NE(c, '$') << "a variable: " << quoted;
    if (c == '\\') {
      c = quoted.at(++i);
      EXPECT_TRUE(c == '"' || c == '\\' || c == '$') << quoted;
      EXPECT_LT(i + 1, quoted.size()) << "the closing quote is escaped: " << quoted;
    }
    value += c;
  }
  return value;
}

TEST(QuoteDockerEnv, ReadsBackByDockersRule) {
  for (const std::string& value : random_values(600))
    EXPECT_EQ(read_docker_value(quote_docker_env(value)), value);
}

// ninja itself says what it read: `-t targets` prints the outputs, `-t commands` the commands.
TEST(QuoteNinja, ARealNinjaReadsBackPathsAndValues) {
  std::string paths;
  std::string commands = "rule r\n  command = $text\n";
  std::vector<std::string> values;
  for (const std::string& value : random_values(300)) {
    if (value.find_first_of("|/~") != std::string::npos)
      continue;  // "|" is refused in paths, "/" is cleaned up
    values.push_back("p" + value);
    std::string number = std::to_string(values.size());
    paths += "build " + quote_ninja("n" + number + values.back()) + ": phony\n";
    commands += "build t" + number + ": r\n  text = " + quote_ninja(values.back()) + "\n";
  }
  fs::path folder = fs::path(::testing::TempDir()) / "kiln-quote-ninja";
  RealFileSystem files;
  files.write(folder / "paths.ninja", paths);
  files.write(folder / "commands.ninja", commands);

  std::vector<std::string> expected;
  for (std::size_t i = 0; i < values.size(); ++i)
    expected.push_back("n" + std::to_string(i + 1) + values[i] + ": phony");
  std::vector<std::string> targets = lines_of(
      output_of({"ninja", "-C", folder.string(), "--quiet", "-f", "paths.ninja", "-t", "targets", "all"}));
  std::sort(targets.begin(), targets.end());
  std::sort(expected.begin(), expected.end());
  EXPECT_EQ(targets, expected);

  std::vector<std::string> read = lines_of(
      output_of({"ninja", "-C", folder.string(), "--quiet", "-f", "commands.ninja", "-t", "commands"}));
  std::sort(read.begin(), read.end());
  std::sort(values.begin(), values.end());
  EXPECT_EQ(read, values);
  files.remove_all(folder);
}

TEST(Markup, TakesNothingForItsOwn) {
  EXPECT_EQ(markup_text("<b a=\"1\" c='2'>&amp;</b>"),
            "&lt;b a=&quot;1&quot; c=&#39;2&#39;&gt;&amp;amp;&lt;/b&gt;");
}

TEST(Markup, LeavesLettersAlone) { EXPECT_EQ(markup_text("zen3, Zürich 7/8"), "zen3, Zürich 7/8"); }

TEST(Markup, TakesControlsAway) { EXPECT_EQ(markup_text("a\x1b[31mb\x07"), "ab"); }

}  // namespace
}  // namespace kiln::testing
