#include <gtest/gtest.h>

#include "factory/base/error.h"
#include "factory/render/render.h"
#include "support/fake_effects.h"
#include "support/render_sample.h"

namespace kiln::testing {
namespace {

// The sample with these bytes in the patch that its build stage reads.
RecipeBook recipes_with_patch(const std::string& bytes) {
  RecipeBook recipes = sample_recipes();
  RecipeBook changed;
  for (Kind kind : {Kind::base, Kind::library, Kind::framework})
    for (const char* name : {"debian", "openblas", "pytorch"}) {
      const Recipe* found = recipes.find(kind, name);
      if (found == nullptr) continue;
      Recipe recipe = *found;
      if (auto file = recipe.files.find("patches/cc.patch"); file != recipe.files.end())
        file->second = {"patches/cc.patch", Digest::of(bytes), bytes};
      changed.add(recipe);
    }
  return changed;
}

ImageSpec pulled_sample() {
  ImageSpec spec = sample_spec();
  for (Stage& stage : spec.stages) {
    stage.steps[0] = sample_step(StepKind::pull, "debian trixie (hub)", "base/debian", nullptr);
    stage.steps[0].reference = "docker.io/library/debian:trixie";
  }
  spec.stages[1].steps[2].secrets = {"token"};
  return spec;
}

std::string refusal(const std::string& bytes) {
  try {
    render_inline_dockerfile(sample_spec(), recipes_with_patch(bytes));
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::input);
    return error.message();
  }
  return "no error";
}

TEST(RenderOneFile, GoldenWithARootFileSystem) {
  const std::string golden = std::string(KILN_TEST_DATA) + "/golden/inline";
  expect_golden(render_inline_dockerfile(sample_spec(), sample_recipes()), golden + ".Dockerfile");
  expect_golden(render_inline_singularity(sample_spec(), sample_recipes()), golden + ".def");
}

TEST(RenderOneFile, GoldenWithAPulledBase) {
  const std::string golden = std::string(KILN_TEST_DATA) + "/golden/inline-pulled";
  expect_golden(render_inline_dockerfile(pulled_sample(), sample_recipes()), golden + ".Dockerfile");
  expect_golden(render_inline_singularity(pulled_sample(), sample_recipes()), golden + ".def");
}

TEST(RenderOneFile, HoldsWhatStepsNameAndNoOther) {
  const std::string text = render_inline_dockerfile(sample_spec(), sample_recipes());
  EXPECT_NE(text.find("# openblas/patches/cc.patch"), std::string::npos);
  EXPECT_EQ(text.find("# openblas/unused.sh"), std::string::npos);
}

TEST(RenderOneFile, RefusesByNameAndSizeWhatIsNoText) {
  const std::string where = "scripts/library-openblas/patches/cc.patch";
  EXPECT_EQ(refusal(std::string("a\0b", 3)),
            where + " (3 bytes) does not fit into one file: it is no plain text: see its byte 2");
  EXPECT_EQ(refusal("a\r\n"),
            where + " (3 bytes) does not fit into one file: it is no plain text: see its byte 2");
  EXPECT_EQ(refusal("\xff\n"),
            where + " (2 bytes) does not fit into one file: it is no plain text: see its byte 1");
  EXPECT_EQ(refusal(std::string(65536, '\n') + "\n"),
            where + " (65537 bytes) does not fit into one file: files of up to 65536 bytes do");
  EXPECT_EQ(refusal(std::string(60001, 'x')),
            where + " (60001 bytes) does not fit into one file: a line of it has 60001 bytes");
  std::string quotes;
  for (int line = 0; line < 320; ++line) quotes += std::string(199, '\'') + "\n";
  EXPECT_EQ(
      refusal(quotes).substr(0, 100),
      (where + " (64000 bytes) does not fit into one file: quoted for the shell it has ").substr(0, 100));
  EXPECT_EQ(refusal(std::string(59999, 'x') + "\n" + std::string(5535, 'x') + "\n"), "no error");
}

}  // namespace
}  // namespace kiln::testing
