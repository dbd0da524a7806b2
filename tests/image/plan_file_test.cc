#include "image/plan_file.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/digest.h"
#include "support/fake_effects.h"

namespace kiln {
namespace {

using testing::FakeFileSystem;

Step step_of(StepKind kind, const std::string& title, const std::string& parent = "") {
  Step step;
  step.kind = kind;
  step.title = title;
  step.component = "framework/thing";
  step.parent = parent;
  step.inputs = Json{{"title", title}, {"parent", parent}}.dump();
  step.key = Digest::of(step.inputs).hex();
  return step;
}

PlannedImage image_of(const std::string& id, const std::vector<Step>& steps, const Step& test) {
  ImageSpec spec;
  spec.request.id = id;
  spec.request.axes = {{"framework", id}};
  spec.repository = "thing";
  spec.tag = "1";
  spec.key = Digest::of(id).hex();
  spec.stages = {{"image", steps}};
  spec.tests = {test};
  spec.labels = {{"note", "],\"id\":\"another\""}};
  return planned(std::move(spec));
}

// fuzz_plan_read begins with it, so it must stay a plan of today: written by `kiln build` of tests/data/tiny,
// cell hello-2.1-distro-fast-plain-busybox_1.35 alone.
TEST(PlanFile, ReadsThePlanThatFuzzingBeginsWith) {
  RealFileSystem files;
  auto file = PlanFile::open(files, fs::path(KILN_TEST_DATA) / "plans" / "one-image.json");
  ASSERT_TRUE(file);
  auto plan = file->cell("hello-2.1-distro-fast-plain-busybox_1.35");
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->images.at(0).spec.tag, "2.1-distro-fast-x86_64-busybox1.35");
}

class PlanFileTest : public ::testing::Test {
 protected:
  PlanFileTest() {
    Step base = step_of(StepKind::rootfs, "base");
    Step one = step_of(StepKind::run, "one \"quoted\"", base.key);
    Step two = step_of(StepKind::run, "two", base.key);
    Step test = step_of(StepKind::test, "test", one.key);
    plan_.name = "demo";
    for (const Step& step : {base, one, two, test}) plan_.steps.emplace(step.key, step);
    plan_.images = {image_of("first", {base, one}, test), image_of("se\"cond", {base, two}, test)};
    plan_.excluded = {{{{"framework", "x"}}, "because", {}}};
    files_.write("/s/plans/demo.json", plan_text(plan_));
  }
  PlanFile open() { return *PlanFile::open(files_, "/s/plans/demo.json"); }

  BuildPlan plan_;
  FakeFileSystem files_;
};

TEST_F(PlanFileTest, TheTextIsThePlan) {
  BuildPlan again = plan_from_json(JsonDocument::parse(*files_.read("/s/plans/demo.json"), "plan.json"));
  EXPECT_EQ(to_json(again), to_json(plan_));
}

TEST_F(PlanFileTest, EveryStepIsReadAlone) {
  PlanFile file = open();
  for (const auto& [key, step] : plan_.steps) {
    auto part = file.step(key);
    ASSERT_TRUE(part) << step.title;
    ASSERT_EQ(part->steps.size(), 1u);
    EXPECT_EQ(to_json(part->steps.at(key)), to_json(step));
    EXPECT_TRUE(part->images.empty());
  }
  EXPECT_FALSE(file.step(std::string(64, '0')));
  EXPECT_FALSE(file.step(""));
}

TEST_F(PlanFileTest, EveryCellIsReadWithItsSteps) {
  PlanFile file = open();
  for (const PlannedImage& image : plan_.images) {
    auto part = file.cell(image.spec.request.id);
    ASSERT_TRUE(part) << image.spec.request.id;
    EXPECT_EQ(part->steps.size(), 3u);
    auto spec = file.image(image.spec.request.id);
    ASSERT_TRUE(spec);
    EXPECT_EQ(to_json(*spec), to_json(image.spec));
  }
  EXPECT_FALSE(file.image("another"));
  EXPECT_FALSE(file.cell("second"));
}

TEST_F(PlanFileTest, AChangedStepIsRefused) {
  std::string& text = files_.files["/s/plans/demo.json"];
  std::size_t inputs = text.find("\"inputs\":{\"parent\"");
  ASSERT_NE(inputs, std::string::npos);
  text.insert(inputs + 10, "\"added\":1,");
  std::size_t refused = 0;
  for (const auto& [other, step] : plan_.steps) {
    try {
      open().step(other);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::input);
      ++refused;
    }
  }
  EXPECT_EQ(refused, 1u);
}

TEST_F(PlanFileTest, WithoutAFileThereIsNone) {
  EXPECT_FALSE(PlanFile::open(files_, "/s/plans/other.json"));
  files_.write("/s/plans/damaged.json", "{\"axes\":],\"id\":\"x\"\n\"abc\n");
  PlanFile damaged = *PlanFile::open(files_, "/s/plans/damaged.json");
  EXPECT_THROW(damaged.cell("x"), Error);
  EXPECT_THROW(damaged.step("abc"), Error);
}

}  // namespace
}  // namespace kiln
