#include "source/text_cases.h"

namespace kiln::testing {
namespace {

constexpr const char* kTwoStages = R"(# of a site
Bootstrap: docker
From: debian:12   # the tag
Stage: build

%post -c /bin/bash
    make
    %not a section? it is one
)";

TEST(DefinitionFile, StagesHeadersAndSections) {
  DefinitionFile file = parse_definition(
      "# of a site\nBootstrap: docker\nFrom: debian:12   # the tag\nStage: build\n\n%post -c /bin/bash\n    "
      "make\n"
      "BOOTSTRAP: localimage\nFrom: a.sif\nMirrorURL: http://x/\\\n  y\n%Files from build\n  /a\n",
      "x.def");
  ASSERT_EQ(file.stages.size(), 2u);
  const DefinitionStage& build = file.stages[0];
  EXPECT_EQ(build.value("bootstrap"), "docker");
  EXPECT_EQ(build.value("from"), "debian:12");
  EXPECT_EQ(at(build.find("from")->place), "3:1");
  ASSERT_EQ(build.sections.size(), 1u);
  EXPECT_EQ(build.sections[0].name, "post");
  EXPECT_EQ(build.sections[0].arguments, "-c /bin/bash");
  EXPECT_EQ(build.sections[0].body, "    make\n");
  EXPECT_EQ(at(build.sections[0].place), "6:1");
  const DefinitionStage& image = file.stages[1];
  EXPECT_EQ(image.value("mirrorurl"), "http://x/y");
  EXPECT_EQ(image.sections[0].name, "files");
  EXPECT_EQ(image.sections[0].arguments, "from build");
  EXPECT_EQ(at(image.place), "8:1");
}

TEST(DefinitionFile, APercentSignAtTheStartOfAnyLineBeginsASection) {
  EXPECT_EQ(definition_error(kTwoStages), "x.def:8:5: error: unknown section '%not'; did you mean 'post'?");
}

TEST(DefinitionFile, FilesLabelsAndArguments) {
  DefinitionFile file = parse_definition(
      "Bootstrap: docker\nFrom: x\n%files\n  # no\n  a.txt /b.txt\n  \"my file\" '/c d'\n  only\n"
      "%labels\n  A the value \n  Empty\n%arguments\n  V=1.4\n  nothing\n  W = a=b\n",
      "x.def");
  std::vector<FilePair> files = file.stages[0].sections[0].files();
  ASSERT_EQ(files.size(), 3u);
  EXPECT_EQ(files[0].destination, "/b.txt");
  EXPECT_EQ(files[1].source, "my file");
  EXPECT_EQ(files[1].destination, "'/c d'") << "Apptainer takes double quotes off only";
  EXPECT_EQ(files[2].destination, "");
  EXPECT_EQ(at(files[2].place), "7:3");
  std::vector<NamedValue> labels = file.stages[0].sections[1].labels();
  ASSERT_EQ(labels.size(), 2u);
  EXPECT_EQ(labels[0].value, "the value");
  std::vector<NamedValue> arguments = file.stages[0].sections[2].assignments();
  ASSERT_EQ(arguments.size(), 2u);
  EXPECT_EQ(arguments[1].name + "|" + arguments[1].value, "W|a=b");
}

TEST(DefinitionFile, ArgumentsAreFilledIn) {
  const std::string text =
      "Bootstrap: docker\nFrom: x:{{ V }}\n%arguments\n  V=1.{{MINOR}}\n  MINOR=4\n%post\n  pip install "
      "t=={{V}} # {{ NOT }}\n";
  DefinitionFile file = parse_definition(text, "x.def");
  EXPECT_EQ(file.stages[0].value("from"), "x:1.4");
  EXPECT_EQ(file.stages[0].sections[1].body, "  pip install t==1.4 # {{ NOT }}\n");
  EXPECT_EQ(parse_definition(text, "x.def", {{"V", "2"}}).stages[0].value("from"), "x:2");
  EXPECT_EQ(definition_error("Bootstrap: docker\nFrom: x\n%post\n  a\n  b {{ W }}\n"),
            "x.def:5:5: error: the argument 'W' has no value; give it one in %arguments of the same stage");
  EXPECT_EQ(parse_definition("Bootstrap: docker\nFrom: x\n%post\n  a {{ b c }} {{}}\n", "x.def")
                .stages[0]
                .sections[0]
                .body,
            "  a {{ b c }} {{}}\n")
      << "what Apptainer's pattern does not match stays";
}

TEST(DefinitionFile, Apps) {
  DefinitionFile file =
      parse_definition("Bootstrap: docker\nFrom: x\n%appinstall foo\n a\n%apprun foo\n b\n", "x.def");
  EXPECT_EQ(file.stages[0].sections[1].name, "apprun");
  EXPECT_EQ(file.stages[0].sections[1].arguments, "foo");
  EXPECT_EQ(definition_error("Bootstrap: docker\n%apprun\n a\n"),
            "x.def:2:1: error: %apprun needs the name of an app");
}

TEST(DefinitionFile, Mistakes) {
  EXPECT_EQ(definition_error(""),
            "x.def: error: the file has no header and no section: it is not a definition file");
  EXPECT_EQ(definition_error("# only a comment\n"),
            "x.def: error: the file has no header and no section: it is not a definition file");
  EXPECT_EQ(definition_error("Bootstrap docker\n"),
            "x.def:1:1: error: the header line 'Bootstrap docker' has no ':'; a header line is written as "
            "Key: value; "
            "sections begin with %");
  EXPECT_EQ(definition_error("Bootstrap: docker\nForm: x\n"),
            "x.def:2:1: error: unknown header keyword 'form'; did you mean 'from'?");
  EXPECT_EQ(definition_error("Bootstrap: docker\n%pots\n"),
            "x.def:2:1: error: unknown section '%pots'; did you mean 'post'?");
  EXPECT_EQ(definition_error(std::string("Bootstrap: \0\n", 13)),
            "x.def:1:12: error: the file contains a NUL byte; Dockerfiles and definition files are text");
}

TEST(DefinitionFile, ABrokenOneIsReadAsFarAsItGoes) {
  std::vector<Error> errors;
  DefinitionFile file = read_definition(
      "Bootstrap: docker\nForm: x\nFrom:  {{ BASE }}\n\n%pots\n a\n%post\n b {{ V }}\n\n%test\n", "x.def",
      errors);
  ASSERT_EQ(errors.size(), 2u);
  EXPECT_EQ(errors[1].format(), "x.def:5:1: error: unknown section '%pots'; did you mean 'post'?");
  ASSERT_EQ(file.stages.size(), 1u);
  EXPECT_EQ(file.stages[0].value("from"), "{{ BASE }}");
  EXPECT_EQ(at(file.stages[0].find("from")->value_place), "3:8");
  ASSERT_EQ(file.stages[0].sections.size(), 3u);
  const DefinitionSection& post = file.stages[0].sections[1];
  EXPECT_EQ(post.body, " b {{ V }}\n\n");
  EXPECT_EQ(post.last_line, 9);
  EXPECT_EQ(file.stages[0].sections[2].last_line, 10) << "its own line, for there is no body";
}

TEST(DefinitionFile, NumberedOtherUrls) {
  EXPECT_EQ(parse_definition("Bootstrap: zypper\nOtherURL0: a\nOtherURL12: b\n", "x.def")
                .stages[0]
                .value("otherurl12"),
            "b");
}

}  // namespace
}  // namespace kiln::testing
