#include <gtest/gtest.h>

#include "factory/render/render.h"
#include "factory/twin/twin.h"
#include "support/render_sample.h"

namespace kiln::testing {
namespace {

using Texts = std::vector<std::string>;

// The recipes of the sample, with other bytes in the script that installs the framework.
RecipeBook recipes_with_script(const std::string& bytes) {
  const RecipeBook sample = sample_recipes();
  RecipeBook recipes;
  recipes.add(*sample.find(Kind::base, "debian"));
  recipes.add(*sample.find(Kind::library, "openblas"));
  Recipe framework = *sample.find(Kind::framework, "pytorch");
  framework.files.at("distro.sh") = {"distro.sh", Digest::of(bytes), bytes};
  recipes.add(framework);
  return recipes;
}

Texts differences_of(const ImageSpec& spec, const RecipeBook& recipes) {
  return inline_differences(spec, render_context(spec, recipes), render_inline_dockerfile(spec, recipes),
                            render_inline_singularity(spec, recipes));
}

// What is found when one text of the sample's files is replaced by another.
Texts found_after(const std::string& from, const std::string& to) {
  const ImageSpec spec = sample_spec();
  const RecipeBook recipes = recipes_with_script("echo 'it'\n");
  Texts texts = {render_inline_dockerfile(spec, recipes), render_inline_singularity(spec, recipes)};
  for (std::string& text : texts)
    if (std::size_t at = text.find(from); at != std::string::npos) text.replace(at, from.size(), to);
  return inline_differences(spec, render_context(spec, recipes), texts[0], texts[1]);
}

TEST(TwinInline, TheSampleSaysWhatItsPlanSays) {
  EXPECT_EQ(differences_of(sample_spec(), sample_recipes()), Texts());
  ImageSpec spec = sample_spec();
  spec.tests.clear();
  EXPECT_EQ(differences_of(spec, sample_recipes()), Texts());
}

TEST(TwinInline, WhateverAScriptHolds) {
  Texts scripts = {"",
                   "\n",
                   "\n\n",
                   "no line end",
                   "\nKILN\n",
                   "KILN",
                   "%post\n",
                   "  %files x y\n",
                   "Bootstrap: docker\n",
                   " bootstrap: x\nFrom: y\n",
                   "{{ name }}\n",
                   "{{{{{\n",
                   "'\n",
                   "'\\''\n",
                   "a \\\n",
                   "\\\n\\\n",
                   "cat >/.kiln/x <<'KILN'\nKILN\nx\n",
                   "RUN id\nFROM x\n",
                   "#!/bin/sh\n# syntax=x\n",
                   "FROM scratch\n",
                   "EOF\n<<EOF\n$(id)\n`id`\n",
                   "\t tab \n",
                   "é 漢\n",
                   "printf '%s\\n' \\\n",
                   "#|x\n",
                   "\x7f\x1b[31m\n"};
  for (const std::string& value : hostile_values()) scripts.push_back(value + "\n" + value);
  for (const std::string& script : scripts)
    EXPECT_EQ(differences_of(sample_spec(), recipes_with_script(script)), Texts()) << script;
}

TEST(TwinInline, HostileValuesComeBack) {
  for_each_hostile_spec([](const ImageSpec& spec, const std::string& value) {
    EXPECT_EQ(differences_of(spec, sample_recipes()), Texts()) << value;
  });
}

TEST(TwinInline, FindsWhatAFileSaysOtherwise) {
  const std::string other = " has other bytes than the recipe's";
  EXPECT_EQ(found_after("'echo '\\''it'\\'''", "'echo '\\''is'\\'''"),
            Texts{"Dockerfile: /kiln/scripts/framework-pytorch/distro.sh" + other});
  EXPECT_EQ(found_after("\necho 'it'\n", "\necho 'is'\n"),
            Texts{"Singularity.def: stage 2: /.kiln/scripts/framework-pytorch/distro.sh" + other});
  EXPECT_EQ(found_after("\necho 'it'\nKILN\n", "\necho 'it'\n id\nKILN\n"),
            Texts{"Singularity.def: stage 2: /.kiln/scripts/framework-pytorch/distro.sh" + other});
  EXPECT_FALSE(found_after("\necho 'it'\nKILN\n", "\necho 'it'\nKILN\n    id\n").empty());
  EXPECT_FALSE(found_after("KILN_FACT_NOTE=", "KILN_FACT_NOTES=").empty());
  EXPECT_FALSE(
      found_after(">/kiln/scripts/framework-pytorch/smoke.sh", ">/kiln/scripts/framework-pytorch/smoke")
          .empty());
  EXPECT_FALSE(found_after("FROM image AS kiln-test", "FROM base AS kiln-test").empty());
  EXPECT_FALSE(found_after("\nFROM image\n", "\nFROM image\nRUN id\n").empty());
  EXPECT_FALSE(found_after("FROM base AS kiln-files", "FROM scratch AS kiln-files").empty());
  EXPECT_FALSE(
      found_after("RUN mkdir -p /kiln/scripts/framework-pytorch && ", "RUN mkdir -p /kiln/scripts/x; id && ")
          .empty());
}

}  // namespace
}  // namespace kiln::testing
