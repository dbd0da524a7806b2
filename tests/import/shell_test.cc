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

LegacyImage dockerfile(const std::string& text, const std::string& architecture = "amd64") {
  FakeFileSystem files;
  LegacyTree tree{files, "old", {}};
  tree.architecture = architecture;
  return read_legacy_dockerfile(tree, "Dockerfile", text);
}

std::string environment_of(const LegacyImage& image) {
  std::string out;
  for (const auto& [name, said] : image.environment) out += fmt::format("{}={} ", name, said.value);
  return out;
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST(DockerfileHeredocs, AreRunByTheInterpreterThatTheyName) {
  const std::string body = dockerfile(
                               "FROM debian:12\nRUN <<END\n#!/usr/bin/env -S python3 -u\nimport os\nEND\n"
                               "RUN <<END\n#!/bin/bash\n[[ -d / ]]\nEND\nRUN <<END\necho sh\nEND\n")
                               .body;
  EXPECT_TRUE(has(body,
                  "<<'KILN_END'\n#!/usr/bin/env -S python3 -u\nimport os\nKILN_END\n"
                  "/usr/bin/env '-S python3 -u' \"$kiln_script\"\n"))
      << body;
  EXPECT_TRUE(has(body, "\n/bin/bash \"$kiln_script\"\n")) << body;
  EXPECT_TRUE(has(body, "set +eu\necho sh\n")) << body;
}

TEST(DockerfileHeredocs, OfOtherLanguagesInstallNothing) {
  EXPECT_TRUE(
      dockerfile("FROM debian:12\nRUN <<END\n#!/usr/bin/python3\npip install x==1\nEND\n").facts.pip.empty());
  EXPECT_EQ(dockerfile("FROM debian:12\nRUN <<END\n#!/bin/bash\npip install x==1\nEND\n").facts.pip.size(),
            1u);
}

TEST(DockerfileHeredocs, OfCopiesHaveTheirVariablesFilledIn) {
  const std::string body = dockerfile("FROM debian:12\nARG A=v\nCOPY <<END /f\nit's \"$A\" \\$A\nEND\n").body;
  EXPECT_TRUE(has(body, "v\" $A")) << body;
}

TEST(DockerfileArguments, AreAutomaticForThePlatform) {
  const std::string text =
      "FROM debian:12\nARG TARGETARCH\nARG TARGETPLATFORM BUILDOS\nENV A=$TARGETARCH\nRUN x $TARGETARCH\n";
  const LegacyImage image = dockerfile(text);
  EXPECT_TRUE(has(image.body, "export TARGETARCH=amd64\n")) << image.body;
  EXPECT_TRUE(has(image.body, "export TARGETPLATFORM=linux/amd64\nexport BUILDOS=linux\n")) << image.body;
  EXPECT_EQ(environment_of(image), "A=amd64 ");
  EXPECT_EQ(notes_of(image, "argument"), "");
  EXPECT_EQ(environment_of(dockerfile(text, "arm64")), "A=arm64 ");
  EXPECT_EQ(dockerfile("FROM a/$TARGETARCH:1\nRUN x\n").base.value, "a/amd64:1");
  EXPECT_EQ(environment_of(dockerfile("FROM a:1\nARG TARGETARCH=x\nENV A=$TARGETARCH\n")), "A=x ");
}

TEST(DockerfileArguments, WithoutAValueAreNotSet) {
  const LegacyImage image = dockerfile("FROM debian:12\nARG WHO\nRUN echo \"${WHO-nobody}\"\n");
  EXPECT_FALSE(has(image.body, "export WHO")) << image.body;
  EXPECT_EQ(notes_of(image, "argument"), "2: ARG WHO has no default: the command that built it gave one");
}

TEST(DockerfilePaths, StandUponTheBases) {
  const std::string usual = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
  LegacyImage image = dockerfile("FROM ubuntu:22.04\nENV PATH=/opt/venv/bin:$PATH\nRUN x\n");
  EXPECT_EQ(environment_of(image), "PATH=/opt/venv/bin:" + usual + " ");
  EXPECT_TRUE(has(image.body, "export PATH=/opt/venv/bin\"${PATH:+:$PATH}\"\n")) << image.body;
  EXPECT_EQ(notes_of(image, "base-path"), "");
  image =
      dockerfile("FROM site.org/own:1\nENV PATH=/opt/venv/bin:${PATH} LD_LIBRARY_PATH=/x:$LD_LIBRARY_PATH\n");
  EXPECT_EQ(environment_of(image), "LD_LIBRARY_PATH=/x PATH=/opt/venv/bin:{PATH} ");
  EXPECT_NE(notes_of(image, "base-path"), "");
  EXPECT_NE(notes_of(image, "unset-variable"), "");
  image = dockerfile(
      "FROM docker.io/nvidia/cuda:12.4.1-base-ubuntu22.04\n"
      "ENV LD_LIBRARY_PATH=$LD_LIBRARY_PATH:/x\nENV LD_LIBRARY_PATH /y:$LD_LIBRARY_PATH\n");
  EXPECT_EQ(environment_of(image), "LD_LIBRARY_PATH=/y:/usr/local/nvidia/lib:/usr/local/nvidia/lib64:/x ");
  EXPECT_EQ(notes_of(image, "unset-variable"), "");
  image = dockerfile("FROM pytorch/pytorch:2.2.0\nENV PATH=$PATH:/x\nRUN x\n");
  EXPECT_EQ(environment_of(image),
            "PATH=/opt/conda/bin:/usr/local/nvidia/bin:/usr/local/cuda/bin:" + usual + ":/x ");
  EXPECT_TRUE(has(image.body, "\ncd /workspace\n")) << image.body;
}

TEST(DockerfileWorkdir, IsNotedWhereTheImageLosesIt) {
  EXPECT_NE(notes_of(dockerfile("FROM debian:12\nWORKDIR /app\nRUN x\n"), "workdir"), "");
  EXPECT_EQ(notes_of(dockerfile("FROM debian:12\nWORKDIR /app\nWORKDIR /\n"), "workdir"), "");
}

TEST(LegacyScripts, EndWithACommand) {
  EXPECT_EQ(dockerfile("FROM debian:12\nENV A=b\n").body, "");
  const std::string body = dockerfile("FROM debian:12\nRUN x\nENV A=b\nWORKDIR /y\n").body;
  EXPECT_TRUE(body.ends_with("\nmkdir -p /y\n")) << body;
}

LegacyImage with_post(const std::string& post) {
  FakeFileSystem files;
  const LegacyTree tree{files, "old", {}};
  return read_legacy_definition(tree, "x.def", "Bootstrap: docker\nFrom: debian:12\n%post\n" + post);
}

TEST(DefinitionPost, WritesToTheEnvironment) {
  LegacyImage image = with_post(
      "  echo 'export E=5' >> $SINGULARITY_ENVIRONMENT\n  echo \"export P=1 Q=2\" "
      ">>\"$APPTAINER_ENVIRONMENT\"\n"
      "  cat >> ${SINGULARITY_ENVIRONMENT} <<'END'\nexport R=3\nS=\"a b\"\nEND\n");
  EXPECT_EQ(environment_of(image), "E=5 P=1 Q=2 R=3 S=a b ");
  EXPECT_EQ(notes_of(image, "environment"), "");
  EXPECT_TRUE(has(image.body, "export SINGULARITY_ENVIRONMENT=/dev/null APPTAINER_ENVIRONMENT=/dev/null\n"));
  EXPECT_FALSE(has(with_post("  x\n").body, "SINGULARITY_ENVIRONMENT"));
}

TEST(DefinitionPost, WhatItComputesForTheEnvironmentIsNoted) {
  for (const char* post :
       {"echo \"export A=$(date)\" >> $SINGULARITY_ENVIRONMENT\n",
        "echo 'if x; then' >> $SINGULARITY_ENVIRONMENT\n", "{ echo 'A=1'; } >> $SINGULARITY_ENVIRONMENT\n",
        "echo A=1 | tee -a \"$SINGULARITY_ENVIRONMENT\"\n",
        "if true; then echo A=1 >> $SINGULARITY_ENVIRONMENT; fi\n"}) {
    const LegacyImage image = with_post(post);
    EXPECT_TRUE(notes_of(image, "environment").starts_with("4: the text written to $SINGULARITY_ENVIRONMENT"))
        << post;
    EXPECT_EQ(environment_of(image), "") << post;
  }
  EXPECT_EQ(notes_of(with_post("# >> $SINGULARITY_ENVIRONMENT\nx\n"), "environment"), "");
}

TEST(DefinitionPost, ReadsNoFileOfApptainersOwn) {
  const LegacyImage image =
      with_post("    . /.singularity.d/env/10-docker*.sh\n    source /.singularity.d/x && y\n    . /own\n");
  EXPECT_TRUE(has(image.body, "    :\n    : && y\n    . /own\n")) << image.body;
  EXPECT_EQ(
      notes_of(image, "base-environment"),
      "4: '. /.singularity.d/env/10-docker*.sh' is left out: a step of kiln has the base's environment\n"
      "5: 'source /.singularity.d/x' is left out: a step of kiln has the base's environment");
}

TEST(DefinitionTest, IsRunByTheInterpreterThatItNames) {
  FakeFileSystem files;
  const LegacyTree tree{files, "old", {}};
  const std::string test =
      read_legacy_definition(tree, "x.def",
                             "Bootstrap: docker\nFrom: debian:12\n%test\n#!/bin/bash\n[[ 1 ]]\n")
          .test;
  EXPECT_TRUE(has(test, "\n/bin/bash \"$kiln_script\"\n")) << test;
}

TEST(DefinitionEnvironment, OfACopiedFileIsReadFromIt) {
  FakeFileSystem files;
  files.files["old/env.sh"] = "export A=b\nexport C=$A/c\n";
  const LegacyTree tree{files, "old", {}};
  const LegacyImage image = read_legacy_definition(tree, "x.def",
                                                   "Bootstrap: docker\nFrom: debian:12\n%files\n  env.sh "
                                                   "/opt/env.sh\n%environment\n. /opt/env.sh\n. /x\n");
  EXPECT_EQ(environment_of(image), "A=b C=b/c ");
  EXPECT_EQ(notes_of(image, "environment"), "7: '. …' in %environment");
}

TEST(DefinitionEnvironment, InAFormOfBashIsNoted) {
  EXPECT_EQ(notes_of(definition("export A=${B:0:3}\n"), "environment"),
            "4: 'A=${B:0:3}' is known only when the image runs");
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
