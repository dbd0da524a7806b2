#include "factory/recipe/target.h"

#include <gtest/gtest.h>

#include "support/fake_effects.h"
#include "support/input_errors.h"
#include "support/recipe_samples.h"

namespace kiln::testing {
namespace {

using Strings = std::vector<std::string>;

const Microarchitectures& archspec() {
  static const Microarchitectures kTable = [] {
    return Microarchitectures::parse(*RealFileSystem().read(KILN_ARCHSPEC_JSON), KILN_ARCHSPEC_JSON);
  }();
  return kTable;
}

// Throws what is wrong with it.
TargetBook read_one(const std::string& name, const std::string& json) {
  FakeFileSystem files;
  files.files["matrix/targets/" + name + ".json"] = json;
  TargetBook book = TargetBook::read(files, "matrix/targets", archspec());
  if (book.broken().contains(name)) throw book.broken().find(name)->second;
  return book;
}

const SourceLocation kAxis{"matrix/demo.json", 14, 16, "/axes/target/0"};

TEST(Target, IsReadFromItsFile) {
  Target target = read_one("testbed", kTarget).get("testbed", kAxis);
  EXPECT_EQ(target, (Target{"testbed", "broadwell", {"nvidia:sm_61"}, "the paper's testbed"}));
}

TEST(Target, FolderMayHoldOtherFilesOrBeAbsent) {
  FakeFileSystem files(
      {{"t/README.md", "stray"}, {"t/old.json/x", "stray"}, {"t/a.json", R"({"cpu": "zen3"})"}});
  EXPECT_EQ(TargetBook::read(files, "t", archspec()).get("a", {}).cpu, "zen3");
  EXPECT_EQ(TargetBook::read(files, "absent", archspec()).get("zen3", {}).cpu, "zen3");
}

TEST(Target, OneThatIsWrongIsNoBusinessOfOthers) {
  FakeFileSystem files({{"t/a.json", R"({"cpu": "zen3"})"}, {"t/zen4.json", R"({"cpi": "zen4"})"}});
  TargetBook book = TargetBook::read(files, "t", archspec());
  EXPECT_EQ(book.get("a", {}).cpu, "zen3");
  EXPECT_EQ(book.get("zen2", {}).cpu, "zen2");
  // Not the microarchitecture of that name in its place.
  EXPECT_EQ(input_error([&] { book.get("zen4", kAxis); }),
            "t/zen4.json:1:2: error: unknown key 'cpi' (at /cpi); did you mean 'cpu'?");
}

TEST(Target, EveryArchspecNameIsOne) {
  TargetBook book(archspec());
  for (const std::string& name : archspec().names())
    EXPECT_EQ(book.get(name, kAxis), (Target{name, name, {}, ""}));
}

TEST(Target, AcceleratorsMayFollowTheCpu) {
  TargetBook book(archspec());
  EXPECT_EQ(
      book.get("x86_64_v3,nvidia:sm_80,nvidia:sm_90a", kAxis),
      (Target{"x86_64_v3,nvidia:sm_80,nvidia:sm_90a", "x86_64_v3", {"nvidia:sm_80", "nvidia:sm_90a"}, ""}));
  EXPECT_EQ(book.get("zen3,amd:gfx90a", kAxis).accelerators, Strings{"amd:gfx90a"});
}

TEST(Target, AddReplacesByName) {
  TargetBook book = read_one("testbed", kTarget);
  book.add({"testbed", "zen3", {}, ""});
  EXPECT_EQ(book.get("testbed", kAxis).cpu, "zen3");
}

TEST(Target, PlatformIsThatOfOci) {
  auto platform = [](const std::string& cpu) {
    Target target{cpu, cpu, {}, ""};
    return target.platform_architecture(archspec());
  };
  EXPECT_EQ(platform("x86_64"), "amd64");
  EXPECT_EQ(platform("broadwell"), "amd64");
  EXPECT_EQ(platform("neoverse_v1"), "arm64");
  EXPECT_EQ(platform("power9le"), "ppc64le");
}

TEST(Target, UnknownNamesAreRefusedWhereTheyStand) {
  TargetBook book = read_one("testbed", kTarget);
  auto error = [&](const std::string& name) { return input_error([&] { book.get(name, kAxis); }); };
  EXPECT_EQ(error("brodwell"),
            "matrix/demo.json:14:16: error: there is no target 'brodwell' (at /axes/target/0); did you mean "
            "'broadwell'?");
  EXPECT_EQ(error("testbad"),
            "matrix/demo.json:14:16: error: there is no target 'testbad' (at /axes/target/0); did you mean "
            "'testbed'?");
  EXPECT_EQ(error("zen3,sm_80"),
            "matrix/demo.json:14:16: error: expected an accelerator, found 'sm_80' (at /axes/target/0); for "
            "example "
            "nvidia:sm_80 or amd:gfx90a");
  EXPECT_EQ(
      error("zen3,"),
      "matrix/demo.json:14:16: error: expected an accelerator, found '' (at /axes/target/0); for example "
      "nvidia:sm_80 or amd:gfx90a");
  EXPECT_EQ(error("zen3,nvidia:sm_80,nvidia:sm_80"),
            "matrix/demo.json:14:16: error: accelerator 'nvidia:sm_80' is there twice in "
            "'zen3,nvidia:sm_80,nvidia:sm_80' (at /axes/target/0)");
}

TEST(Target, NameOfAMicroarchitectureMeansThatOne) {
  EXPECT_EQ(input_error([] { read_one("zen3", R"({"cpu": "broadwell"})"); }),
            "matrix/targets/zen3.json: error: 'zen3' is a microarchitecture, and this target is for "
            "'broadwell'; give "
            "the file another name");
  EXPECT_EQ(read_one("zen3", R"({"cpu": "zen3", "description": "ours"})").get("zen3", {}).description,
            "ours");
}

TEST(Target, NameIsSafeInTags) {
  EXPECT_EQ(
      input_error([] { read_one("my target", R"({"cpu": "zen3"})"); }),
      "matrix/targets/my target.json: error: 'my target' is not a target's name; letters, digits and _ . + - "
      "only, and a letter or digit first");
}

const std::vector<Mistake> kTargetMistakes = {
    {"UnknownKey", R"("accelerators")", R"("accelerator")", Schema::refuses,
     "1:22: error: unknown key 'accelerator' (at /accelerator); did you mean 'accelerators'?"},
    {"NoCpu", R"("cpu": "broadwell", )", "", Schema::refuses, "1:1: error: the key 'cpu' is missing"},
    {"UnknownCpu", R"("broadwell")", R"("brodwell")", Schema::accepts,
     "1:9: error: archspec knows no microarchitecture 'brodwell' (at /cpu); did you mean 'broadwell'?"},
    {"CpuOfWrongType", R"("broadwell")", R"(["broadwell"])", Schema::refuses,
     "1:9: error: expected a string, found an array (at /cpu)"},
    {"AcceleratorWithoutVendor", "nvidia:sm_61", "sm_61", Schema::refuses,
     "1:39: error: expected an accelerator, found 'sm_61' (at /accelerators/0); for example nvidia:sm_80 or "
     "amd:gfx90a"},
    {"AcceleratorOfUnknownVendor", "nvidia:sm_61", "nvidea:sm_61", Schema::refuses,
     "1:39: error: expected an accelerator, found 'nvidea:sm_61' (at /accelerators/0); for example "
     "nvidia:sm_80 "
     "or amd:gfx90a"},
    {"ShortCapability", "nvidia:sm_61", "nvidia:sm_6", Schema::refuses,
     "1:39: error: expected an accelerator, found 'nvidia:sm_6' (at /accelerators/0); for example "
     "nvidia:sm_80 "
     "or amd:gfx90a"},
    {"BadChip", "nvidia:sm_61", "amd:gfx9x", Schema::refuses,
     "1:39: error: expected an accelerator, found 'amd:gfx9x' (at /accelerators/0); for example nvidia:sm_80 "
     "or "
     "amd:gfx90a"},
    {"AcceleratorTwice", R"(["nvidia:sm_61"])", R"(["nvidia:sm_61", "nvidia:sm_61"])", Schema::refuses,
     R"(1:55: error: accelerator "nvidia:sm_61" is there twice (at /accelerators/1); first at /accelerators/0)"},
    {"EmptyDescription", R"("the paper's testbed")", R"("")", Schema::refuses,
     "1:71: error: expected a line of text, found an empty string (at /description)"},
};

class TargetMistake : public ::testing::TestWithParam<Mistake> {};

TEST_P(TargetMistake, IsRefusedAtItsPlace) {
  const std::string json = with_mistake(kTarget, GetParam().from, GetParam().to);
  EXPECT_EQ(input_error([&] { read_one("testbed", json); }),
            "matrix/targets/testbed.json:" + GetParam().error);
  const bool refused = !violations_of_schema("target", json).empty();
  EXPECT_EQ(refused, GetParam().schema == Schema::refuses);
}

INSTANTIATE_TEST_SUITE_P(Reader, TargetMistake, ::testing::ValuesIn(kTargetMistakes), name_of_mistake);

}  // namespace
}  // namespace kiln::testing
