// The documents of a night: JSON there and back, words, JUnit, HTML.
#include "factory/night/night.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "factory/base/effects.h"
#include "factory/night/night_text.h"
#include "night/night_values.h"
#include "support/json_schema.h"

namespace kiln {
namespace {

using testing::failed_image;
using testing::night_image;

NightReport full_report() {
  NightImage failed = failed_image("b", "pytorch (pip): exit status 1: <script>alert(1)</script>",
                                   {{"method", "pip"}}, "key");
  failed.key = std::string(64, 'a');
  failed.actor = Actor::recipe;
  failed.advice = "look at the end of its log";
  failed.script = "framework/pytorch (pip): pip.sh";
  failed.log = "logs/key.log";
  failed.end_of_log = "</pre><b>bold</b> & more";
  failed.cause = ExitCode::network;
  failed.failure = FailureClass::infrastructure;
  NightImage built = night_image("a", Verdict::built, {{"method", "distro"}});
  built.seconds = 12.5;
  built.bytes = 5'000'000;
  built.speeds = {{"mnist, ms/step, on zen4", 80}};
  built.why = {"base/debian: its digest changed"};
  NightReport report =
      testing::night_report(2, {built, failed, night_image("c", Verdict::no_time)}, NightState::held);
  report.exit_code = 1;
  report.host = "nid001";
  report.remarks = {"2 nights did not run"};
  report.every = 86'400;
  report.troubles = {{TroubleCause::refused, "registry.site:5000", "registry.site:5000: 401 Unauthorized",
                      ExitCode::network, Actor::site, "renew the login", 1}};
  report.warnings = {"warning: shared steps"};
  report.phases = {{"build", 12.5}};
  report.steps_run = 3;
  report.steps_fetched = 9;
  report.lock = {{"base/debian: 1 → 2"}, {"archive"}, {"torch 2.7"}, {"mirror"}};
  report.gone = {"old:1"};
  report.failures = {{"exit status 1",
                      {"exit status 1: other"},
                      Actor::recipe,
                      {"b"},
                      {{"method", "pip"}},
                      {{{"method", "pip"}}},
                      {"m.json:1:2"}}};
  report.gate = {{"stock", 2, {"b:1"}}};
  report.trends = {{"a:1", "seconds", 10, 12.5, 2, true}};
  report.snapshot = 7;
  report.last_green = 1'700'000'000;
  report.collected = "3 things collected, 1.0 MB";
  report.registry = "registry/ai: 1 image pushed";
  return report;
}

TEST(Night, ReadsBackWhatItWrote) {
  const std::string text = to_json(full_report()).dump();
  const NightReport read = night_from_json(JsonDocument::parse(text, "night.json").root());
  EXPECT_EQ(to_json(read).dump(), text);
  EXPECT_EQ(read.images[1].cause, ExitCode::network);
  EXPECT_EQ(read.started, full_report().started);
}

TEST(Night, IsAsItsSchemaSays) {
  const Json schema =
      Json::parse(RealFileSystem().read(KILN_SOURCE_DIR "/schema/night.schema.json").value_or(""));
  EXPECT_EQ(testing::schema_violations(schema, to_json(full_report())), std::vector<std::string>());
  EXPECT_EQ(testing::schema_violations(schema, to_json(testing::night_report(1, {}))),
            std::vector<std::string>());
  Json wrong = to_json(full_report());
  wrong["images"][0]["verdict"] = "fine";
  EXPECT_EQ(testing::schema_violations(schema, wrong).size(), 1u);
}

template <typename Word>
void expect_read_back(std::initializer_list<Word> words) {
  for (const Word word : words) {
    Word read{};
    EXPECT_TRUE(read_name(name_of(word), read)) << name_of(word);
    EXPECT_EQ(read, word);
    EXPECT_FALSE(read_name("fine", read));
    EXPECT_EQ(read, word) << "nothing is set";
  }
}

TEST(Night, EveryWordIsReadBack) {
  expect_read_back({Verdict::built, Verdict::mended, Verdict::unchanged, Verdict::failed, Verdict::unplanned,
                    Verdict::not_reached, Verdict::no_time, Verdict::no_machine});
  expect_read_back({NightState::green, NightState::red, NightState::held, NightState::interrupted});
  expect_read_back({TroubleCause::network, TroubleCause::refused, TroubleCause::registry, TroubleCause::tag,
                    TroubleCause::lock, TroubleCause::disk, TroubleCause::tool, TroubleCause::input,
                    TroubleCause::gain, TroubleCause::forged, TroubleCause::internal});
  expect_read_back({Actor::nobody, Actor::recipe, Actor::site});
}

TEST(Night, RefusesADamagedReport) {
  const std::string text = to_json(full_report()).dump();
  for (const char* part : {":\"held\"", ":\"failed\"", "\"format\":1", "\"started\":\"2", ":\"recipe\""}) {
    std::string damaged = text;
    damaged.replace(damaged.find(part) + std::string_view(part).size() - 1, 1, "#");
    EXPECT_THROW(night_from_json(JsonDocument::parse(damaged, "night.json").root()), Error) << part;
  }
}

TEST(Night, HeadlineCounts) {
  EXPECT_EQ(night_headline(full_report()),
            "demo, night 2: held: 1 of 3 images good, 1 built, 1 failed, 1 no time; site must act: "
            "registry.site:5000: 401 Unauthorized; recipe must act: exit status 1");
  EXPECT_EQ(night_title(full_report()),
            "demo, night 2: held: 1 of 3 images good, 1 built, 1 failed, 1 no time");
}

TEST(Night, HeadlineOfANightThatIsHeldNamesTheActor) {
  NightReport report = testing::night_report(3, {night_image("a", Verdict::built)}, NightState::held);
  report.snapshot = 7;
  EXPECT_EQ(night_headline(report),
            "demo, night 3: held: 1 of 1 image good, 1 built; site must act: the index is held at snapshot 7 "
            "until `kiln index release`");
  report.gate = {{"stock", 2, {"b:1"}}};
  EXPECT_EQ(
      night_headline(report),
      "demo, night 3: held: 1 of 1 image good, 1 built; no action needed yet: gate 'stock' waits for b:1");
  report.state = NightState::green;
  EXPECT_EQ(night_headline(report), "demo, night 3: green: 1 of 1 image good, 1 built");
}

TEST(Night, AnIncludeOfAFailedImageIsToBeRemoved) {
  FailureGroup group;
  group.includes = {"matrix/demo.json:16:5"};
  EXPECT_EQ(remedy_lines(group), std::vector<std::string>{"remove the include at matrix/demo.json:16:5: an "
                                                          "exclude does not remove its cells"});
}

TEST(Night, TextNamesWhoMustAct) {
  const std::string text = night_text(full_report());
  for (const char* part :
       {"b:1: failed: pytorch (pip): exit status 1", "; recipe: look at the end of its log",
        "2 nights did not run", "registry.site:5000: 401 Unauthorized; site: renew the login",
        "warning: shared steps", "3 steps run here, 9 fetched from other builders",
        "exit status 1; also: exit status 1: other", "an exclude for them: {\"method\":\"pip\"}",
        "gate 'stock' is closed: 1 of 2 images missing: b:1",
        "a:1: seconds 10.0 s → 12.5 s (+25 %) perhaps since night 2", "snapshot 7 stays", "old:1"})
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
}

TEST(Night, HtmlShowsNoTextAsMarkup) {
  const std::string html = night_html(full_report(), std::vector{past_of(full_report())});
  EXPECT_EQ(html.find("<script"), std::string::npos);
  EXPECT_EQ(html.find("<b>bold"), std::string::npos);
  EXPECT_NE(html.find("&lt;script&gt;"), std::string::npos);
  EXPECT_EQ(html.find("http"), std::string::npos) << "nothing is fetched";
}

TEST(Night, HtmlHasABarForEachNight) {
  std::vector<PastNight> nights;
  for (int i = 1; i <= 70; ++i)
    nights.push_back(past_of(testing::night_report(i, {night_image("a", Verdict::unchanged)})));
  NightReport report = full_report();
  report.number = 71;
  nights.push_back(past_of(report));
  const std::string html = night_html(report, nights);
  std::size_t bars = 0;
  for (std::size_t at = 0; (at = html.find("<g><title>night ", at)) != std::string::npos; ++at) ++bars;
  EXPECT_EQ(bars, 60u);
  EXPECT_NE(html.find("night 71: held, 1 of 3 good"), std::string::npos);
}

TEST(Night, JunitHasACaseForEachImageAndGate) {
  const std::string xml = night_junit(full_report());
  EXPECT_NE(xml.find("tests=\"6\""), std::string::npos) << xml;
  EXPECT_NE(xml.find("failures=\"2\""), std::string::npos) << xml;  // the gate, the registry
  EXPECT_NE(xml.find("errors=\"1\""), std::string::npos) << xml;    // the network
  EXPECT_NE(xml.find("skipped=\"1\""), std::string::npos) << xml;
}

// A reader that counts failures and errors alone must never show a night that is not green as green.
TEST(Night, JunitOfANightThatIsNotGreenIsNeverGreen) {
  for (NightState state : {NightState::red, NightState::held, NightState::interrupted}) {
    NightReport report = testing::night_report(1, {night_image("a", Verdict::unchanged)}, state);
    const std::string xml = night_junit(report);
    EXPECT_EQ(xml.find("failures=\"0\" errors=\"0\""), std::string::npos) << xml;
    report.images = {night_image("a", Verdict::not_reached)};
    EXPECT_EQ(night_junit(report).find("failures=\"0\" errors=\"0\""), std::string::npos);
  }
  const std::string green = night_junit(testing::night_report(1, {night_image("a", Verdict::unchanged)}));
  EXPECT_NE(green.find("failures=\"0\" errors=\"0\""), std::string::npos) << green;
}

TEST(Night, JunitTellsWhatMayPassFromWhatSomebodyMustMend) {
  NightReport report = testing::night_report(1, {}, NightState::red);
  NightTrouble trouble;
  trouble.cause = TroubleCause::network;
  trouble.what = "it did not answer";
  report.troubles = {trouble};
  EXPECT_NE(night_junit(report).find("errors=\"1\""), std::string::npos);
  report.troubles[0].actor = Actor::site;
  EXPECT_NE(night_junit(report).find("failures=\"1\""), std::string::npos);
}

TEST(Night, HtmlNamesWhoMustActBeforeTheImages) {
  const std::string html = night_html(full_report(), std::vector{past_of(full_report())});
  const std::size_t trouble = html.find("<strong>site</strong>: renew the login");
  ASSERT_NE(trouble, std::string::npos);
  EXPECT_LT(trouble, html.find("Not good"));
  EXPECT_NE(html.find("warning: shared steps"), std::string::npos);
}

TEST(Night, OfTenThousandImagesIsWrittenAndRead) {
  std::vector<NightImage> images;
  for (int i = 0; i < 10'000; ++i)
    images.push_back(night_image("cell" + std::to_string(i), Verdict::unchanged));
  const NightReport report = testing::night_report(1, std::move(images));
  EXPECT_LT(night_text(report).size(), 1000u);
  JsonLimits limits;
  limits.bytes = 64u << 20;
  limits.members = 1'000'000;
  const NightReport read = night_from_json(JsonDocument::parse(to_json(report).dump(), "n", limits).root());
  EXPECT_EQ(read.images.size(), 10'000u);
}

}  // namespace
}  // namespace kiln
