#include "factory/twin/twin.h"

#include <gtest/gtest.h>

#include "factory/render/render.h"
#include "support/plan_fixture.h"
#include "support/render_sample.h"

namespace kiln::testing {
namespace {

std::vector<std::string> differences(const ImageSpec& spec) {
  return twin_differences(spec, render_dockerfile(spec), render_singularity(spec));
}

// What is found when the files of `spec` are compared with a plan that `change` has changed.
template <typename Change>
std::vector<std::string> found(Change change, ImageSpec spec = sample_spec()) {
  std::string dockerfile = render_dockerfile(spec);
  std::string definition = render_singularity(spec);
  change(spec);
  return twin_differences(spec, dockerfile, definition);
}

using Lines = std::vector<std::string>;

TEST(Twin, TheSampleSaysWhatItsPlanSays) { EXPECT_EQ(differences(sample_spec()), Lines()); }

TEST(Twin, APulledBaseWithoutTestsLabelsAndCommand) {
  for (const char* reference : {"docker://docker.io/library/debian:12", "oci:/layouts/base:tag",
                                "oci-archive:base.tar", "debian@sha256:abc"}) {
    ImageSpec spec = sample_spec();
    for (Stage& stage : spec.stages) {
      stage.steps[0].kind = StepKind::pull;
      stage.steps[0].script = "";
      stage.steps[0].reference = reference;
    }
    spec.labels.clear();
    spec.command.clear();
    spec.tests.clear();
    EXPECT_EQ(differences(spec), Lines()) << reference;
  }
}

TEST(Twin, ComparesTwoBases) {
  ImageSpec spec = sample_spec();
  Step& other = spec.stages[0].steps[0];
  other.key = Digest::of("another base").hex();
  EXPECT_EQ(differences(spec), Lines());
  other.kind = StepKind::pull;
  other.script = "";
  other.reference = "docker.io/library/debian:12";
  EXPECT_EQ(differences(spec), Lines());
}

TEST(Twin, SecretsOfEachStep) {
  ImageSpec spec = sample_spec();
  spec.stages[0].steps[1].secrets = {"licence.key", "token"};
  spec.stages[1].steps[2].secrets = {"token"};
  EXPECT_EQ(differences(spec), Lines());
  EXPECT_EQ(dockerfile_differences(sample_spec(), render_dockerfile(spec)),
            Lines({"Dockerfile:26: stage 1, step 1: the secrets are 'licence.key token', the plan has ''",
                   "Dockerfile:51: stage 2, step 3: the secrets are 'token', the plan has ''"}));
  std::string optional = render_dockerfile(spec);
  optional.erase(optional.find(",required=true"), std::string_view(",required=true").size());
  EXPECT_FALSE(dockerfile_differences(spec, optional).empty());
}

TEST(Twin, FilesThatAScriptSees) {
  EXPECT_EQ(differences(sample_that_mounts()), Lines());
  Lines lines =
      found([](ImageSpec& spec) { spec.stages[1].steps[2].mount.pop_back(); }, sample_that_mounts());
  EXPECT_EQ(lines,
            Lines({"Dockerfile:46: stage 2, step 3 mounts /opt/kiln/wheels /srv/list.txt, the plan "
                   "/opt/kiln/wheels",
                   "Singularity.def:61: stage 2, step 2 mounts /opt/kiln/wheels /srv/list.txt, the plan "
                   "/opt/kiln/wheels"}));
  EXPECT_EQ(found(
                [](ImageSpec& spec) {
                  spec.stages[1].steps[2].mount.clear();
                  spec.stages[1].steps[2].from.clear();
                },
                sample_that_mounts())
                .size(),
            2u);
}

TEST(Twin, TellsWhatDiffers) {
  Lines lines = found([](ImageSpec& spec) { spec.stages[1].steps[2].parameters["KILN_VERSION"] = "2.7.0"; });
  EXPECT_EQ(
      lines,
      Lines({"Dockerfile:46: stage 2, step 3: the parameters: KILN_VERSION is '2.6.0', the plan has '2.7.0'",
             "Singularity.def:58: stage 2, step 2: the parameters: KILN_VERSION is '2.6.0', the plan has "
             "'2.7.0'"}));
}

// Each change of the plan is found in both files.
TEST(Twin, FindsEveryChangeOfThePlan) {
  const std::vector<std::pair<std::string, std::function<void(ImageSpec&)>>> changes = {
      {"a dropped step", [](ImageSpec& spec) { spec.stages[1].steps.pop_back(); }},
      {"an added step", [](ImageSpec& spec) { spec.stages[1].steps.push_back(spec.stages[1].steps.back()); }},
      {"swapped steps", [](ImageSpec& spec) { std::swap(spec.stages[1].steps[1], spec.stages[1].steps[2]); }},
      {"a flag",
       [](ImageSpec& spec) { spec.stages[0].steps[1].parameters["CFLAGS"] = "-O3 -march=x86-64-v3"; }},
      {"a missing parameter", [](ImageSpec& spec) { spec.stages[0].steps[1].parameters.erase("CFLAGS"); }},
      {"a further parameter", [](ImageSpec& spec) { spec.stages[0].steps[1].parameters["X"] = ""; }},
      {"a quoted character",
       [](ImageSpec& spec) { spec.stages[1].steps[2].parameters["KILN_FACT_NOTE"] = "it's \"$HOMF\""; }},
      {"another script", [](ImageSpec& spec) { spec.stages[1].steps[2].script = "pip.sh"; }},
      {"another component", [](ImageSpec& spec) { spec.stages[1].steps[2].component = "framework/jax"; }},
      {"a path", [](ImageSpec& spec) { spec.stages[1].steps[1].copy[0] = "/opt/kiln/blis"; }},
      {"a missing path", [](ImageSpec& spec) { spec.stages[1].steps[1].copy.pop_back(); }},
      {"a label", [](ImageSpec& spec) { spec.labels["org.opencontainers.image.title"] = "Pytorch"; }},
      {"a missing label", [](ImageSpec& spec) { spec.labels.erase("org.opencontainers.image.title"); }},
      {"an environment variable", [](ImageSpec& spec) { spec.environment["NOTE"] += " "; }},
      {"a further variable", [](ImageSpec& spec) { spec.environment["A"] = ""; }},
      {"the command", [](ImageSpec& spec) { spec.command[2] = "print(\"it's off\")"; }},
      {"a shorter command", [](ImageSpec& spec) { spec.command.pop_back(); }},
      {"a test", [](ImageSpec& spec) { spec.tests[0].parameters["KILN_VERSION"] = "2.6.1"; }},
      {"a missing test", [](ImageSpec& spec) { spec.tests.clear(); }},
      {"the base",
       [](ImageSpec& spec) {
         spec.stages[1].steps[0].kind = StepKind::pull;
         spec.stages[1].steps[0].reference = "debian:12";
       }},
      {"a dropped stage",
       [](ImageSpec& spec) {
         spec.stages.erase(spec.stages.begin());
         spec.stages[0].steps.erase(spec.stages[0].steps.begin() + 1);
       }},
  };
  for (const auto& [what, change] : changes) {
    Lines lines = found(change);
    auto in = [&](std::string_view file) {
      return std::any_of(lines.begin(), lines.end(),
                         [&](const std::string& line) { return line.starts_with(file); });
    };
    EXPECT_TRUE(in("Dockerfile")) << what << " is not found in the Dockerfile";
    EXPECT_TRUE(in("Singularity.def")) << what << " is not found in the definition file";
  }
}

// Where a changed byte changes nothing: comments (but for the commands that test the image), the name of the
// last stage, prose for people.
bool is_neutral(const std::string& line, bool in_help) {
  return (line.starts_with("#") && line.find("docker run") == std::string::npos) ||
         line.starts_with("    # ") || line.starts_with("Stage: image") || in_help;
}

// The lines of `text` in which every byte counts, as (offset, size).
std::vector<std::pair<std::size_t, std::size_t>> telling_lines(const std::string& text) {
  std::vector<std::pair<std::size_t, std::size_t>> lines;
  bool help = false;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = text.find('\n', at);
    std::string line = text.substr(at, end - at);
    help = help || line == "%help";
    if (!line.empty() && (line == "%help" || !is_neutral(line, help))) lines.emplace_back(at, line.size());
    at = end + 1;
  }
  return lines;
}

struct Rendered {
  explicit Rendered(ImageSpec sample) : spec(std::move(sample)) {}
  ImageSpec spec;
  std::string texts[2] = {render_dockerfile(spec), render_singularity(spec)};
  // Whether a change of one of the files is found.
  bool differs(int which, const std::string& text) const {
    return !(which == 0 ? dockerfile_differences(spec, text) : definition_differences(spec, text)).empty();
  }
};

// Every byte of every line that counts is replaced, and another put in front of it: each time a difference
// must be found.
class TwinBytes : public ::testing::TestWithParam<ImageSpec (*)()> {};

INSTANTIATE_TEST_SUITE_P(Samples, TwinBytes, ::testing::Values(sample_spec, sample_that_mounts));

TEST_P(TwinBytes, FindsEveryChangedByte) {
  Rendered rendered(GetParam()());
  int changes = 0;
  for (int which = 0; which < 2; ++which) {
    const std::string& text = rendered.texts[which];
    for (const auto& [start, size] : telling_lines(text)) {
      for (std::size_t at = start; at < start + size; ++at) {
        bool last_name = text.compare(start, size, "FROM base AS image") == 0 && at >= start + 13;
        if (text[at] == ' ' || last_name) continue;
        std::string changed = text;
        changed[at] = text[at] == 'x' ? 'y' : 'x';
        EXPECT_TRUE(rendered.differs(which, changed)) << "replaced: " << changed.substr(start, size);
        changed[at] = '~';
        changed.insert(at + 1, 1, text[at]);
        EXPECT_TRUE(rendered.differs(which, changed)) << "inserted: " << changed.substr(start, size + 1);
        changes += 2;
      }
    }
  }
  EXPECT_GT(changes, 5000);
}

TEST_P(TwinBytes, FindsEveryMissingAndEveryMovedLine) {
  Rendered rendered(GetParam()());
  for (int which = 0; which < 2; ++which) {
    for (const auto& [start, size] : telling_lines(rendered.texts[which])) {
      std::string line = rendered.texts[which].substr(start, size);
      if (line == "%help") continue;
      std::string changed = rendered.texts[which];
      changed.erase(start, size + 1);
      EXPECT_TRUE(rendered.differs(which, changed)) << "missing: " << line;
      changed += line + "\n";
      if (changed != rendered.texts[which]) {
        EXPECT_TRUE(rendered.differs(which, changed)) << "moved to the end: " << line;
      }
    }
  }
}

TEST(Twin, WhatAStrangerAddsIsFound) {
  ImageSpec spec = sample_spec();
  const std::string dockerfile = render_dockerfile(spec);
  const std::string definition = render_singularity(spec);
  for (const char* line : {"RUN id", "USER 1", "ENV A=b", "LABEL a=b", "FROM x", "EXPOSE 1", "COPY a b",
                           "ADD a b", "CMD [\"a\"]", "ENTRYPOINT [\"a\"]", "ONBUILD RUN a", "SHELL [\"a\"]",
                           "VOLUME /a", "WORKDIR /a", "ARG A", "CMD []"})
    EXPECT_FALSE(twin_differences(spec, dockerfile + line + "\n", definition).empty()) << line;
  EXPECT_FALSE(twin_differences(spec, "# syntax=evil/frontend\n" + dockerfile, definition).empty());
  EXPECT_FALSE(twin_differences(spec, "# escape=`\n" + dockerfile, definition).empty());
  for (const char* line :
       {"%post\n id", "%setup\n id", "%test\n id", "%labels\n a b", "%files\n a b",
        "%environment\n export A=b", "%runscript\n id", "%startscript\n id", "%appinstall x\n id",
        "%pre\n id", "%arguments\n a=b", "Bootstrap: docker\nFrom: x"})
    EXPECT_FALSE(twin_differences(spec, dockerfile, definition + line + "\n").empty()) << line;
  for (const char* line :
       {"id", "rm -rf /", "tar -C / -xpf /x.tar", "( id ) || exit 1", "printf '%s\\n' 'a b' >>/etc/x"}) {
    std::string changed = definition;
    changed.insert(changed.find("    rm -rf /.kiln"), std::string("    ") + line + "\n");
    EXPECT_FALSE(twin_differences(spec, dockerfile, changed).empty()) << line;
  }
}

}  // namespace
}  // namespace kiln::testing
