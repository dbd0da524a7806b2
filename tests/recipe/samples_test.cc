#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "factory/base/effects.h"
#include "factory/recipe/recipe.h"
#include "factory/recipe/schema.h"
#include "support/json_schema.h"
#include "support/recipe_samples.h"

namespace kiln::testing {

FakeFileSystem recipe_files() {
  FakeFileSystem files;
  for (const std::string folder : {"recipes/library/openblas/", "recipes/base/debian/"}) {
    for (const char* script : {"distro.sh", "build.sh", "smoke.sh", "rootfs.sh", "trim.sh"})
      files.files[folder + script] = "true\n";
    files.files[folder + "lists/packages.txt"] = "libopenblas0\n";
    files.files[folder + "smoke.py"] = "import numpy\n";
    files.files[folder + "empty.sh"] = "";
    files.files[folder + "dos.sh"] = "set -e\ntrue\r\n";
    files.files[folder + "binary.sh"] = std::string("true\0\n", 6);
  }
  return files;
}

std::vector<std::string> violations_of_schema(const std::string& name, const std::string& json) {
  return schema_violations(Json::parse(schema_text(name)), Json::parse(json, nullptr, true, true));
}

TEST(Samples, AreValidByTheSchemas) {
  using None = std::vector<std::string>;
  EXPECT_EQ(violations_of_schema("recipe", kRecipe), None());
  EXPECT_EQ(violations_of_schema("recipe", kBase), None());
  EXPECT_EQ(violations_of_schema("matrix", kMatrix), None());
  EXPECT_EQ(violations_of_schema("matrix", kGroups), None());
  EXPECT_EQ(violations_of_schema("target", kTarget), None());
  EXPECT_EQ(violations_of_schema("site", kSite), None());
}

// Every *.json of a folder of this repository, and of the folders in it.
void collect_json(const FileSystem& files, const fs::path& folder, std::vector<fs::path>& found) {
  for (const std::string& name : files.list(folder)) {
    if (files.is_directory(folder / name))
      collect_json(files, folder / name, found);
    else if (name.ends_with(".json"))
      found.push_back(folder / name);
  }
}

TEST(Samples, TheRepositorysOwnFilesAreValidToo) {
  const RealFileSystem files;
  const fs::path root = KILN_SOURCE_DIR;
  std::vector<fs::path> recipes;
  std::vector<fs::path> wanted;
  collect_json(files, root / "recipes", recipes);
  collect_json(files, root / "matrix", wanted);
  std::erase_if(wanted, [](const fs::path& file) { return file.parent_path().filename() == "dsl"; });
  std::erase_if(recipes, [](const fs::path& file) { return file.filename() != "recipe.json"; });
  ASSERT_GT(recipes.size(), 20u);
  ASSERT_GT(wanted.size(), 5u);
  for (const fs::path& file : recipes)
    EXPECT_EQ(violations_of_schema("recipe", *files.read(file)), std::vector<std::string>()) << file;
  for (const fs::path& file : wanted) {
    std::string schema = "matrix";
    if (file.parent_path().filename() == "targets") schema = "target";
    if (file.parent_path().filename() == "suites") schema = "suite";
    if (file.filename().string().starts_with("site")) schema = "site";
    EXPECT_EQ(violations_of_schema(schema, *files.read(file)), std::vector<std::string>()) << file;
  }
  EXPECT_NO_THROW(RecipeBook::read(files, {root / "recipes"}).refuse_broken());
}

}  // namespace kiln::testing
