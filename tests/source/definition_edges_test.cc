// Corner cases of definition files: continued values, places, labels, arguments, stages.
#include <fmt/format.h>

#include "source/text_cases.h"

namespace kiln::testing {
namespace {

const std::string kHead = "Bootstrap: docker\nFrom: x\n";

DefinitionStage stage(const std::string& text) { return parse_definition(text, "x.def").stages.at(0); }

std::string values(const std::vector<NamedValue>& all) {
  std::string out;
  for (const NamedValue& one : all) out += fmt::format("{}={}@{} ", one.name, one.value, at(one.place));
  return out;
}

TEST(DefinitionHeader, ValuesMayGoOn) {
  EXPECT_EQ(stage("Bootstrap: yum\nInclude: a \\\n  b \\\n c\nFrom: d\n").value("include"), "a b c");
  EXPECT_EQ(stage("Bootstrap: yum\nInclude: a\\\n\nFrom: d\n").value("include"), "a")
      << "an empty line ends it";
  EXPECT_EQ(stage("Bootstrap: yum\nInclude: a\\\n# no\nFrom: d\n").value("from"), "d");
  EXPECT_EQ(stage("Bootstrap: yum\nInclude: a\\").value("include"), "a") << "so does the end of the file";
}

TEST(DefinitionHeader, TheLastOfAKeyCounts) {
  const DefinitionStage one = stage("Bootstrap: docker\nFROM: a\nfrom:b # c\n");
  EXPECT_EQ(one.value("from"), "b");
  EXPECT_EQ(one.header.size(), 2u);
  EXPECT_EQ(at(one.find("from")->place) + " " + at(one.find("from")->value_place), "3:1 3:6");
  EXPECT_EQ(one.find("stage"), nullptr);
  EXPECT_EQ(one.value("stage"), "");
}

TEST(DefinitionStages, BeginAtTheStartOfALine) {
  EXPECT_EQ(
      parse_definition("Bootstrap: a\nFrom: x\n%post\n Bootstrap: b\nbootstrap: c\n", "x.def").stages.size(),
      2u);
  EXPECT_EQ(parse_definition("\xef\xbb\xbf"
                             "Bootstrap: a\n",
                             "x.def")
                .stages[0]
                .value("bootstrap"),
            "a");
  const DefinitionFile file = parse_definition("# c\n\nBootstrap: a\nFrom: x\nbOOTstrap: b\n", "x.def");
  ASSERT_EQ(file.stages.size(), 2u) << "comments in front are no stage";
  EXPECT_EQ(at(file.stages[0].place), "3:1");
  EXPECT_EQ(at(file.stages[1].place), "5:1");
  EXPECT_EQ(parse_definition("%post\n a\n", "x.def").stages.size(), 1u) << "without a header";
}

TEST(DefinitionSections, HaveNamesArgumentsAndBodies) {
  const DefinitionStage one = stage(kHead + "  %%POST  -c  /bin/sh  \na\n\n%test\n%files from  b \n");
  ASSERT_EQ(one.sections.size(), 3u);
  EXPECT_EQ(one.sections[0].name + "|" + one.sections[0].arguments + "|" + one.sections[0].body,
            "post|-c  /bin/sh|a\n\n");
  EXPECT_EQ(at(one.sections[0].place), "3:3");
  EXPECT_EQ(one.sections[0].last_line, 5);
  EXPECT_EQ(one.sections[1].body, "");
  EXPECT_EQ(one.sections[1].last_line, 6);
  EXPECT_EQ(one.sections[2].arguments, "from  b");
}

TEST(DefinitionSections, FilesHaveTwoWords) {
  std::string out;
  for (const FilePair& pair :
       stage(kHead + "%files\n\"a b\"  c\n d 'e f' g\n\n#h\n\"\"i\"\"\n'j \"k' l\n").sections[0].files())
    out += fmt::format("{}>{}@{} ", pair.source, pair.destination, at(pair.place));
  EXPECT_EQ(out, "a b>c@4:1 d>'e f'@5:2 i>@8:1 'j \"k'>l@9:1 ");
}

TEST(DefinitionSections, LabelsEndAtTheFirstBlank) {
  EXPECT_EQ(values(stage(kHead + "%labels\nA  b c \n D\n#e f\nG=h i\n").sections[0].labels()),
            "A=b c@4:1 D=@5:2 G=h=i@7:1 ");
}

TEST(DefinitionArguments, NeedNames) {
  EXPECT_EQ(values(stage(kHead + "%arguments\nA=b\n C = d = e \nF\n =g\nH=\n").sections[0].assignments()),
            "A=b@4:1 C=d = e@5:2 H=@8:1 ");
}

TEST(DefinitionArguments, AreThoseOfTheirStage) {
  const std::string two =
      "Bootstrap: docker\nFrom: x:{{ V }}\n%arguments\n  V=1\nBootstrap: docker\nFrom: y:{{ V }}\n";
  EXPECT_EQ(definition_error(two),
            "x.def:6:9: error: the argument 'V' has no value; give it one in %arguments of the same stage");
  EXPECT_EQ(parse_definition(two, "x.def", {{"V", "2"}}).stages[1].value("from"), "y:2");
}

TEST(DefinitionArguments, OfCommentsStay) {
  EXPECT_EQ(stage(kHead + "# {{ A }}\n%post\n  # {{ B }}\n").sections[0].body, "  # {{ B }}\n");
}

TEST(DefinitionErrors, EndSomewhere) {
  std::string bad = kHead;
  for (int i = 0; i < 100; ++i) bad += "%nothing\n";
  std::vector<Error> errors;
  read_definition(bad, "x.def", errors);
  EXPECT_EQ(errors.size(), kMostErrors);
}

}  // namespace
}  // namespace kiln::testing
