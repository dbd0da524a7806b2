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
  EXPECT_EQ(news_in(red(1, {}), {}, 0), News::none);
  EXPECT_EQ(news_in(red(1, {"a"}), {}, 0), News::change);
}

TEST(Notice, TheSameFailuresAreToldOnce) {
  const SentNotice told = notice_of(red(1, {"a", "b"}));
  EXPECT_EQ(news_in(red(2, {"b", "a"}), told, 0), News::none);
  EXPECT_EQ(news_in(red(2, {"a"}), told, 0), News::change);
  EXPECT_EQ(news_in(red(2, {"a", "b", "c"}), told, 0), News::change);
  EXPECT_EQ(news_in(red(2, {"a", "c"}), told, 0), News::change);
  EXPECT_EQ(news_in(red(2, {}), told, 0), News::change);
}

TEST(Notice, AClosedGateIsNews) {
  NightReport held = red(2, {"a"});
  held.state = NightState::held;
  EXPECT_EQ(news_in(held, notice_of(red(1, {"a"})), 0), News::change);
}

TEST(Notice, SaysWhatIsNewAndWhatWasMended) {
  NightReport report = red(2, {"b", "c"});
  report.host = "nid001";
  const Json notice =
      notice_json(report, notice_of(red(1, {"a", "b"})), "/srv/kiln/nights/demo/2/report.html");
  EXPECT_EQ(notice["newly_failing"], Json({"c:1"}));
  EXPECT_EQ(notice["mended"], Json({"a:1"}));
  EXPECT_EQ(notice["failing"], Json({"b:1", "c:1"}));
  EXPECT_EQ(notice["before"], "red");
  const auto text = notice["text"].get<std::string>();
  EXPECT_EQ(text,
            "demo, night 2: red: 1 of 3 images good, 2 failed\nfails: c:1\nmended: a:1\n"
            "report: /srv/kiln/nights/demo/2/report.html on nid001");
  EXPECT_EQ(notice["host"], "nid001");
  EXPECT_EQ(notice["report"], "/srv/kiln/nights/demo/2/report.html");
  EXPECT_EQ(notice["reminder"], false);
}

TEST(Notice, ThousandsOfNamesStayReadable) {
  std::vector<std::string> names;
  for (int i = 0; i < 1000; ++i) names.push_back("cell" + std::to_string(i));
  const Json notice = notice_json(red(1, names), {}, "");
  EXPECT_LT(notice["text"].get<std::string>().size(), 1000u);
  EXPECT_EQ(notice["failing"].size(), 1000u);
}

TEST(Notice, ReadsBackWhatWasTold) {
  const SentNotice told = notice_of(red(3, {"a"}));
  const SentNotice read =
      sent_notice_from_json(JsonDocument::parse(to_json(told).dump(), "told.json").root());
  EXPECT_EQ(read.state, told.state);
  EXPECT_EQ(read.failing, told.failing);
  EXPECT_EQ(read.reasons, told.reasons);
  EXPECT_EQ(read.when, told.when);
}

NightTrouble refused(const std::string& what) {
  NightTrouble trouble;
  trouble.cause = TroubleCause::refused;
  trouble.subject = "registry.site:5000";
  trouble.what = what;
  trouble.actor = Actor::site;
  trouble.advice = "renew the login of kiln at registry.site:5000";
  return trouble;
}

NightReport troubled(std::int64_t number, NightTrouble trouble) {
  NightReport report = red(number, {"a"});
  report.troubles = {std::move(trouble)};
  return report;
}

TEST(Notice, AnotherReasonIsNewsWhileTheStateStays) {
  const SentNotice told = notice_of(troubled(1, refused("registry.site:5000: 401 Unauthorized")));
  EXPECT_EQ(news_in(troubled(2, refused("registry.site:5000: 401 Unauthorized")), told, 0), News::none);
  EXPECT_EQ(news_in(red(2, {"a"}), told, 0), News::change) << "the registry answers again";
  NightTrouble disk = refused("no space left on device");
  disk.cause = TroubleCause::disk;
  EXPECT_EQ(news_in(troubled(2, disk), told, 0), News::change);
  NightTrouble tag = refused("the tag is left unchanged: registry.site:5000/ai/a:1: …");
  tag.cause = TroubleCause::tag;
  EXPECT_EQ(news_in(troubled(2, tag), told, 0), News::change);
}

TEST(Notice, WhoMustActIsNews) {
  NightReport first = red(1, {"a"}), third = red(3, {"a"});
  third.images[1].actor = Actor::site;
  EXPECT_EQ(news_in(third, notice_of(first), 0), News::change);
}

TEST(Notice, AnotherTryInOtherWordsIsNoNews) {
  NightReport first = red(1, {"a"}), second = red(2, {"a"});
  first.images[1].what = "hello 1 (pip): exit status 1: timed out after 12 s";
  second.images[1].what = "hello 1 (pip): exit status 1: connection reset";
  first.images[1].step = second.images[1].step = "key";
  EXPECT_EQ(news_in(second, notice_of(first), 0), News::none);
}

TEST(Notice, RemindsWhileItIsNotGreen) {
  constexpr std::int64_t kWeek = 7 * 86'400;
  const SentNotice told = notice_of(red(1, {"a"}));
  EXPECT_EQ(news_in(red(7, {"a"}), told, kWeek), News::none);
  EXPECT_EQ(news_in(red(8, {"a"}), told, kWeek), News::reminder);
  EXPECT_EQ(news_in(red(80, {"a"}), told, 0), News::none) << "switched off";
  EXPECT_EQ(news_in(red(80, {}), notice_of(red(1, {})), kWeek), News::none) << "green";
  const Json notice = notice_json(red(8, {"a"}), told, "", News::reminder);
  EXPECT_EQ(notice["reminder"], true);
  EXPECT_TRUE(notice["text"].get<std::string>().starts_with("reminder: demo, night 8: red")) << notice;
}

TEST(Notice, OfAnOlderKilnIsNoNewsByItself) {
  const SentNotice told = sent_notice_from_json(
      JsonDocument::parse(R"({"state": "red", "failing": ["a:1"]})", "told.json").root());
  EXPECT_EQ(news_in(red(9, {"a"}), told, 3600), News::none);
}

TEST(Notice, NamesTheCauseAndWhoMustActInItsFirstLine) {
  const Json notice =
      notice_json(troubled(2, refused("registry.site:5000: 401 Unauthorized")), notice_of(red(1, {"a"})), "");
  const auto text = notice["text"].get<std::string>();
  const std::string first = text.substr(0, text.find('\n'));
  EXPECT_NE(first.find("site must act: registry.site:5000: 401 Unauthorized"), std::string::npos) << first;
  EXPECT_NE(text.find("renew the login of kiln at registry.site:5000"), std::string::npos) << text;
  ASSERT_EQ(notice["causes"].size(), 1u);
  EXPECT_EQ(notice["causes"][0]["cause"], "refused");
  EXPECT_EQ(notice["causes"][0]["actor"], "site");
}

}  // namespace
}  // namespace kiln
