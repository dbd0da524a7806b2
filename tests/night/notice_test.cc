#include "factory/night/notice.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "night/night_values.h"

namespace kiln {
namespace {

using testing::failed_image;
using testing::night_image;
using testing::night_report;

NightReport red(std::int64_t number, std::vector<std::string> failing) {
  std::vector<NightImage> images{night_image("good", Verdict::unchanged)};
  for (const std::string& name : failing) images.push_back(failed_image(name, "it failed"));
  return night_report(number, std::move(images), failing.empty() ? NightState::green : NightState::red);
}

TEST(Notice, GreenOnTheFirstNightIsNoNews) {
  EXPECT_FALSE(is_news(red(1, {}), {}));
  EXPECT_TRUE(is_news(red(1, {"a"}), {}));
}

TEST(Notice, TheSameFailuresAreToldOnce) {
  const Told told = told_of(red(1, {"a", "b"}));
  EXPECT_FALSE(is_news(red(2, {"b", "a"}), told));
  EXPECT_TRUE(is_news(red(2, {"a"}), told));
  EXPECT_TRUE(is_news(red(2, {"a", "b", "c"}), told));
  EXPECT_TRUE(is_news(red(2, {"a", "c"}), told));
  EXPECT_TRUE(is_news(red(2, {}), told));
}

TEST(Notice, AClosedGateIsNews) {
  NightReport held = red(2, {"a"});
  held.state = NightState::held;
  EXPECT_TRUE(is_news(held, told_of(red(1, {"a"}))));
}

TEST(Notice, SaysWhatIsNewAndWhatWasMended) {
  const Json notice = notice_json(red(2, {"b", "c"}), told_of(red(1, {"a", "b"})));
  EXPECT_EQ(notice["newly_failing"], Json({"c:1"}));
  EXPECT_EQ(notice["mended"], Json({"a:1"}));
  EXPECT_EQ(notice["failing"], Json({"b:1", "c:1"}));
  EXPECT_EQ(notice["before"], "red");
  const auto text = notice["text"].get<std::string>();
  EXPECT_EQ(text, "demo, night 2: red: 1 of 3 images good, 2 failed\nfails: c:1\nmended: a:1");
}

TEST(Notice, ThousandsOfNamesStayReadable) {
  std::vector<std::string> names;
  for (int i = 0; i < 1000; ++i) names.push_back("cell" + std::to_string(i));
  const Json notice = notice_json(red(1, names), {});
  EXPECT_LT(notice["text"].get<std::string>().size(), 1000u);
  EXPECT_EQ(notice["failing"].size(), 1000u);
}

TEST(Notice, ReadsBackWhatWasTold) {
  const Told told = told_of(red(3, {"a"}));
  const Told read = told_from_json(JsonDocument::parse(to_json(told).dump(), "told.json").root());
  EXPECT_EQ(read.state, told.state);
  EXPECT_EQ(read.failing, told.failing);
}

}  // namespace
}  // namespace kiln
