// Words, flags, exec forms and heredoc marks of an instruction, and what variables make of a word.
#include "factory/source/dockerfile_lines.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "factory/source/dockerfile.h"
#include "source/text_cases.h"

namespace kiln::testing {
namespace {

// "word@offset", a blank between.
std::string joined(const std::vector<RawWord>& words) {
  std::string out;
  for (const RawWord& word : words)
    out += fmt::format("{}{}@{}", out.empty() ? "" : " ", word.text, word.offset);
  return out;
}

TEST(Words, OutsideOfQuotes) {
  auto words = [](std::string_view text, char escape = '\\') { return joined(quoted_words(text, escape)); };
  EXPECT_EQ(words("a  b"), "a@0 b@3");
  EXPECT_EQ(words("a='b c' d=\"e f\""), "a='b c'@0 d=\"e f\"@8");
  EXPECT_EQ(words("'' a"), "''@0 a@3");
  EXPECT_EQ(words("a\\ b 'c\\' d"), "a\\ b@0 'c\\'@5 d@10") << "no escape inside single quotes";
  EXPECT_EQ(words("\"a\\\" b\" c"), "\"a\\\" b\"@0 c@8");
  EXPECT_EQ(words("a\\"), "a@0") << "an escape at the very end is dropped";
  EXPECT_EQ(words("a` b\\ c", '`'), "a` b\\@0 c@6");
  EXPECT_EQ(words("'a b"), "'a b@0") << "nothing closes the quote";
  EXPECT_EQ(words("a\u00a0b\u3000c"), "a@0 b@3 c@7") << "Go's white space";
  EXPECT_EQ(words(" "), "");
}

TEST(Words, WhateverTheQuotes) {
  EXPECT_EQ(joined(plain_words(" a\t'b  c' ")), "a@1 'b@3 c'@7");
  EXPECT_EQ(joined(plain_words("")), "");
  EXPECT_EQ(joined(plain_words("a\u00a0b")), "a\u00a0b@0");
}

TEST(Words, FlagsStandInFront) {
  auto flags = [](std::string_view text) {
    std::size_t rest = 99;
    std::string words = joined(flag_words(text, rest));
    return fmt::format("{} | {}", words, text.substr(rest));
  };
  EXPECT_EQ(flags("--a=b --c d --e"), "--a=b@0 --c@6 | d --e");
  EXPECT_EQ(flags("  --a='b c' d"), "--a=b c@2 | d");
  EXPECT_EQ(flags("--a=\"b' c\" 'd'"), "--a=b' c@0 | 'd'");
  EXPECT_EQ(flags("--a\\ b c"), "--a b@0 | c");
  EXPECT_EQ(flags("-- --a"), " |  --a") << "-- ends them and is none itself";
  EXPECT_EQ(flags("--a"), "--a@0 | ");
  EXPECT_EQ(flags("-a --b"), " | -a --b");
  EXPECT_EQ(flags(""), " | ");
}

TEST(Words, ExecFormsAreArraysOfStrings) {
  auto read = [](std::string_view text) -> std::string {
    bool not_strings = true;
    auto words = exec_form(text, not_strings);
    return words         ? fmt::format("{}: {}", words->size(), fmt::join(*words, "|"))
           : not_strings ? "mixed"
                         : "none";
  };
  EXPECT_EQ(read(" [\"a\", \"b c\"] "), "2: a|b c");
  EXPECT_EQ(read("[]"), "0: ");
  EXPECT_EQ(read("[1]"), "mixed");
  EXPECT_EQ(read("[\"a\", null]"), "mixed");
  for (const char* text : {"", "a", "[", "[a]", "['a']", "[\"a\"] b", "{\"a\": 1}", "\"a\""})
    EXPECT_EQ(read(text), "none") << text;
  EXPECT_EQ(read(std::string(64, '[') + std::string(64, ']')), "mixed");
  EXPECT_EQ(read(std::string(65, '[') + std::string(65, ']')), "none") << "deeper than it is parsed";
  EXPECT_EQ(read("[\"" + std::string(100, '[') + "\"]").substr(0, 2), "1:") << "brackets inside a string";
  EXPECT_EQ(read("[\"\\\"" + std::string(100, '{') + "\"]").substr(0, 2), "1:");
}

TEST(Words, HeredocMarksAreWordsOfTheirOwn) {
  auto marks = [](std::string_view text) {
    std::string out;
    for (const HeredocMark& mark : heredoc_marks(text))
      out += fmt::format("{}@{}{}{} ", mark.name, mark.offset, mark.chomp ? "-" : "", mark.expand ? "$" : "");
    return out;
  };
  EXPECT_EQ(marks("a <<EOF b <<-X"), "EOF@2$ X@10-$ ");
  EXPECT_EQ(marks("<<'A B' <<\"C\" <<\\D <<E'F'"), "A B@0 C@8 D@14 EF@19 ");
  EXPECT_EQ(marks("3<<A << B"), "A@0$ B@5$ ");
  EXPECT_EQ(marks("<<- A"), "A@0-$ ");
  for (const char* text : {"a<<B", "<<<A", "'<<A'", "\"<<A\"", "\\<<A", "<<", "<<-", "<<A<B", "'a' '<<B' c",
                           "<A", "\"\\\" <<A\"", "3a<<B"})
    EXPECT_EQ(marks(text), "") << text;
  EXPECT_EQ(marks("'a' <<B"), "B@4$ ");
  EXPECT_EQ(marks("<<'A"), "A@0 ") << "nothing closes the quote";
}

std::string expanded_with(const std::string& word, char escape = '\\') {
  auto variables = [](std::string_view name) -> std::optional<std::string> {
    if (name == "A_1") return "v";
    if (name == "1" || name == "@" || name == "12") return "<" + std::string(name) + ">";
    if (name == "EMPTY") return "";
    return std::nullopt;
  };
  return expand_docker_word(word, variables, escape, "Dockerfile", {3, 5});
}

TEST(DockerWord, NamesOfVariables) {
  EXPECT_EQ(expanded_with("$A_1-$A_1.$A_12"), "v-v.");
  EXPECT_EQ(expanded_with("$1a$12$@b"), "<1>a<12><@>b");
  EXPECT_EQ(expanded_with("${1}${A_1}"), "<1>v");
  EXPECT_EQ(expanded_with("$-x"), "x") << "a name of the shell that is not set";
  EXPECT_EQ(expanded_with("a$"), "a$");
}

TEST(DockerWord, FormsOfBraces) {
  EXPECT_EQ(expanded_with("${NO-a}${NO:-b}${EMPTY-c}${EMPTY:-d}${A_1-e}"), "abdv");
  EXPECT_EQ(expanded_with("${NO+a}${NO:+b}${EMPTY+c}${EMPTY:+d}${A_1+e}${A_1:+f}"), "cef");
  EXPECT_EQ(expanded_with("${A_1?a}${EMPTY?b}${A_1:?c}"), "vv");
  auto error = [](const std::string& word) { return input_error([&] { expanded_with(word); }); };
  EXPECT_EQ(error("${EMPTY:?}"), "Dockerfile:3:5: error: EMPTY: is not set");
  EXPECT_EQ(error("${NO?why $A_1}"), "Dockerfile:3:5: error: NO: why v");
  for (const char* form : {"${A_1:a}", "${A_1:=a}", "${A_1,,}", "${A_1:0:1}"})
    EXPECT_NE(error(form).find("kiln does not know this form of ${A_1…}"), std::string::npos) << form;
  EXPECT_EQ(error("${NO:-a"), "Dockerfile:3:5: error: '${' without its '}'");
  EXPECT_EQ(expanded_with("${NO:-${NO:-${A_1}}}"), "v");
  EXPECT_EQ(expanded_with("${NO:-'}'}"), "}");
}

// What bash answers for each form, and BuildKit.
TEST(DockerWord, FormsWithPatterns) {
  auto expand = [](const std::string& word) {
    auto variables = [](std::string_view name) -> std::optional<std::string> {
      if (name == "IMG") return "nvcr.io/nvidia/pytorch:24.01-py3";
      if (name == "DOT") return "py3";
      if (name == "STAR") return "a*b";
      return std::nullopt;
    };
    return expand_docker_word(word, variables, '\\', "Dockerfile", {3, 5});
  };
  EXPECT_EQ(expand("${IMG#*/}"), "nvidia/pytorch:24.01-py3");
  EXPECT_EQ(expand("${IMG##*/}"), "pytorch:24.01-py3");
  EXPECT_EQ(expand("${IMG%:*}"), "nvcr.io/nvidia/pytorch");
  EXPECT_EQ(expand("${IMG%%/*}"), "nvcr.io");
  EXPECT_EQ(expand("${IMG##*:}"), "24.01-py3");
  EXPECT_EQ(expand("${IMG%-$DOT}|${IMG#nothing}|${IMG%?}"),
            "nvcr.io/nvidia/pytorch:24.01|nvcr.io/nvidia/pytorch:24.01-py3|nvcr.io/nvidia/pytorch:24.01-py");
  EXPECT_EQ(expand("${IMG/nv/x}|${IMG//nv/x}"),
            "xcr.io/nvidia/pytorch:24.01-py3|xcr.io/xidia/pytorch:24.01-py3");
  EXPECT_EQ(expand("${IMG/-py3/}|${IMG/-py3}|${IMG/no/x}"),
            "nvcr.io/nvidia/pytorch:24.01|nvcr.io/nvidia/pytorch:24.01|nvcr.io/nvidia/pytorch:24.01-py3");
  EXPECT_EQ(expand("${IMG/n*a/x}|${DOT//?/-}|${DOT//}|${DOT/$DOT/${IMG%%.*}}"),
            "x/pytorch:24.01-py3|---|py3|nvcr");
  EXPECT_EQ(expand("${STAR/\\*/x}|${STAR#a\\*}|${STAR/\\//x}"), "axb|b|a*b");
  EXPECT_EQ(expand("${NO#a}${NO%a}${NO/a/b}"), "");
  EXPECT_EQ(input_error([&] { expand("${IMG#a"); }), "Dockerfile:3:5: error: '${' without its '}'");
}

TEST(DockerWord, ValuesForPatternsHaveALimit) {
  auto variables = [](std::string_view) { return std::optional(std::string(1025, 'a')); };
  EXPECT_EQ(input_error([&] {
              expand_docker_word("${A#b}", variables, '\\', "Dockerfile", {3, 5});
            }),
            "Dockerfile:3:5: error: the value of A has over 1024 bytes: too many for a pattern");
}

TEST(DockerWord, OfAHeredocKeepsItsQuotes) {
  auto expand = [](const std::string& text) {
    auto variables = [](std::string_view name) -> std::optional<std::string> {
      return name == "A" ? std::optional<std::string>("v") : std::nullopt;
    };
    return expand_docker_heredoc(text, variables, '\\', "Dockerfile", {3, 5});
  };
  EXPECT_EQ(expand("it's \"$A\" '${A:-b}' \\$A \\\\ \\n $NO.\n"), "it's \"v\" 'v' $A \\ \\n .\n");
}

TEST(DockerWord, NestsUpToALimit) {
  auto nested = [](int depth) {
    std::string word;
    for (int i = 0; i < depth; ++i) word += "${NO:-";
    return word + "x" + std::string(static_cast<std::size_t>(depth), '}');
  };
  EXPECT_EQ(expanded_with(nested(32)), "x");
  EXPECT_EQ(input_error([&] { expanded_with(nested(33)); }),
            "Dockerfile:3:5: error: variables are nested more than 32 levels deep");
  EXPECT_EQ(expanded_with(nested(20) + nested(20)), "xx") << "beside each other they do not count";
}

TEST(DockerWord, Escapes) {
  EXPECT_EQ(expanded_with("a\\"), "a");
  EXPECT_EQ(expanded_with("\"a\\b\\\\c\\$\\\"\""), "a\\b\\c$\"");
  EXPECT_EQ(expanded_with("'a\\b'"), "a\\b");
  EXPECT_EQ(expanded_with("a`$b\\c", '`'), "a$b\\c");
  EXPECT_EQ(expanded_with("\"`\"`$\\\"", '`'), "\"$\\");
}

}  // namespace
}  // namespace kiln::testing
