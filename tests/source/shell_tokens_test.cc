#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <sstream>

#include "factory/base/effects.h"
#include "factory/base/quote.h"
#include "factory/source/shell.h"
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
            Words({"a", "b cd e", "&&", "f", ";", "(", "g", ")", "||", "h", "\n", ">", "x", ">>", "y"}));
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
  for (const char* script :
       {"'a", "\"a", "$(a", "${a", "`a", "a <<E", "$((a)", "$((a", "${a:-'}", "\"$(\"", "a <<E\n E\n"})
    EXPECT_FALSE(shell_tokens(script).complete) << script;
  for (const char* script : {"a", "'a'", "a\\", "", "$((a))", "a <<E\nE", "a <<E\nE\n", "(", "${a}", "# 'a"})
    EXPECT_TRUE(shell_tokens(script).complete) << script;
}

// "raw=text" of every token, with what it is behind: q quoted, e with an expansion, p of a pattern, o an
// operator.
std::string marks(const std::string& script) {
  std::string out;
  for (const ShellToken& token : shell_tokens(script).tokens) {
    if (token.kind == ShellToken::Kind::line_end) continue;
    out += token.raw + "=" + token.text;
    out += token.quoted ? " q" : "";
    out += token.literal ? "" : " e";
    out += token.kind == ShellToken::Kind::pattern ? " p" : "";
    out += token.kind == ShellToken::Kind::operation ? " o" : "";
    out += "; ";
  }
  return out;
}

TEST(ShellTokens, QuotesAreTakenOffAndExpansionsKept) {
  EXPECT_EQ(marks("a 'b c'd"), "a=a; 'b c'd=b cd q; ");
  EXPECT_EQ(marks("\"$A/b\" c$D"), "\"$A/b\"=$A/b q e; c$D=c$D e; ");
  EXPECT_EQ(marks(R"("a\"b" "\$c" "\n" "\\" "\`")"),
            R"("a\"b"=a"b q; "\$c"=$c q; "\n"=\n q; "\\"=\ q; "\`"=` q; )");
  EXPECT_EQ(marks(R"('a\'b \' c\ d)"), R"('a\'b=a\b q; \'=' q; c\ d=c d q; )");
  EXPECT_EQ(marks("\"'\" '\"'"), "\"'\"=' q; '\"'=\" q; ");
  EXPECT_EQ(marks("\"\"''"), "\"\"''= q; ");
  EXPECT_EQ(marks("a$'b'"), "a$'b'=a$b q; ") << "not POSIX: a dollar sign and a quoted word";
}

TEST(ShellTokens, NestedQuotesBelongToTheirLevel) {
  EXPECT_EQ(marks(R"~("$(a ")" 'b')" c)~"), R"~("$(a ")" 'b')"=$(a ")" 'b') q e; c=c; )~");
  EXPECT_EQ(marks(R"~("a$(b "c$(d "e)")")f" g)~"),
            R"~("a$(b "c$(d "e)")")f"=a$(b "c$(d "e)")")f q e; g=g; )~");
  EXPECT_EQ(marks(R"~("${a:-it's}" b)~"), R"~("${a:-it's}"=${a:-it's} q e; b=b; )~")
      << "no quote inside of quotes";
  EXPECT_EQ(marks("${a:-'}'} b"), "${a:-'}'}=${a:-'}'} e; b=b; ");
  EXPECT_EQ(marks("${a:-${b:-c}} d"), "${a:-${b:-c}}=${a:-${b:-c}} e; d=d; ");
  EXPECT_EQ(marks(R"~(${a:-"}"} ${b%\}} c)~"), R"~(${a:-"}"}=${a:-"}"} e; ${b%\}}=${b%\}} e; c=c; )~");
  EXPECT_EQ(marks("`a \\` b` c"), "`a \\` b`=`a \\` b` e; c=c; ");
}

TEST(ShellTokens, NamesOfVariablesEndWithTheirLastByte) {
  EXPECT_EQ(marks("$a.b"), "$a.b=$a.b e; ");
  EXPECT_EQ(marks("$1a $? $@b"), "$1a=$1a e; $?=$? e; $@b=$@b e; ");
  EXPECT_EQ(marks("$ $% a$"), "$=$; $%=$%; a$=a$; ") << "a dollar sign alone";
}

TEST(ShellTokens, LineContinuationsAreLeftOut) {
  EXPECT_EQ(marks("a\\\nb \\\n c"), "ab=ab; c=c; ");
  EXPECT_EQ(marks("\"a\\\nb\""), "\"ab\"=ab q; ");
  EXPECT_EQ(marks("'a\\\nb'"), "'a\\\nb'=a\\\nb q; ") << "not inside single quotes";
  EXPECT_EQ(marks("a\\\r\nb"), "a\\\r=a\r q; b=b; ") << "of a script, \\r is a byte like others";
}

TEST(ShellTokens, NumbersInFrontOfARedirectionAreItsOwn) {
  EXPECT_EQ(marks("a 2>b"), "a=a; 2>=> o; b=b; ");
  EXPECT_EQ(marks("a 2 >b"), "a=a; 2=2; >=> o; b=b; ");
  EXPECT_EQ(marks("a2>b"), "a2=a2; >=> o; b=b; ");
  EXPECT_EQ(marks("a '2'>&1"), "a=a; '2'=2 q; >&=>& o; 1=1; ");
  EXPECT_EQ(marks("10<>f <<-E"), "10<>=<> o; f=f; <<-=<<- o; E=E; ");
}

TEST(ShellTokens, OperatorsAreTheLongestThatFit) {
  EXPECT_EQ(words_of("a<<<b>|c>>d<&e>&f;;g|h||i&j"),
            Words({"a", "<<<", "b", ">|", "c", ">>", "d", "<&", "e", ">&", "f", ";;", "g", "|", "h", "||",
                   "i", "&", "j"}));
}

TEST(ShellTokens, WordsOfPatternsAreKnown) {
  EXPECT_EQ(marks("case a in (b|'c') d;; e) esac"),
            "case=case; a=a; in=in; (=( p; b=b p; |=| p; 'c'=c q p; )=) p; d=d; ;;=;; o; e=e p; )=) p; "
            "esac=esac; ");
  EXPECT_EQ(marks("echo case a in b"), "echo=echo; case=case; a=a; in=in; b=b; ");
  EXPECT_EQ(marks("then case a in b"), "then=then; case=case; a=a; in=in; b=b p; ");
  EXPECT_EQ(marks(">case a in b"), ">=> o; case=case; a=a; in=in; b=b; ") << "the target of a redirection";
}

TEST(ShellTokens, SpansHoldTheWordAsWritten) {
  const std::string script = "a \\\n 'b'\\\nc 2>d\n$(e f)";
  std::string out;
  for (const ShellToken& token : shell_tokens(script).tokens)
    out += script.substr(token.span.begin, token.span.end - token.span.begin) + "|";
  EXPECT_EQ(out, "a|'b'\\\nc|2>|d|\n|$(e f)|");
}

TEST(ShellTokens, SubstitutionsAreReadToo) {
  const ShellTokens tokens = shell_tokens("x\"$(a b)\"`c`${d:-$(e)}");
  ASSERT_EQ(tokens.tokens.size(), 1u);
  std::string inner;
  for (const ShellTokens& one : tokens.tokens[0].substitutions) {
    for (const ShellToken& token : one.tokens) inner += token.text + " ";
    inner += "| ";
  }
  EXPECT_EQ(inner, "a b | c | e | ");
}

TEST(ShellTokens, AssignmentsHaveNames) {
  EXPECT_EQ(assigned_name("A=b"), "A");
  EXPECT_EQ(assigned_name("a_1+=b=c"), "a_1");
  EXPECT_EQ(assigned_name("A="), "A");
  for (const char* word : {"=b", "A", "", "1A=b", "A-B=c", "+=b", "A+B=c", "$A=b", "--a=b"})
    EXPECT_EQ(assigned_name(word), "") << word;
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
