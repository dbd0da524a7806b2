#include "factory/report/matrix_patch.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace kiln {
namespace {

PatchedCell cell(const std::string& runtime, const std::string& pointer, const std::string& file = "m.json") {
  PatchedCell one;
  one.request.axes = {{"framework", "hello"}, {"runtime", runtime}};
  one.request.where.file = file;
  one.request.where.pointer = pointer;
  one.reason = "say: no gain";
  return one;
}

// The text with the patch applied by nlohmann's own function, which ignores what it does not know.
Json applied(const std::string& text, const Json& patch) {
  return JsonDocument::parse(text, "m.json").value().patch(patch);
}

constexpr const char* kPlain =
    R"({"name": "m", "axes": {"framework": ["hello"], "runtime": ["none", "tc", "je"]}})";

TEST(MatrixPatch, ExcludesCellsWithTheirReasons) {
  const Json patch =
      exclude_patch(kPlain, "m.json", {cell("tc", "/axes/framework"), cell("je", "/axes/framework")});
  ASSERT_EQ(patch.size(), 3u);
  EXPECT_EQ(patch[0], (Json{{"op", "add"}, {"path", "/exclude"}, {"value", Json::array()}}));
  EXPECT_EQ(patch[2].at("reason"), "say: no gain");
  EXPECT_EQ(
      applied(kPlain, patch).at("exclude"),
      Json::parse(R"([{"framework": "hello", "runtime": "tc"}, {"framework": "hello", "runtime": "je"}])"));
}

TEST(MatrixPatch, KeepsWhatIsThereAndFindsTheGroup) {
  const std::string text = R"({"name": "m", "groups": [{"name": "a", "axes": {}}, // a comment
    {"name": "b", "axes": {}, "exclude": [{"runtime": "old"}]}]})";
  const Json patched = applied(text, exclude_patch(text, "m.json", {cell("tc", "/groups/1/axes/framework")}));
  EXPECT_EQ(patched.at("groups")[1].at("exclude").size(), 2u);
  EXPECT_FALSE(patched.at("groups")[0].contains("exclude"));
}

TEST(MatrixPatch, RemovesIncludesFromTheLast) {
  const std::string text =
      R"({"name": "m", "axes": {}, "include": [{"runtime": "a"}, {"runtime": "b"}, {"runtime": "c"}]})";
  const Json patch =
      exclude_patch(text, "m.json", {cell("a", "/include/0/framework"), cell("c", "/include/2")});
  EXPECT_EQ(applied(text, patch).at("include"), Json::parse(R"([{"runtime": "b"}])"));
}

TEST(MatrixPatch, LeavesOutCellsOfOtherFiles) {
  EXPECT_EQ(exclude_patch(kPlain, "m.json", {cell("tc", "/axes/framework", "other.json")}), Json::array());
  EXPECT_EQ(exclude_patch(kPlain, "m.json", {}), Json::array());
}

TEST(MatrixPatch, IncludesWhatIsNotThere) {
  const std::vector<PatchedCell> cells = {cell("tc", "/axes/framework", "search.json")};
  const Json patch = include_patch(kPlain, "m.json", cells);
  const Json patched = applied(kPlain, patch);
  EXPECT_EQ(patched.at("include"), Json::parse(R"([{"framework": "hello", "runtime": "tc"}])"));
  EXPECT_EQ(include_patch(patched.dump(), "m.json", cells), Json::array()) << "it is there already";
}

TEST(MatrixPatch, RefusesWhatIsNoMatrix) {
  EXPECT_THROW(include_patch("[1]", "m.json", {}), Error);
  EXPECT_THROW(exclude_patch("{", "m.json", {}), Error);
}

}  // namespace
}  // namespace kiln
