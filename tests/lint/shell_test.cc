#include "lint/shell.h"

#include <gtest/gtest.h>

namespace kiln::lint {
namespace {

// Commands as "before<words>after", words joined by "|".
std::string shape(const std::string& text, ShellDialect dialect = ShellDialect::script) {
  std::string out;
  auto sign = [](const std::string& operator_) { return operator_ == "\n" ? std::string("\\n") : operator_; };
  for (const ShellCommand& command : read_shell(text, {0, text.size()}, dialect).commands) {
    out += sign(command.before) + "<";
    for (const ShellWord& word : command.words)
      out += (&word == &command.words.front() ? "" : "|") + word.text;
    out += ">" + sign(command.after) + " ";
  }
  return out;
}

TEST(Shell, SplitsCommands) {
  EXPECT_EQ(shape("a b && c || d; e | f &\ng"), "<a|b>&& &&<c>|| ||<d>; ;<e>| |<f>& \\n<g> ");
  EXPECT_EQ(shape("a \\\n  b\n"), "<a|b>\\n ");
  EXPECT_EQ(shape("# no\na # b\n"), "\\n<a>\\n ");
}

TEST(Shell, RemovesQuotesAndKeepsExpansions) {
  EXPECT_EQ(shape(R"("$A/bin/pip" 'x y' a\ b "c\"d" ${E:-"f g"} $((1 + 2)))"),
            R"(<$A/bin/pip|x y|a b|c"d|${E:-"f g"}|$((1 + 2))> )");
}

TEST(Shell, ReadsNestedCommands) {
  EXPECT_EQ(shape("x=$(curl -s \"$(cat u)\")"), "<x=$(curl -s \"$(cat u)\")> <curl|-s|$(cat u)> <cat|u> ");
  EXPECT_EQ(shape("if a; then { b; }; fi"), "<a>; <b>; ");
  EXPECT_EQ(shape("f() {\n  pip \"$@\"\n}\nf x"), "\\n<pip|$@>\\n \\n<f|x> ");
  EXPECT_EQ(shape("(cd a && b) || c"), "<cd|a>&& &&<b> ||<c> ");
  EXPECT_EQ(shape("echo `date`"), "<echo|`date`> <date> ");
}

TEST(Shell, ReadsCaseAndHereDocuments) {
  EXPECT_EQ(shape("case $x in\n  a | \"b\"*) c ;;\n  *) d ;;\nesac\n").find("<c>") != std::string::npos,
            true);
  EXPECT_EQ(shape("cat <<'EOF' >f\nrm -rf /\nEOF\nls\n"), "<cat>\\n \\n<ls>\\n ");
  EXPECT_EQ(shape("cat <<-EOF\n\trm x\n\tEOF\nls"), "<cat>\\n \\n<ls> ");
}

TEST(Shell, ReadsRedirects) {
  const std::string text = "a 2>&1 >>log <in b";
  const ShellText shell = read_shell(text, {0, text.size()});
  ASSERT_EQ(shell.commands.size(), 1u);
  EXPECT_EQ(shell.commands[0].words.size(), 2u);
  ASSERT_EQ(shell.commands[0].redirects.size(), 3u);
  EXPECT_EQ(shell.commands[0].redirects[1].sign, ">>");
  EXPECT_EQ(shell.commands[0].redirects[1].target.text, "log");
}

TEST(Shell, SkipsCommentLinesOfDockerfiles) {
  EXPECT_EQ(shape("a && \\\n# no\n  # no\n  b\n", ShellDialect::dockerfile), "<a>&& &&<b>\\n ");
}

TEST(Shell, SeesThroughWrappers) {
  auto program = [](const std::string& text) {
    const ShellText shell = read_shell(text, {0, text.size()});
    return call_of(shell.commands.at(0)).program;
  };
  EXPECT_EQ(program("sudo -E env A=1 apt-get install x"), "apt-get");
  EXPECT_EQ(program("A=1 B=2 \"$P/bin/python3\" -m pip install x"), "pip");
  EXPECT_EQ(program("exec python3 smoke.py"), "python3");
  EXPECT_EQ(program("A=1"), "");
}

TEST(Shell, TakesAnyText) {
  for (const char* text : {"'", "\"", "`", "$(", "${", "((", "))", "}", "{", "<<", "<<E", "a <<E\n", "\\",
                           "$((", ";;", "&&&&", "x=`$(\"'"})
    EXPECT_NO_THROW(read_shell(text, {0, std::string(text).size()})) << text;
  const std::string deep(100'000, '(');
  EXPECT_NO_THROW(read_shell(deep, {0, deep.size()}));
  std::string nested;
  for (int i = 0; i < 20'000; ++i) nested += "$(\"";
  EXPECT_NO_THROW(read_shell(nested, {0, nested.size()}));
}

TEST(Shell, SpansAreOfTheWholeText) {
  const std::string text = "skip\necho 'a b'\n";
  const ShellText shell = read_shell(text, {5, text.size()});
  ASSERT_EQ(shell.commands.size(), 1u);
  const Span span = shell.commands[0].words[1].span;
  EXPECT_EQ(text.substr(span.begin, span.end - span.begin), "'a b'");
}

}  // namespace
}  // namespace kiln::lint
