#include "factory/night/trouble.h"

#include <gtest/gtest.h>

#include "night/night_values.h"

namespace kiln {
namespace {

NightTrouble judged(const Error& error, const std::string& subject = "",
                    const std::vector<NightTrouble>& before = {}, std::int64_t night = 1) {
  NightTrouble trouble = trouble_of(error, subject, "/etc/kiln/site.json");
  judge(trouble, before, night);
  return trouble;
}

TEST(Trouble, OfAnErrorHasACauseAndAnActor) {
  struct Case {
    Error error;
    TroubleCause cause;
    Actor actor;
  };
  const std::vector<Case> cases{
      {{ExitCode::network, "r:5000/ai: asking: 401 Unauthorized"}, TroubleCause::refused, Actor::site},
      {{ExitCode::network, "r:5000/ai: pushing: 403 Forbidden"}, TroubleCause::refused, Actor::site},
      {{ExitCode::network, "r:5000/ai: pushing: 403 (DENIED: no)"}, TroubleCause::refused, Actor::site},
      {{ExitCode::network, "r:5000: connection refused"}, TroubleCause::network, Actor::nobody},
      {{ExitCode::network, "r:5000: 507", "the registry has no space left"},
       TroubleCause::registry,
       Actor::site},
      {{ExitCode::store, "writing x: no space left on device"}, TroubleCause::disk, Actor::site},
      {{ExitCode::locked, "kiln build holds it"}, TroubleCause::lock, Actor::nobody},
      {{ExitCode::tool_missing, "ninja is missing"}, TroubleCause::tool, Actor::site},
      {{ExitCode::input, {"demo.json", 3, 4, ""}, "no such axis"}, TroubleCause::input, Actor::recipe},
      {{ExitCode::input, {"/etc/kiln/site.json", 3, 4, ""}, "no"}, TroubleCause::input, Actor::site},
      {{ExitCode::internal, "a mistake of kiln"}, TroubleCause::internal, Actor::site}};
  for (const Case& one : cases) {
    const NightTrouble trouble = judged(one.error);
    EXPECT_EQ(trouble.cause, one.cause) << trouble.what;
    EXPECT_EQ(trouble.actor, one.actor) << trouble.what;
    EXPECT_NE(trouble.advice, "") << trouble.what;
    EXPECT_EQ(trouble.code, one.error.code());
  }
}

TEST(Trouble, IsOneLine) {
  Error error(ExitCode::network, "it did not answer", "try again");
  error.while_doing("pushing hello:1").while_doing("publishing");
  EXPECT_EQ(judged(error).what, "it did not answer; try again, while pushing hello:1, while publishing");
}

TEST(Trouble, ThatMayPassIsTheSitesFromTheThirdNightOn) {
  const Error away(ExitCode::network, "r:5000: connection refused");
  const NightTrouble first = judged(away, "r:5000", {}, 7);
  const NightTrouble second = judged(away, "r:5000", {first}, 8);
  EXPECT_EQ(second.actor, Actor::nobody);
  EXPECT_EQ(second.since, 7);
  const NightTrouble third = judged(away, "r:5000", {second}, 9);
  EXPECT_EQ(third.actor, Actor::site);
  EXPECT_EQ(third.advice, "find the cause: it has lasted for 3 nights");
  EXPECT_EQ(judged(away, "other:5000", {second}, 9).since, 9) << "another registry";
}

TEST(Trouble, KeepsAnAdviceThatItHas) {
  NightTrouble trouble;
  trouble.cause = TroubleCause::registry;
  trouble.actor = Actor::nobody;
  trouble.advice = "this night has pushed it again";
  judge(trouble, {}, 3);
  EXPECT_EQ(trouble.actor, Actor::nobody);
  EXPECT_EQ(trouble.advice, "this night has pushed it again");
  EXPECT_EQ(trouble.since, 3);
}

TEST(Trouble, TwiceTheSameIsOne) {
  NightReport report;
  add_trouble(report, judged({ExitCode::network, "r:5000: no answer for 12 s"}, "r:5000"));
  add_trouble(report, judged({ExitCode::network, "r:5000: no answer for 13 s"}, "r:5000"));
  EXPECT_EQ(report.troubles.size(), 1u);
  add_trouble(report, judged({ExitCode::network, "s:5000: no answer for 13 s"}, "s:5000"));
  EXPECT_EQ(report.troubles.size(), 2u);
}

}  // namespace
}  // namespace kiln
