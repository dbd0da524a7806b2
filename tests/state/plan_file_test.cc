#include "factory/state/plan_file.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "factory/base/digest.h"
#include "support/fake_effects.h"
#include "support/plan_fixture.h"
#include "support/plan_values.h"

namespace kiln {
namespace {

using testing::FakeFileSystem;

// fuzz_plan_read begins with it, so it must stay a plan of today: written by `kiln build` of tests/data/tiny,
// cell hello-2.1-distro-fast-plain-busybox_1.35 alone.
TEST(PlanFile, ReadsThePlanThatFuzzingBeginsWith) {
  RealFileSystem files;
  auto file = PlanFile::open(files, fs::path(KILN_TEST_DATA) / "plans" / "one-image.json");
  ASSERT_TRUE(file);
  auto image = file->image("hello-2.1-distro-fast-plain-busybox_1.35");
  ASSERT_TRUE(image);
  EXPECT_EQ(image->tag, "2.1-distro-fast-x86_64-busybox1.35");
}

// Two images that share their base; labels that look like the end of a cell.
BuildPlan two_images() {
  testing::RecipeDraft thing(Kind::framework, "thing", {"1.0"});
  thing.method("distro", "one \"quoted\"").test("test").method("pip", "two");
  thing.get().description = "],\"id\":\"another\"";
  testing::Resolver resolver({testing::RecipeDraft(Kind::base, "debian", {"trixie"}).rootfs(), thing});
  Matrix matrix =
      testing::matrix({testing::axis("framework", {"thing"}), testing::axis("method", {"distro", "pip"}),
                       testing::axis("base", {"debian"}), testing::axis("target", {"zen3"})});
  matrix.groups[0].exclude.push_back(testing::partial({{"framework", "other"}}));
  return plan_matrix(std::move(matrix), resolver.input());
}

class PlanFileTest : public ::testing::Test {
 protected:
  PlanFileTest() { files_.write("/s/plans/demo.json", plan_text(plan_)); }
  PlanFile open() { return *PlanFile::open(files_, "/s/plans/demo.json"); }

  BuildPlan plan_ = two_images();
  FakeFileSystem files_;
};

TEST_F(PlanFileTest, TheTextIsThePlan) {
  PlanDocument again = plan_from_json(JsonDocument::parse(*files_.read("/s/plans/demo.json"), "plan.json"));
  EXPECT_EQ(again.name, "demo");
  EXPECT_EQ(again.warnings, plan_.warnings());
  ASSERT_EQ(again.images.size(), plan_.size());
  for (std::size_t number = 0; number < plan_.size(); ++number)
    EXPECT_EQ(to_json(again.images[number]), to_json(plan_.image(number).spec()));
}

TEST_F(PlanFileTest, DamageIsFound) {
  EXPECT_NO_THROW(open().prove());
  const std::string whole = *files_.read("/s/plans/demo.json");
  auto why = [&](const std::string& text) -> std::string {
    files_.write("/s/plans/demo.json", text);
    try {
      open().prove();
      return "";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::store);
      return error.message();
    }
  };
  EXPECT_EQ(why(whole.substr(0, whole.size() / 2)), "the plan is damaged: it is cut off");
  EXPECT_EQ(why(""), "the plan is damaged: it is cut off");
  std::string other = whole;
  other[whole.find("{\"axes\":")] = 'z';
  EXPECT_EQ(why(other), "the plan is damaged: it is no JSON");
  const std::string key = testing::steps_of(plan_).begin()->first;
  other = whole;
  other.replace(other.find("\n\"" + key) + 2, 1, key[0] == 'a' ? "b" : "a");
  EXPECT_NE(why(other).find("it lacks the step " + key), std::string::npos);
}

TEST_F(PlanFileTest, EveryStepIsReadAlone) {
  PlanFile file = open();
  for (const auto& [key, step] : testing::steps_of(plan_)) {
    auto part = file.step(key);
    ASSERT_TRUE(part) << step.title;
    EXPECT_EQ(to_json(*part), to_json(step));
  }
  EXPECT_FALSE(file.step(std::string(64, '0')));
  EXPECT_FALSE(file.step(""));
}

TEST_F(PlanFileTest, EveryCellIsReadWithItsSteps) {
  PlanFile file = open();
  for (const ImageSpec& image : testing::specs_of(plan_)) {
    auto part = file.image(image.request.id);
    ASSERT_TRUE(part) << image.request.id;
    EXPECT_EQ(to_json(*part), to_json(image));
  }
  EXPECT_FALSE(file.image("another"));
  EXPECT_FALSE(file.image("thing"));
}

TEST_F(PlanFileTest, AChangedStepIsRefused) {
  std::string& text = files_.files["/s/plans/demo.json"];
  std::size_t inputs = text.find("\"inputs\":{");
  ASSERT_NE(inputs, std::string::npos);
  text.insert(inputs + 10, "\"added\":1,");
  std::size_t refused = 0;
  for (const auto& [other, step] : testing::steps_of(plan_)) {
    try {
      open().step(other);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::store);
      EXPECT_EQ(error.where().file, "/s/plans/demo.json");
      ++refused;
    }
  }
  EXPECT_EQ(refused, 1u);
}

TEST_F(PlanFileTest, WithoutAFileThereIsNone) {
  EXPECT_FALSE(PlanFile::open(files_, "/s/plans/other.json"));
  files_.write("/s/plans/damaged.json", "{\"axes\":],\"id\":\"x\"\n\"abc\n");
  PlanFile damaged = *PlanFile::open(files_, "/s/plans/damaged.json");
  EXPECT_THROW(damaged.image("x"), Error);
  EXPECT_THROW(damaged.step("abc"), Error);
}

}  // namespace
}  // namespace kiln
