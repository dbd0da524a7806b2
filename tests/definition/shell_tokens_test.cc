#include "definition/shell_tokens.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <sstream>

#include "base/effects.h"
#include "plan/render.h"
#include "support/temporary_folder.h"

namespace kiln::testing {
namespace {

std::vector<std::string> words_of(const std::string& script) {
  std::vector<std::string> words;
  for (const ShellToken& token : shell_tokens(script).tokens) words.push_back(token.text);
  return words;
}

using Words = std::vector<std::string>;

TEST(ShellTokens, WordsAndOperators) {
  EXPECT_EQ(words_of("a 'b c'\"d\"\\ e&&f;(g)||h # no\n>x 2>>y"),
            Words({"a", "b cd e", "&&", "f", ";", "(", "g", ")", "||", "h", "\n", ">", "x", "2", ">>", "y"}));
  EXPECT_EQ(words_of("a \\\n b\\\nc"), Words({"a", "bc"}));
  EXPECT_EQ(words_of("a#b"), Words({"a#b"}));
  EXPECT_EQ(words_of("''"), Words({""}));
}

TEST(ShellTokens, SubstitutionsAreNotLiteral) {
  for (const char* script :
       {"$a", "\"$a b\"", "${a:-'}'}", "$(echo \")\" (x))", "`a \\` b`", "x$((1 + 2))", "$1", "$#"}) {
    ShellTokens tokens = shell_tokens(script);
    ASSERT_EQ(tokens.tokens.size(), 1u) << script;
    EXPECT_FALSE(tokens.tokens[0].literal) << script;
    EXPECT_EQ(tokens.tokens[0].raw, script);
    EXPECT_TRUE(tokens.complete) << script;
  }
  EXPECT_TRUE(shell_tokens("a$ $.").tokens[0].literal);
}

TEST(ShellTokens, BodiesOfHeredocsAreLeftOut) {
  EXPECT_EQ(words_of("cat <<EOF >x; b\n$a 'open\nEOF\nc"),
            Words({"cat", "<<", "EOF", ">", "x", ";", "b", "\n", "c"}));
  EXPECT_EQ(words_of("cat <<-'E F'\n\tx\n\tE F\nc"), Words({"cat", "<<-", "E F", "\n", "c"}));
  EXPECT_FALSE(shell_tokens("cat <<EOF\nx").complete);
}

TEST(ShellTokens, OpenEndsAreSaid) {
  for (const char* script : {"'a", "\"a", "$(a", "${a", "`a", "a <<E"})
    EXPECT_FALSE(shell_tokens(script).complete) << script;
  for (const char* script : {"a", "'a'", "a\\", ""}) EXPECT_TRUE(shell_tokens(script).complete) << script;
}

TEST(ShellTokens, Commands) {
  std::vector<ShellCommand> commands = shell_commands(shell_tokens("a b >c 2>&1 && d\n(e | f <g)"));
  ASSERT_EQ(commands.size(), 4u);
  EXPECT_EQ(commands[0].words.size(), 3u) << "the 2 of 2>&1 counts as a word";
  EXPECT_EQ(commands[3].words[0].text, "f");
}

// Against the real shell: it prints its words, which must be ours.
TEST(ShellTokens, ARealShellSplitsQuotedWordsTheSameWay) {
  const std::vector<std::string> pieces = {"a",  "'",  "\"", "\\", " ", "b c",  "é",   "=",
                                           "\t", "{{", "%",  ":",  ".", "\\\n", "\\\""};
  std::mt19937 random(11);
  std::string script;
  std::vector<std::string> texts;
  std::vector<std::string> expected;
  for (int i = 0; i < 3000; ++i) {
    std::string text;
    for (auto length = random() % 10; length > 0; --length) text += pieces[random() % pieces.size()];
    ShellTokens tokens = shell_tokens(text);
    bool one_line = std::none_of(tokens.tokens.begin(), tokens.tokens.end(), [](const ShellToken& token) {
      return token.kind == ShellToken::Kind::line_end;
    });
    if (!tokens.complete || !one_line || text.ends_with('\\')) continue;
    script += "for w in '' " + text + "\ndo printf '<%s>' \"$w\"; done; printf '\\001'\n";
    expected.emplace_back("<>");
    for (const ShellToken& token : tokens.tokens) expected.back() += "<" + token.text + ">";
    texts.push_back(text);
  }
  EXPECT_GT(texts.size(), 1000u);
  TemporaryFolder folder;
  Command command;
  command.argv = {"/bin/sh", folder.write("words.sh", script)};
  command.environment = {{"PATH", "/usr/bin:/bin"}};
  command.capture_stdout = true;
  std::istringstream output(RealCommandRunner().run(command).output);
  for (std::size_t i = 0; i < texts.size(); ++i) {
    std::string words;
    ASSERT_TRUE(std::getline(output, words, '\001')) << "the shell stopped at: " << texts[i];
    ASSERT_EQ(words, expected[i]) << texts[i];
  }
}

TEST(ShellTokens, ReadsBackWhatKilnQuotes) {
  std::mt19937 random(5);
  for (int i = 0; i < 5000; ++i) {
    std::string value;
    for (auto length = random() % 20; length > 0; --length)
      value += "'\"\\$`{} \t#;&|<>()%!*a\x7f"[random() % 22];
    ShellTokens tokens = shell_tokens(quote_shell(value));
    ASSERT_EQ(tokens.tokens.size(), 1u) << value;
    ASSERT_TRUE(tokens.tokens[0].literal);
    ASSERT_EQ(tokens.tokens[0].text, value);
  }
}

}  // namespace
}  // namespace kiln::testing
