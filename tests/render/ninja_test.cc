#include <gtest/gtest.h>

#include <set>
#include <sstream>

#include "factory/base/error.h"
#include "factory/render/render.h"
#include "support/fake_effects.h"
#include "support/plan_fixture.h"
#include "support/plan_values.h"
#include "support/render_sample.h"

namespace kiln::testing {
namespace {

std::string text_of(const std::vector<ImageSpec>& images, const NinjaOptions& options) {
  NinjaText text(options);
  for (const ImageSpec& image : images) text.add(image);
  return text.finish();
}

// Each once, tests included.
std::vector<Step> steps_of(const std::vector<ImageSpec>& images) {
  std::map<std::string, Step> steps;
  for (const ImageSpec& image : images) {
    for (const Step* step : image.steps()) steps.emplace(step->key, *step);
    for (const Step& test : image.tests) steps.emplace(test.key, test);
  }
  std::vector<Step> all;
  for (auto& [key, step] : steps) all.push_back(std::move(step));
  return all;
}

TEST(RenderNinja, Golden) {
  NinjaOptions options{"/usr/bin/kiln", "/srv/my state/.kiln", {"srun", "-n1", "--comment=it's $x"}, "demo"};
  expect_golden(text_of(sample_images(), options), std::string(KILN_TEST_DATA) + "/golden/build.ninja");
}

// Its labels name the image below it.
TEST(RenderNinja, AnImageIsPackagedBeforeTheOneUponIt) {
  std::vector<ImageSpec> images = sample_images();
  ASSERT_GE(images.size(), 2u);
  const NinjaOptions options{"kiln", "/state", {}, "demo"};
  const std::string below = "built/" + record_name(images[0]) + ".json";
  const auto edge = [&] {
    const std::string text = text_of(images, options);
    const std::size_t begin = text.find("build built/" + record_name(images[1]) + ".json: image || ");
    EXPECT_NE(begin, std::string::npos) << text;
    return text.substr(begin, text.find('\n', begin) - begin);
  };
  EXPECT_EQ(edge().find(below), std::string::npos);
  images[1].labels[kParentKeyLabel] = images[0].key;
  EXPECT_NE(edge().find(below), std::string::npos);
}

TEST(RenderNinja, RefusesABarInACellId) {
  std::vector<ImageSpec> images = sample_images();
  images[0].request.id = "a|b";
  try {
    text_of(images, {"kiln", "/state", {}, "demo"});
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::input);
    EXPECT_EQ(error.message(), "the cell 'a|b' has a '|' in its name");
  }
}

TEST(RenderNinja, APlanIsTheTextOfItsImages) {
  Resolver resolver;
  const BuildPlan plan =
      plan_matrix(matrix({axis("framework", {"pytorch"}), axis("library", {"none", "openblas:source"}),
                          axis("base", {"debian"}), axis("target", {"zen3"})}),
                  resolver.input());
  const NinjaOptions options{"kiln", "/state", {}, "demo"};
  EXPECT_EQ(render_ninja(plan, options), text_of(specs_of(plan), options));
}

// A real ninja with a stand-in for `kiln step` that notes its arguments and writes the records.
class RealNinja : public ::testing::Test {
 protected:
  void SetUp() override {
    files_.remove_all(state_);
    files_.write(state_ / "kiln step.sh",
                 "printf '%s\\n' \"$*\" >>calls\n"
                 "key=$6 name=${7:-}\n"
                 "[ ! -e \"fail-$key\" ] || exit 1\n"
                 "case $key in --image) echo \"$name\" >>images ;; *) : >\"steps/$key.json\" && : "
                 ">\"tests/$key.json\" ;; esac\n");
    for (const char* folder : {"steps", "tests", "built"}) files_.make_directories(state_ / folder);
    options_.kiln = "./kiln step.sh";
    options_.state = state_.string();
    options_.launcher = {"/bin/sh"};
    options_.plan = "the plan";
  }
  void TearDown() override { files_.remove_all(state_); }

  CommandResult ninja(const std::vector<ImageSpec>& images, const std::vector<std::string>& words = {}) {
    files_.write(state_ / "build.ninja", text_of(images, options_));
    RealCommandRunner runner;
    Command command;
    command.argv = {"ninja", "-C", state_.string(), "-k", "0", "-j", "2"};
    command.argv.insert(command.argv.end(), words.begin(), words.end());
    command.environment = {{"PATH", "/usr/bin:/bin"}};
    return runner.run(command);
  }

  std::vector<std::string> calls() {
    std::vector<std::string> lines;
    std::istringstream in(files_.read(state_ / "calls").value_or(""));
    const std::string before = "--plan the plan ";
    for (std::string line; std::getline(in, line);)
      lines.push_back(line.substr(line.find(before) + before.size()));
    return lines;
  }

  RealFileSystem files_;
  fs::path state_ = fs::path(::testing::TempDir()) / "kiln render ninja";
  NinjaOptions options_;
};

TEST_F(RealNinja, RunsEveryStepOnceInOrder) {
  std::vector<ImageSpec> images = sample_images();
  CommandResult result = ninja(images);
  EXPECT_TRUE(result.ok()) << result.tail;
  std::vector<std::string> order = calls();
  EXPECT_EQ(order.size(), steps_of(images).size() + images.size());
  auto place = [&](const std::string& call) {
    auto found = std::find(order.begin(), order.end(), call);
    EXPECT_NE(found, order.end()) << call;
    return found - order.begin();
  };
  for (const Step& step : steps_of(images)) {
    if (!step.parent.empty()) {
      EXPECT_LT(place(step.parent), place(step.key));
    }
    if (!step.from.empty()) {
      EXPECT_LT(place(step.from), place(step.key));
    }
  }
  for (const ImageSpec& image : images) {
    for (const Step& test : image.tests) EXPECT_LT(place(test.key), place("--image " + image.request.id));
  }
}

// Two ninjas in one folder each have a log of their own.
TEST_F(RealNinja, KeepsItsLogWhereItIsTold) {
  options_.folder = "builds/the $plan";
  EXPECT_TRUE(ninja(sample_images()).ok());
  EXPECT_TRUE(files_.exists(state_ / "builds/the $plan/.ninja_log"));
  EXPECT_FALSE(files_.exists(state_ / ".ninja_log"));
}

TEST_F(RealNinja, AKeyThatExistsIsNeverMadeAgain) {
  std::vector<ImageSpec> images = sample_images();
  ASSERT_TRUE(ninja(images).ok());
  for (const ImageSpec& image : images) files_.write(state_ / "built" / (record_name(image) + ".json"), "{}");
  std::size_t before = calls().size();
  options_.launcher = {"/usr/bin/env", "/bin/sh"};  // another command line is no reason
  files_.remove_all(state_ / ".ninja_log");         // nor is a lost log
  CommandResult result = ninja(images);
  EXPECT_TRUE(result.ok()) << result.tail;
  EXPECT_NE(result.tail.find("no work to do"), std::string::npos) << result.tail;
  EXPECT_EQ(calls().size(), before);
}

TEST_F(RealNinja, OneFailureStopsOnlyWhatHangsOnIt) {
  std::vector<ImageSpec> images = sample_images();
  files_.write(state_ / ("fail-" + images[1].tests[0].key), "");
  EXPECT_FALSE(ninja(images).ok());
  EXPECT_EQ(files_.read(state_ / "images"), images[0].request.id + "\n");
}

TEST_F(RealNinja, BuildsOneCellByItsId) {
  std::vector<ImageSpec> images = sample_images();
  CommandResult result = ninja(images, {images[1].request.id});
  EXPECT_TRUE(result.ok()) << result.tail;
  EXPECT_EQ(files_.read(state_ / "images"), images[1].request.id + "\n");
}

TEST_F(RealNinja, CellsWithTheSameBitsAreBothPackaged) {
  std::vector<ImageSpec> images = sample_images();
  images[1] = images[0];
  images[1].request.id = "twin";
  images[1].tag = "twin";
  CommandResult result = ninja(images);
  EXPECT_TRUE(result.ok()) << result.tail;
  std::istringstream lines(files_.read(state_ / "images").value_or(""));
  std::multiset<std::string> packaged;  // ninja is free to run the two at once
  for (std::string line; std::getline(lines, line);) packaged.insert(line);
  EXPECT_EQ(packaged, (std::multiset<std::string>{images[0].request.id, "twin"}));
}

}  // namespace
}  // namespace kiln::testing
