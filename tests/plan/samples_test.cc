#include "samples.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "plan/schema.h"
#include "support/json_schema.h"

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

}  // namespace kiln::testing
