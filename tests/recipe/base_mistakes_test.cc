// What is wrong in the recipe of a base.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "factory/recipe/recipe.h"
#include "support/input_errors.h"
#include "support/recipe_samples.h"

namespace kiln::testing {
namespace {

const std::vector<Mistake> kBaseMistakes = {
    {"ImageAndRootfs", R"("rootfs": "rootfs.sh")", R"("rootfs": "rootfs.sh", "image": "debian")",
     Schema::refuses,
     "4:15: error: a base has an 'image' or a 'rootfs', not both (at /methods/distro); 'image' is pulled, "
     "'rootfs' is a script that writes a tar to $KILN_OUTPUT"},
    {"NeitherImageNorRootfs", R"("rootfs": "rootfs.sh", )", "", Schema::accepts,
     "4:15: error: a base needs an 'image' or a 'rootfs' (at /methods/distro); 'image' is pulled, 'rootfs' "
     "is a script that writes a tar to $KILN_OUTPUT"},
    {"AbsentRootfs", R"("rootfs.sh")", R"("rootf.sh")", Schema::accepts,
     "4:26: error: there is no file 'recipes/base/debian/rootf.sh' (at /methods/distro/rootfs); did you mean "
     "'rootfs.sh'?"},
    {"BuildOnNothing", R"("trixie": {})", R"("trixie": {"build_on": "trixie-devel"})", Schema::accepts,
     "2:39: error: there is no version 'trixie-devel' (at /versions/trixie/build_on); did you mean "
     "'trixie'?"},
    {"BuildOnItself", R"("trixie": {})", R"("trixie": {"build_on": "trixie"})", Schema::accepts,
     "2:39: error: 'trixie' is itself built on another version (at /versions/trixie/build_on)"},
    {"BuildOnWithoutTheMethod", R"({"trixie": {}},
  "methods": {
    "distro": {"rootfs": "rootfs.sh", "optimised": false, "versions": "*")",
     R"({"2": {"build_on": "1"}, "1": {}},
  "methods": {
    "distro": {"rootfs": "rootfs.sh", "optimised": false, "versions": "2")",
     Schema::accepts, "2:34: error: the method distro has no version '1' (at /versions/2/build_on)"},
    {"BaseWithNeeds", R"("optimised": false)", R"("needs": [])", Schema::refuses,
     "4:39: error: unknown key 'needs' (at /methods/distro/needs); known keys: optimised, stock, versions, "
     "image, "
     "rootfs, archive, site, script, files, parameters, secrets, environment, limits"},
    {"BaseWithBuild", R"("optimised": false)", R"("build": {})", Schema::refuses,
     "4:39: error: unknown key 'build' (at /methods/distro/build); known keys: optimised, stock, versions, "
     "image, "
     "rootfs, archive, site, script, files, parameters, secrets, environment, limits"},
    {"SiteOfAnImage", R"("image": "docker)", R"("site": "rootfs.sh", "image": "docker)", Schema::refuses,
     "6:15: error: only a rootfs says how the build machine reaches packages (at /methods/hub/site)"},
    {"UnknownPlaceholder", "{version}", "{suite}", Schema::refuses,
     "6:16: error: expected an image reference, found 'docker.io/library/debian:{suite}' (at "
     "/methods/hub/image); for example docker.io/library/debian:{version}; {version} is the only "
     "placeholder"},
    {"ImageWithBlank", "debian:{version}", "debian :{version}", Schema::refuses,
     "6:16: error: expected an image reference, found 'docker.io/library/debian :{version}' (at "
     "/methods/hub/image); for example docker.io/library/debian:{version}; {version} is the only "
     "placeholder"},
};

class BaseMistake : public ::testing::TestWithParam<Mistake> {};

TEST_P(BaseMistake, IsRefusedAtItsPlace) {
  const std::string json = with_mistake(kBase, GetParam().from, GetParam().to);
  EXPECT_EQ(input_error([&] { read_recipe(json, kBaseFile, recipe_files()); }),
            "recipes/base/debian/recipe.json:" + GetParam().error);
  const bool refused = !violations_of_schema("recipe", json).empty();
  EXPECT_EQ(refused, GetParam().schema == Schema::refuses);
}

INSTANTIATE_TEST_SUITE_P(Reader, BaseMistake, ::testing::ValuesIn(kBaseMistakes), name_of_mistake);

}  // namespace
}  // namespace kiln::testing
