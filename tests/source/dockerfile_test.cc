#include "factory/source/source_file.h"
#include "source/text_cases.h"

namespace kiln::testing {
namespace {

using Words = std::vector<std::string>;

TEST(Dockerfile, StagesWithTheirNamesBasesAndPlaces) {
  Dockerfile file = parse_dockerfile(
      "# syntax=docker/dockerfile:1\n# escape=\\\n\nARG BASE=debian\n# a comment\nfrom ${BASE}:12 as Build\n "
      " RUN make\n"
      "FROM --platform=linux/amd64 build\nCOPY --from=build /a /b\n",
      "Dockerfile");
  ASSERT_EQ(file.directives.size(), 2u);
  EXPECT_EQ(file.directives[0].name, "syntax");
  EXPECT_EQ(file.directives[0].value, "docker/dockerfile:1");
  ASSERT_EQ(file.comments.size(), 3u);
  EXPECT_EQ(file.comments[2].text, " a comment");
  ASSERT_EQ(file.arguments.size(), 1u);
  ASSERT_EQ(file.stages.size(), 2u);
  EXPECT_EQ(file.stages[0].base, "${BASE}:12");
  EXPECT_EQ(file.stages[0].name, "build");
  EXPECT_EQ(at(file.stages[0].from.place), "6:1");
  EXPECT_EQ(at(file.stages[0].instructions[0].place), "7:3");
  EXPECT_EQ(file.stages[1].from.flag("platform")->value, "linux/amd64");
  EXPECT_EQ(file.stage_named("BUILD", 1), 0u);
  EXPECT_EQ(file.stage_named("build", 0), std::nullopt);
  EXPECT_EQ(file.stage_named("0", 1), std::nullopt);
  EXPECT_EQ(file.copied_stage("0", 1), 0u);
}

TEST(Dockerfile, ContinuationsCommentsAndEmptyLinesInside) {
  DockerInstruction run = instruction("RUN a \\\n  # not part of it\n\n   && b \\  \n && c\n");
  EXPECT_EQ(run.text, "a    && b  && c");
  EXPECT_EQ(run.last_line, 6);
  EXPECT_EQ(instruction("RUN a \\\\\n").text, "a \\\\") << "two backslashes are no continuation";
  EXPECT_EQ(instruction("RUN a \\").text, "a") << "the file may end in one";
  EXPECT_EQ(instruction("RUN a\r\n").text, "a");
}

TEST(Dockerfile, AnotherEscapeCharacter) {
  Dockerfile file =
      parse_dockerfile("# escape=`\nFROM x\nRUN dir C:\\ `\n  && b\nENV A=b` c\n", "Dockerfile");
  EXPECT_EQ(file.escape, '`');
  EXPECT_EQ(file.stages[0].instructions[0].text, "dir C:\\   && b");
  EXPECT_EQ(texts(file.stages[0].instructions[1].pairs), Words({"A=b` c"}));
}

TEST(Dockerfile, DirectivesStandAboveEverythingElse) {
  EXPECT_EQ(parse_dockerfile("\n# escape=`\nFROM x\n", "Dockerfile").escape, '\\');
  EXPECT_EQ(parse_dockerfile("# hello\n# escape=`\nFROM x\n", "Dockerfile").escape, '\\');
  EXPECT_EQ(parse_dockerfile("\xef\xbb\xbf# escape=`\nFROM x\n", "Dockerfile").escape, '`');
  EXPECT_EQ(docker_error("# escape=x\nFROM x\n"),
            "Dockerfile:1:1: error: 'x' cannot be the escape character; it is \\ or `");
  EXPECT_EQ(docker_error("# escape=`\n# escape=`\nFROM x\n"),
            "Dockerfile:2:1: error: the directive 'escape' occurs twice");
}

TEST(Dockerfile, EnvInBothSpellings) {
  EXPECT_EQ(texts(instruction("ENV A=1 B=\"two words\" C=a\\ b D='x=y'").pairs),
            Words({"A=1", "B=\"two words\"", "C=a\\ b", "D='x=y'"}));
  EXPECT_EQ(texts(instruction("ENV NAME  all of = this").pairs), Words({"NAME=all of = this"}));
  EXPECT_EQ(texts(instruction("LABEL a.b=\"c\"").pairs), Words({"a.b=\"c\""}));
  EXPECT_EQ(texts(instruction("ARG A B=2 C=").pairs), Words({"A", "B=2", "C="}));
  EXPECT_EQ(docker_error("FROM x\nENV A=1 B\n"),
            "Dockerfile:2:9: error: 'B' has no '='; quote a value that has blanks in it");
  EXPECT_EQ(docker_error("FROM x\nENV A\n"), "Dockerfile:2:1: error: ENV needs a name and a value");
  EXPECT_EQ(docker_error("FROM x\nENV A=1 \\\n  =2\n"),
            "Dockerfile:3:3: error: ENV has a value without a name");
}

TEST(Dockerfile, CommandsInBothForms) {
  DockerInstruction run = instruction("RUN [\"a b\", \"\\u00e9\"]");
  EXPECT_TRUE(run.exec);
  EXPECT_EQ(texts(run.words), Words({"a b", "é"}));
  EXPECT_EQ(instruction("RUN ['a']").text, "['a']") << "single quotes are no JSON: the shell gets it";
  EXPECT_EQ(texts(instruction("CMD []").words), Words());
  EXPECT_EQ(docker_error("FROM x\nCMD [1]\n"),
            "Dockerfile:2:5: error: the JSON form is an array of strings only");
  EXPECT_EQ(docker_error("FROM x\nSHELL /bin/bash\n"),
            "Dockerfile:2:7: error: SHELL is written as a JSON array; SHELL [\"/bin/bash\", \"-c\"]");
  EXPECT_EQ(texts(instruction("HEALTHCHECK --interval=5m CMD [\"true\"]").words), Words({"true"}));
  EXPECT_EQ(instruction("HEALTHCHECK CMD curl -f x || exit 1").text, "curl -f x || exit 1");
  EXPECT_EQ(instruction("HEALTHCHECK NONE").text, "");
}

TEST(Dockerfile, Flags) {
  DockerInstruction run = instruction(
      "RUN --mount=type=cache,target=/root/.cache --mount=type=bind,source=a,target=\"/b c\" --network=none "
      "pip install");
  ASSERT_EQ(run.flags.size(), 3u);
  EXPECT_EQ(run.flags[1].value, "type=bind,source=a,target=/b c");
  EXPECT_EQ(run.text, "pip install");
  EXPECT_EQ(at(run.flags[2].place), "2:85");
  DockerInstruction copy = instruction("COPY --link --chown=1:2 a b /c/");
  EXPECT_NE(copy.flag("link"), nullptr);
  EXPECT_EQ(copy.flag("chown")->value, "1:2");
  EXPECT_EQ(texts(copy.words), Words({"a", "b", "/c/"}));
  EXPECT_EQ(instruction("RUN -- --x").text, "--x") << "-- ends the flags";
  EXPECT_EQ(docker_error("FROM x\nCOPY --form=y a b\n"),
            "Dockerfile:2:6: error: COPY has no flag --form; did you mean 'from='?");
  EXPECT_EQ(docker_error("FROM x\nCOPY --from a b\n"), "Dockerfile:2:6: error: --from needs a value");
  EXPECT_EQ(docker_error("FROM x\nCOPY --link=y a b\n"),
            "Dockerfile:2:6: error: --link is true or false, found 'y'");
}

TEST(Dockerfile, Heredocs) {
  Dockerfile file = parse_dockerfile(
      "FROM x\nRUN <<EOF\napt-get update\n# kept\nEOF\nCOPY <<-'A' <<B /etc/\n\tone\n\tA\ntwo\nB\nRUN echo "
      "'<<EOF' \"<<X\"\n",
      "Dockerfile");
  ASSERT_EQ(file.stages[0].instructions.size(), 3u);
  const DockerInstruction& run = file.stages[0].instructions[0];
  EXPECT_EQ(run.heredocs.at(0).content, "apt-get update\n# kept\n");
  EXPECT_EQ(run.last_line, 5);
  const DockerInstruction& copy = file.stages[0].instructions[1];
  ASSERT_EQ(copy.heredocs.size(), 2u);
  EXPECT_EQ(copy.heredocs[0].content, "one\n");
  EXPECT_FALSE(copy.heredocs[0].expand);
  EXPECT_EQ(copy.heredocs[1].content, "two\n");
  EXPECT_TRUE(file.stages[0].instructions[2].heredocs.empty()) << "quoted, it is text";
  EXPECT_EQ(docker_error("FROM x\nRUN a <<EOF\nb\n"),
            "Dockerfile:2:7: error: the heredoc has no end: no line is 'EOF' alone");
  EXPECT_TRUE(instruction("RUN cat <<<word").heredocs.empty());
}

TEST(Dockerfile, OnBuildHoldsAnInstruction) {
  DockerInstruction onbuild = instruction("ONBUILD COPY a /b");
  ASSERT_EQ(onbuild.trigger.size(), 1u);
  EXPECT_EQ(onbuild.trigger[0].verb, DockerVerb::copy);
  EXPECT_EQ(docker_error("FROM x\nONBUILD ONBUILD RUN a\n"),
            "Dockerfile:2:9: error: ONBUILD is not allowed after ONBUILD");
  EXPECT_EQ(docker_error("FROM x\nONBUILD FROM y\n"),
            "Dockerfile:2:9: error: FROM is not allowed after ONBUILD");
}

TEST(Dockerfile, WordsAndPairsSayWhereTheyEnd) {
  DockerInstruction env = instruction("ENV A=1 \\\n  B=\"two \\\n words\"\n");
  ASSERT_EQ(env.pairs.size(), 2u);
  EXPECT_EQ(at(env.pairs[0].place) + "-" + at(env.pairs[0].end), "2:5-2:8");
  EXPECT_EQ(at(env.pairs[1].place) + "-" + at(env.pairs[1].end), "3:3-4:8");
  DockerInstruction old = instruction("ENV A b c\n");
  EXPECT_EQ(at(old.pairs[0].place) + "-" + at(old.pairs[0].end), "2:5-2:10");
  DockerInstruction add = instruction("ADD --link a /b\n");
  EXPECT_EQ(at(add.words[1].place) + "-" + at(add.words[1].end), "2:14-2:16");
  EXPECT_EQ(instruction("ADD [\"a\", \"b\"]\n").words[0].end, Position());
}

TEST(Dockerfile, ABrokenOneIsReadAsFarAsItGoes) {
  std::vector<Error> errors;
  Dockerfile file = read_dockerfile("USER x\nFROM a\nRUNN b\nRUN c\nENV =\nRUN d\n", "Dockerfile", errors);
  std::vector<std::string> lines;
  for (const Error& error : errors) lines.push_back(error.format());
  EXPECT_EQ(lines, Words({"Dockerfile:1:1: error: USER stands above the first FROM; only ARG may",
                          "Dockerfile:3:1: error: unknown instruction 'RUNN'; did you mean 'RUN'?",
                          "Dockerfile:5:5: error: ENV has a value without a name"}));
  ASSERT_EQ(file.stages.size(), 1u);
  ASSERT_EQ(file.stages[0].instructions.size(), 2u);
  EXPECT_EQ(file.stages[0].instructions[1].text, "d");
  std::string bad = "FROM a\n";
  for (int i = 0; i < 100; ++i) bad += "x\n";
  errors.clear();
  read_dockerfile(bad, "Dockerfile", errors);
  EXPECT_EQ(errors.size(), kMostErrors);
}

TEST(FileNames, OfBothFormats) {
  for (const char* name :
       {"Dockerfile", "dockerfile.gpu", "Containerfile-cpu", "tf_1.Dockerfile", "a.containerfile"})
    EXPECT_TRUE(is_dockerfile_name(name) && !is_definition_name(name)) << name;
  for (const char* name : {"Singularity", "Apptainer.gpu", "singularity_x", "A.def"})
    EXPECT_TRUE(is_definition_name(name) && !is_dockerfile_name(name)) << name;
  for (const char* name : {"Dockerfiles", ".def", "default", ".dockerfile", ""})
    EXPECT_FALSE(is_dockerfile_name(name) || is_definition_name(name)) << name;
}

TEST(Dockerfile, WhatIsNoDockerfile) {
  EXPECT_EQ(docker_error(""), "Dockerfile: error: the file has no FROM: it is not a Dockerfile");
  EXPECT_EQ(docker_error("RUN a\n"), "Dockerfile:1:1: error: RUN stands above the first FROM; only ARG may");
  EXPECT_EQ(docker_error("FROM x\nRNU a\n"),
            "Dockerfile:2:1: error: unknown instruction 'RNU'; did you mean 'RUN'?");
  EXPECT_EQ(
      docker_error("FROM x as 1y\n"),
      "Dockerfile:1:11: error: '1y' is not a name for a stage; a letter, then letters, digits and - _ .");
  EXPECT_EQ(docker_error("FROM x y\n"),
            "Dockerfile:1:1: error: FROM is written as FROM image or FROM image AS name");
  EXPECT_EQ(docker_error("FROM x\nCOPY a\n"), "Dockerfile:2:1: error: COPY needs a source and a destination");
  EXPECT_EQ(docker_error(std::string("FROM x\nRUN \0\n", 13)),
            "Dockerfile:2:5: error: the file contains a NUL byte; Dockerfiles and definition files are text");
  EXPECT_EQ(docker_error("FROM x\nUSER\n"), "Dockerfile:2:1: error: USER needs an argument");
}

std::string expanded(const std::string& word) {
  auto variables = [](std::string_view name) -> std::optional<std::string> {
    if (name == "A") return "a b";
    if (name == "EMPTY") return "";
    return std::nullopt;
  };
  return expand_docker_word(word, variables, '\\', "Dockerfile", {3, 5});
}

TEST(DockerWord, QuotesEscapesAndVariables) {
  EXPECT_EQ(expanded("'$A'\"$A\"$A"), "$Aa ba b");
  EXPECT_EQ(expanded("\\$A \\a \"\\a\\\"\\$\\\\\""), "$A a \\a\"$\\");
  EXPECT_EQ(expanded("${A}x${NO}"), "a bx");
  EXPECT_EQ(expanded("${NO:-x$A}${EMPTY:-y}${EMPTY-z}${A:-n}"), "xa bya b");
  EXPECT_EQ(expanded("${A:+set}${EMPTY:+set}${EMPTY+there}"), "setthere");
  EXPECT_EQ(expanded("100% $ $."), "100% $ $.");
}

TEST(DockerWord, Mistakes) {
  auto error = [](const std::string& word) { return input_error([&] { expanded(word); }); };
  EXPECT_EQ(error("'a"), "Dockerfile:3:5: error: a single quote is not closed");
  EXPECT_EQ(error("\"a"), "Dockerfile:3:5: error: a double quote is not closed");
  EXPECT_EQ(error("${A"),
            "Dockerfile:3:5: error: kiln does not know this form of ${A…}; known are ${x} and the forms "
            ":- :+ :? - + ? # ## % %% / //");
  EXPECT_EQ(error("${A:-b"), "Dockerfile:3:5: error: '${' without its '}'");
  EXPECT_EQ(error("${NO:?is needed}"), "Dockerfile:3:5: error: NO: is needed");
  EXPECT_EQ(error("${}"), "Dockerfile:3:5: error: '${' without a name");
}

}  // namespace
}  // namespace kiln::testing
