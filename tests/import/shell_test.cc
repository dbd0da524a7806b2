// What the import sees in shell: environments of definition files, RUNs that change nothing.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "factory/import/legacy_image.h"
#include "support/fake_effects.h"

namespace kiln::testing {
namespace {

std::string notes_of(const LegacyImage& image, const std::string& rule) {
  std::string out;
  for (const ImportNote& note : image.notes)
    if (note.rule == rule) out += fmt::format("{}{}: {}", out.empty() ? "" : "\n", note.line, note.text);
  return out;
}

LegacyImage definition(const std::string& environment) {
  FakeFileSystem files;
  const LegacyTree tree{files, "old", {}};
  return read_legacy_definition(tree, "x.def",
                                "Bootstrap: docker\nFrom: debian:12\n%environment\n" + environment);
}

std::string variables(const std::string& environment) {
  std::string out;
  const LegacyImage image = definition(environment);
  for (const auto& [name, said] : image.environment)
    out += fmt::format("{}={}@{} ", name, said.value, said.line);
  return out;
}

TEST(DefinitionEnvironment, IsExportedOrAssigned) {
  EXPECT_EQ(variables("export A=b C='d e'\nF=g\n\nexport H=i; J=k\n"), "A=b@4 C=d e@4 F=g@5 H=i@7 J=k@7 ");
  EXPECT_EQ(variables("export A=b\nexport A\nexport B=$A/c \\\n  D=e\n"), "A=b@4 B=b/c@6 D=e@7 ");
}

TEST(DefinitionEnvironment, OfCommandsIsKnownOnlyLater) {
  EXPECT_EQ(variables("export A=$(date) B=`date` C=d\n"), "C=d@4 ");
  EXPECT_EQ(notes_of(definition("export A=$(date)\n"), "environment"),
            "4: 'A=$(date)' is known only when the image runs");
  EXPECT_EQ(variables(". /x\necho $A\n"), "");
  EXPECT_EQ(notes_of(definition(". /x\necho $A\n"), "environment"),
            "4: '. …' in %environment\n5: 'echo …' in %environment");
}

TEST(DefinitionEnvironment, OfConditionsIsNoted) {
  const std::string text = "if [ -d /x ]; then\n  export A=b\nelse\n  B=c\nfi\nC=d\n";
  EXPECT_EQ(variables(text), "C=d@9 ");
  EXPECT_EQ(notes_of(definition(text), "environment"),
            "4: 'if …' in %environment\n5: 'then …' in %environment\n7: 'else …' in %environment");
  EXPECT_EQ(variables("f() { export A=b; }\n( export B=c )\n"), "") << "of another shell, or of a function";
}

std::string lost(const std::string& run) {
  FakeFileSystem files;
  const LegacyTree tree{files, "old", {}};
  return notes_of(read_legacy_dockerfile(tree, "Dockerfile", "FROM debian:12\nRUN " + run + "\n"),
                  "lost-state");
}

TEST(DockerfileRuns, AreLostWhenTheyChangeTheirShellOnly) {
  for (const char* run : {"export A=b", "cd /x && umask 022", "set -e; cd /x", ". ./x", "source x",
                          "alias a=b", "ulimit -n 1", "export A=$(date)", "(cd /x)"})
    EXPECT_EQ(lost(run), fmt::format("2: 'RUN {}' changes its own shell only, which ends with it", run));
  for (const char* run : {"ls", "cd /x && ls", "export A=b; ls", "if true; then cd x; fi", ">x",
                          "cd /x >/y && ls", "while cd ..; do cd ..; done"})
    EXPECT_EQ(lost(run), "") << run;
}

}  // namespace
}  // namespace kiln::testing
