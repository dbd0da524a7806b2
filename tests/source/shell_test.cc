// Commands of a script: where they begin and end, what stands between them, what is inside of what.
#include "factory/source/shell.h"

#include <gtest/gtest.h>

namespace kiln {
namespace {

// Commands as "before<words>after", words joined by "|".
std::string shape(const std::string& text, ShellDialect dialect = ShellDialect::script) {
  std::string out;
  auto sign = [](const std::string& operator_) { return operator_ == "\n" ? std::string("\\n") : operator_; };
  for (const ShellCommand& command : read_shell(text, {0, text.size()}, dialect).commands) {
    out += sign(command.before) + "<";
    for (const ShellToken& word : command.words)
      out += (&word == &command.words.front() ? "" : "|") + word.text;
    out += ">" + sign(command.after) + " ";
  }
  return out;
}

// What `read` says of each command, by its first word.
template <typename Read>
std::string each(const std::string& text, Read read) {
  std::string out;
  for (const ShellCommand& command : read_shell(text).commands)
    out += (command.words.empty() ? "" : command.words.front().text) + "=" + read(command) + " ";
  return out;
}
std::string depths(const std::string& text) {
  return each(text, [](const ShellCommand& one) {
    return std::to_string(one.depth) + (one.in_substitution ? "s" : "");
  });
}
std::string leads(const std::string& text) {
  return each(text, [](const ShellCommand& one) { return one.lead; });
}

TEST(Shell, SplitsCommands) {
  EXPECT_EQ(shape("a b && c || d; e | f &\ng"), "<a|b>&& &&<c>|| ||<d>; ;<e>| |<f>& \\n<g> ");
  EXPECT_EQ(shape("a \\\n  b\n"), "<a|b>\\n ");
  EXPECT_EQ(shape("# no\na # b\n"), "\\n<a>\\n ");
  EXPECT_EQ(shape(""), "");
  EXPECT_EQ(shape(" \n;\n&&"), "");
}

TEST(Shell, LeavesOutReservedWordsThatCommandsFollow) {
  EXPECT_EQ(shape("if a; then b; elif c; then d; else e; fi"), "<a>; ;<b>; ;<c>; ;<d>; ;<e>; ");
  EXPECT_EQ(shape("while ! a; do b; done"), "<a>; ;<b>; ");
  EXPECT_EQ(shape("until a; do b; done | c"), "<a>; ;<b>; |<c> ");
  EXPECT_EQ(shape("echo then do"), "<echo|then|do> ");
  EXPECT_EQ(shape("\"if\" a"), "<if|a> ") << "a quoted word is no reserved word";
  EXPECT_EQ(leads("if a; then b; else c; fi; d"), "a=if b=then c=else d= ");
  EXPECT_EQ(leads("while ! a; do b; done"), "a=! b=do ");
  EXPECT_EQ(leads("if a\nthen\n\n b\n c\nfi\nd"), "a=if b=then c= d= ");
}

TEST(Shell, SaysWhetherThereIsACompoundCommand) {
  for (const char* text : {"if a; then b; fi", "a; for i in b; do c; done", "while a; do b; done",
                           "until a; do b; done", "case a in b) c;; esac", "a && { if b; then c; fi; }"})
    EXPECT_TRUE(read_shell(text).compound) << text;
  for (const char* text : {"a if", "'if' a", "a; { b; }", "(a)", "echo for while case", "! a", "# if"})
    EXPECT_FALSE(read_shell(text).compound) << text;
}

TEST(Shell, ReadsGroups) {
  EXPECT_EQ(shape("if a; then { b; }; fi"), "<a>; <b>; ");
  EXPECT_EQ(shape("(cd a && b) || c"), "<cd|a>&& &&<b> ||<c> ");
  EXPECT_EQ(shape("a | (b; c) | d"), "<a>| <b>; ;<c> |<d> ");
  EXPECT_EQ(depths("a; (b; { c; }); { d; }; e"), "a=0 b=1 c=2 d=1 e=0 ");
  EXPECT_EQ(depths("((a; (b)); c); d"), "a=2 b=3 c=1 d=0 ");
  EXPECT_EQ(shape("echo { a } b"), "<echo|{|a|}|b> ") << "braces are words but where a command may start";
  EXPECT_EQ(shape("{a; }"), "<{a>; ;<}> ");
  EXPECT_EQ(depths("a) b; } c"), "b=0 }=0 ") << "signs that nothing opened";
}

TEST(Shell, ReadsFunctions) {
  const ShellText shell = read_shell("f() {\n  pip \"$@\"\n}\ng () ( a )\nf x (y)");
  EXPECT_EQ(shell.functions, (std::vector<std::string>{"f", "g"}));
  EXPECT_EQ(shape("f() {\n  pip \"$@\"\n}\nf x"), "\\n<pip|$@>\\n \\n<f|x> ");
  EXPECT_EQ(read_shell("f(a)").functions.size(), 0u);
  EXPECT_EQ(read_shell("f x()").functions.size(), 0u);
}

TEST(Shell, ReadsCommandsInSubstitutions) {
  EXPECT_EQ(shape("x=$(curl -s \"$(cat u)\")"), "<x=$(curl -s \"$(cat u)\")> <curl|-s|$(cat u)> <cat|u> ");
  EXPECT_EQ(shape("echo `date`"), "<echo|`date`> <date> ");
  EXPECT_EQ(shape("echo \"a `date -u` b\""), "<echo|a `date -u` b> <date|-u> ");
  EXPECT_EQ(shape("echo ${x:-$(a)} ${y:-`b`}"), "<echo|${x:-$(a)}|${y:-`b`}> <a> <b> ");
  EXPECT_EQ(shape("bash <(curl a) b"), "<bash|<(curl a)|b> <curl|a> ");
  EXPECT_EQ(shape("a >\"$(b)\" c"), "<a|c> <b> ") << "the target of a redirection";
  EXPECT_EQ(shape("echo '$(a)' \\$(b"), "<b> ") << "quoted: no substitution";
  EXPECT_EQ(depths("a $(b $(c); { d; }) e; f"), "a=0 b=1s c=2s d=2s f=0 ");
  EXPECT_EQ(depths("{ a $(b); c; }"), "a=1 b=2s c=1 ");
}

TEST(Shell, KnowsArithmeticFromSubshells) {
  EXPECT_EQ(shape("echo $((1 + (2 * 3))) b"), "<echo|$((1 + (2 * 3)))|b> ");
  EXPECT_EQ(shape("echo $((a); (b)) c"), "<echo|$((a); (b))|c> <a> <b> ");
  EXPECT_EQ(shape("echo $((1 << 2))\nls"), "<echo|$((1 << 2))>\\n \\n<ls> ") << "no heredoc";
}

TEST(Shell, LeavesOutPatternsOfCases) {
  EXPECT_EQ(shape("case $x in\n  a | \"b\"*) c ;;\n  (*) d ;;\nesac\ne"),
            "<case|$x|in>\\n \\n<c>\\n \\n<d>\\n \\n<esac>\\n \\n<e> ");
  EXPECT_EQ(shape("case x in esac; a"), "<case|x|in|esac>; ;<a> ");
  EXPECT_EQ(shape("case a in b) ;; esac"), "\\n<esac> ");
  EXPECT_EQ(shape("case a in b) case c in d) e;; esac;; f) g;; esac"),
            "\\n<e>\\n \\n<esac>\\n \\n<g>\\n \\n<esac> ");
  EXPECT_EQ(shape("case a in if) b;; esac) c").substr(0, 8), "\\n<b>\\n ");
}

TEST(Shell, CasesDoNotEndWhatIsAroundThem) {
  EXPECT_EQ(depths("x=$(case a in b) c;; esac); d"), "x=$(case a in b) c;; esac)=0 c=1s esac=1s d=0 ");
  EXPECT_EQ(depths("(case a in b) c;; esac; d); e"), "c=1 esac=1 d=1 e=0 ");
  EXPECT_EQ(depths("(case a); b"), "case=1 b=0 ") << "a case that never comes to its patterns";
  EXPECT_EQ(depths("echo case in b) c"), "c=0 ") << "no case: the word stands behind a command's name";
}

TEST(Shell, ReadsHeredocs) {
  EXPECT_EQ(shape("cat <<'EOF' >f\nrm -rf /\nEOF\nls\n"), "<cat>\\n \\n<ls>\\n ");
  EXPECT_EQ(shape("cat <<-EOF\n\trm x\n\tEOF\nls"), "<cat>\\n \\n<ls> ");
  EXPECT_EQ(shape("cat <<A <<B\na\nA\nb\nB\nls"), "<cat>\\n \\n<ls> ");
  EXPECT_EQ(shape("cat <<A && b\n$(x)\nA\nls"), "<cat>&& &&<b>\\n \\n<ls> ");
  EXPECT_EQ(shape("cat << A\n A\nA \n\tA\nA\nls"), "<cat>\\n \\n<ls> ") << "only the bare line ends it";
  EXPECT_EQ(shape("cat <<<a\nls"), "<cat>\\n \\n<ls> ") << "a here-string has no lines";
  EXPECT_EQ(shape("x=$(cat <<A\n)\nA\n); ls"), "<x=$(cat <<A\n)\nA\n)>; <cat>\\n ;<ls> ");
}

TEST(Shell, ReadsRedirections) {
  const std::string text = "2>&1 >f a >>log <in b 3<>c >|d";
  const ShellText shell = read_shell(text);
  ASSERT_EQ(shell.commands.size(), 1u);
  const ShellCommand& command = shell.commands[0];
  EXPECT_EQ(shape(text), "<a|b> ");
  std::string signs;
  for (const ShellRedirect& redirect : command.redirects)
    signs += redirect.sign + " " + redirect.target.text + ", ";
  EXPECT_EQ(signs, ">& 1, > f, >> log, < in, <> c, >| d, ");
  EXPECT_EQ(command.span.begin, 8u);
  EXPECT_EQ(command.span.end, text.size()) << "a target is part of its command";
}

TEST(Shell, CommandsMayBeRedirectionsOnly) {
  const ShellText shell = read_shell(">f; a >");
  ASSERT_EQ(shell.commands.size(), 2u);
  EXPECT_TRUE(shell.commands[0].words.empty());
  EXPECT_EQ(shell.commands[0].span.begin, 1u);
  EXPECT_EQ(shell.commands[0].span.end, 2u);
  EXPECT_EQ(shell.commands[1].span.end, 7u) << "without a target";
}

TEST(Shell, SpansOfHeredocsEndWithTheirWords) {
  const ShellCommand command = read_shell("cat b <<EOF\nx\nEOF\n").commands.at(0);
  EXPECT_EQ(command.span.end, 5u);
  EXPECT_EQ(command.redirects.at(0).target.text, "EOF");
}

TEST(Shell, NumbersPipelines) {
  auto number = [](const std::string& text) {
    std::string out;
    int first = -1;
    for (const ShellCommand& one : read_shell(text).commands) {
      if (first < 0) first = one.pipeline;
      out += one.pipeline == first ? '1' : '0';
    }
    return out;
  };
  EXPECT_EQ(number("a | b | c; d | e"), "11100");
  EXPECT_EQ(number("a && b"), "10");
  EXPECT_EQ(number("a $(b | c) | d"), "1001") << "what a word substitutes has a pipeline of its own";
  EXPECT_EQ(number("a | if b; then c; fi"), "110");
}

TEST(Shell, ReadsComments) {
  const ShellText shell = read_shell("#!/bin/sh\na #b\necho c#d '#e' $(f #g\n)\n");
  std::string texts;
  for (const ShellComment& comment : shell.comments)
    texts += std::to_string(comment.offset) + ":" + comment.text + ", ";
  EXPECT_EQ(texts, "0:!/bin/sh, 12:b, 33:g, ");
}

TEST(Shell, SkipsCommentLinesOfDockerfiles) {
  EXPECT_EQ(shape("a && \\\n# no\n  # no\n  b\n", ShellDialect::dockerfile), "<a>&& &&<b>\\n ");
  EXPECT_EQ(shape("a && \\\n# no\n  b\n"), "<a>&& \\n<b>\\n ") << "in a script, the comment ends the line";
  EXPECT_EQ(shape("a \\\r\n b\n", ShellDialect::dockerfile), "<a|b>\\n ");
  EXPECT_EQ(shape("a \\\n  # no", ShellDialect::dockerfile), "<a> ");
}

TEST(Shell, CommandsStandInTheOrderOfTheText) {
  EXPECT_EQ(shape("a $(b $(c)) | d; e"), "<a|$(b $(c))>| <b|$(c)> <c> |<d>; ;<e> ");
}

TEST(Shell, SpansAreOfTheWholeText) {
  const std::string text = "skip\necho 'a b'\nnot this";
  const ShellText shell = read_shell(text, {5, 15});
  ASSERT_EQ(shell.commands.size(), 1u);
  const Span span = shell.commands[0].words.at(1).span;
  EXPECT_EQ(text.substr(span.begin, span.end - span.begin), "'a b'");
  EXPECT_EQ(shell.commands[0].span.begin, 5u);
  EXPECT_EQ(shell.commands[0].span.end, 15u);
}

TEST(Shell, TakesAnyText) {
  for (const char* text :
       {"'",    "\"",        "`",           "$(",   "${",  "((",      "))", "}",    "{",
        "<<",   "<<E",       "a <<E\n",     "\\",   "$((", "$((1)",   ";;", "&&&&", "x=`$(\"'",
        "case", "case a in", "case a in (", "`(a`", "<(",  "${a:-`}", "1>", "$"})
    EXPECT_NO_THROW(read_shell(text)) << text;
  const std::string deep(100'000, '(');
  EXPECT_NO_THROW(read_shell(deep));
  for (const char* sign : {"$(\"", "${a:-", "`\"$(", "$(("}) {
    std::string nested;
    for (int i = 0; i < 20'000; ++i) nested += sign;
    EXPECT_NO_THROW(read_shell(nested)) << sign;
  }
}

}  // namespace
}  // namespace kiln
