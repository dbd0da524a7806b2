// Item by item: the twins of every cell of every catalogue of this repository.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "factory/render/render.h"
#include "factory/twin/twin.h"
#include "support/fake_effects.h"
#include "support/plan_fixture.h"
#include "support/plan_values.h"

namespace kiln::testing {
namespace {

BuildPlan plan_of(const std::string& matrix) {
  RealFileSystem files;
  const fs::path source = KILN_SOURCE_DIR;
  const RecipeBook recipes = RecipeBook::read(files, {source / "recipes"});
  const TargetBook targets = TargetBook::read(files, source / "matrix/targets", archspec());
  return plan_matrix(read_matrix(files, source / "matrix" / matrix), {recipes, targets, archspec()});
}

std::vector<std::string> catalogues() {
  std::vector<std::string> files;
  for (const std::string& name : RealFileSystem().list(fs::path(KILN_SOURCE_DIR) / "matrix"))
    if (name.ends_with(".json") && !name.starts_with("site.")) files.push_back(name);
  return files;
}

class TwinCatalogue : public ::testing::TestWithParam<std::string> {};

TEST_P(TwinCatalogue, EveryCellsFilesSayWhatThePlanSays) {
  const BuildPlan plan = plan_of(GetParam());
  ASSERT_GT(plan.size(), 0u);
  for (const ImageSpec& image : specs_of(plan)) {
    auto lines = twin_differences(image, render_dockerfile(image), render_singularity(image));
    EXPECT_TRUE(lines.empty()) << image.request.id << ": " << lines.front();
  }
  RecordProperty("cells", static_cast<int>(plan.size()));
}

INSTANTIATE_TEST_SUITE_P(Matrix, TwinCatalogue, ::testing::ValuesIn(catalogues()), [](const auto& one) {
  std::string name = one.param.substr(0, one.param.find('.'));
  for (char& c : name)
    if (c == '-') c = '_';
  return name;
});

// What facts became in the cells where reading went wrong once: a review of a recipe sees them change.
TEST(GoldenCells, AreAsTheyWereReviewed) {
  const std::map<std::string, std::vector<std::string>> cells = {
      {"paper.json",
       {"tensorflow:2.1.0-source-xla-broadwell-ubuntu18.04",
        "tensorflow:2.1.0-source-xla-broadwell-sm_61-cuda10.1", "pytorch:1.4.0-pip-broadwell-ubuntu18.04",
        "pytorch:1.4.0-hub-broadwell-pytorch-hub1.4-cuda10.1-cudnn7-runtime",
        "pytorch:1.4.0-source-glow-broadwell-ubuntu18.04", "cntk:2.7-hub-broadwell-cntk-hub2.7-cpu-python3.5",
        "cntk:2.7-hub-broadwell-sm_61-cntk-hub2.7-gpu-python3.5-cuda10.0-cudnn7.3"}},
      {"current.json",
       {"tensorflow:2.20.0-source-xla-zen4-sm_90-cuda12.9.1-base-ubuntu24.04",
        "pytorch:2.12.1-source-inductor-x86_64_v3-sm_70-cuda12.6.3-cudnn-runtime-ubuntu24.04",
        "pytorch:2.12.1-source-zen4-gfx942-rocm7.2.4-complete",
        "tensorflow:2.12.1-pip-horovod-openmpi4.1.2-x86_64_v3-sm_70-cuda11.8.0-cudnn8-runtime-ubuntu22.04"}}};
  for (const auto& [matrix, names] : cells) {
    const BuildPlan plan = plan_of(matrix);
    std::map<std::string, ImageSpec> images;
    for (ImageSpec& image : specs_of(plan))
      images.emplace(image.repository + ":" + image.tag, std::move(image));
    for (const std::string& name : names) {
      ASSERT_TRUE(images.contains(name)) << name;
      std::string file = std::string(KILN_TEST_DATA) + "/golden/cells/" + name;
      std::replace(file.begin(), file.end(), ':', '_');
      expect_golden(render_dockerfile(images.at(name)), file + ".Dockerfile");
      expect_golden(render_singularity(images.at(name)), file + ".def");
    }
  }
}

TEST(TwinCatalogues, DemoAndPaperAreAmongThem) {
  std::vector<std::string> all = catalogues();
  for (const char* name : {"demo.json", "paper.json"})
    EXPECT_NE(std::find(all.begin(), all.end(), name), all.end()) << name;
}

}  // namespace
}  // namespace kiln::testing
