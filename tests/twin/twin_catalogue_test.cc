// Item by item: the twins of every cell of every catalogue of this repository.
#include <gtest/gtest.h>

#include <chrono>

#include "render/render.h"
#include "support/plan_fixture.h"
#include "support/plan_values.h"
#include "twin/twin.h"

namespace kiln::testing {
namespace {

std::vector<std::string> catalogues() {
  std::vector<std::string> files;
  for (const std::string& name : RealFileSystem().list(fs::path(KILN_SOURCE_DIR) / "matrix"))
    if (name.ends_with(".json") && !name.starts_with("site.")) files.push_back(name);
  return files;
}

class TwinCatalogue : public ::testing::TestWithParam<std::string> {};

TEST_P(TwinCatalogue, EveryCellsFilesSayWhatThePlanSays) {
  RealFileSystem files;
  fs::path source = KILN_SOURCE_DIR;
  RecipeBook recipes = RecipeBook::read(files, {source / "recipes"});
  TargetBook targets = TargetBook::read(files, source / "matrix/targets", archspec());
  BuildPlan plan =
      plan_matrix(read_matrix(files, source / "matrix" / GetParam()), {recipes, targets, archspec()});
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

TEST(TwinCatalogues, DemoAndPaperAreAmongThem) {
  std::vector<std::string> all = catalogues();
  for (const char* name : {"demo.json", "paper.json"})
    EXPECT_NE(std::find(all.begin(), all.end(), name), all.end()) << name;
}

}  // namespace
}  // namespace kiln::testing
