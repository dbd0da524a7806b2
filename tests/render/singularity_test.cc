#include <gtest/gtest.h>

#include <cctype>
#include <sstream>

#include "factory/base/error.h"
#include "factory/render/render.h"
#include "support/fake_effects.h"
#include "support/render_sample.h"

namespace kiln::testing {
namespace {

// Headers and sections in the file's order, as Apptainer's parser finds them: any line whose first character,
// blanks aside, is "%" and a letter; headers only outside of sections' text.
std::vector<std::string> sections_of(const std::string& text) {
  std::vector<std::string> sections;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) {
    std::size_t first = line.find_first_not_of(" \t");
    if (first == std::string::npos) continue;
    if (line[first] == '%') sections.push_back(line.substr(first));
    if (line.starts_with("Bootstrap:") || line.starts_with("From:") || line.starts_with("Stage:"))
      sections.push_back(line);
  }
  return sections;
}

const std::vector<std::string> kSections = {"Bootstrap: scratch",
                                            "Stage: build-openblas",
                                            "%setup",
                                            "%files",
                                            "%post",
                                            "Bootstrap: scratch",
                                            "Stage: image",
                                            "%setup",
                                            "%files",
                                            "%files from build-openblas",
                                            "%post",
                                            "%environment",
                                            "%test",
                                            "%runscript",
                                            "%labels",
                                            "%help"};

TEST(RenderSingularity, Golden) {
  expect_golden(render_singularity(sample_spec()), std::string(KILN_TEST_DATA) + "/golden/Singularity.def");
}

TEST(RenderSingularity, SectionsInApptainersOrder) {
  EXPECT_EQ(sections_of(render_singularity(sample_spec())), kSections);
}

TEST(RenderSingularity, HostileValuesNeverBecomeSectionsOrTemplates) {
  for_each_hostile_spec([&](const ImageSpec& spec, const std::string& value) {
    std::string text = render_singularity(spec);
    EXPECT_EQ(sections_of(text), kSections) << value;
    EXPECT_EQ(text.find("{{"), std::string::npos) << value;
  });
}

TEST(RenderSingularity, ALabelWithBracesGoesThroughTheLabelsFile) {
  ImageSpec spec = sample_spec();
  spec.labels["a.b"] = "it's {{ x }}";
  std::string text = render_singularity(spec);
  EXPECT_NE(
      text.find(
          "    printf '%s\\n' 'a.b it'\"'\"'s {''{ x }}' >>\"${APPTAINER_LABELS:-$SINGULARITY_LABELS}\"\n"),
      std::string::npos)
      << text;
  EXPECT_EQ(text.find("    a.b "), std::string::npos);
}

TEST(RenderSingularity, PullsAPinnedBaseWithItsEnvironment) {
  ImageSpec spec = sample_spec();
  std::string pinned = "docker.io/library/debian:trixie@sha256:" + Digest::of("debian").hex();
  for (Stage& stage : spec.stages) {
    stage.steps[0].kind = StepKind::pull;
    stage.steps[0].reference = pinned;
  }
  std::string text = render_singularity(spec);
  EXPECT_NE(text.find("\nBootstrap: docker\nFrom: " + pinned + "\nStage: image\n"), std::string::npos)
      << text;
  EXPECT_NE(text.find("/.singularity.d/env/10-docker*.sh"), std::string::npos);
  EXPECT_EQ(text.find("rootfs.tar"), std::string::npos);
  spec.stages[1].steps[0].reference = spec.stages[0].steps[0].reference = "oci:/srv/debian:trixie";
  EXPECT_NE(render_singularity(spec).find("\nBootstrap: oci\nFrom: /srv/debian\nStage: "), std::string::npos);
}

TEST(RenderSingularity, WithoutCommandEnvironmentAndTests) {
  ImageSpec spec = sample_spec();
  spec.command.clear();
  spec.environment.clear();
  spec.tests.clear();
  spec.labels = {{"empty", ""}};
  std::string text = render_singularity(spec);
  EXPECT_NE(text.find("    exec /bin/sh\n"), std::string::npos);
  for (const char* section : {"%environment", "%test", "%labels"}) {
    EXPECT_EQ(text.find(section), std::string::npos) << section;
  }
}

TEST(RenderSingularity, RefusesLineEnds) {
  for (auto change : {+[](ImageSpec& s) { s.labels["a"] = "one\n%post"; },
                      +[](ImageSpec& s) { s.command = {"one\n%post"}; },
                      +[](ImageSpec& s) { s.environment["A"] = "one\n%post"; },
                      +[](ImageSpec& s) { s.tests[0].parameters["A"] = "one\n%post"; }}) {
    ImageSpec spec = sample_spec();
    change(spec);
    try {
      render_singularity(spec);
      FAIL() << "no error";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::input);
      EXPECT_EQ(error.message(), "the value 'one?%post' has a line end or a NUL in it");
    }
  }
}

}  // namespace
}  // namespace kiln::testing
