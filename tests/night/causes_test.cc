#include "factory/night/causes.h"

#include <gtest/gtest.h>

#include "night/night_values.h"

namespace kiln {
namespace {

using testing::failed_image;
using testing::night_image;
using Axes = std::map<std::string, std::string>;

TEST(Causes, OfOneStepAreOne) {
  const auto groups = group_failures({failed_image("a", "base: exit status 1", {}, "k1"),
                                      failed_image("b", "base: exit status 1", {}, "k1"),
                                      failed_image("c", "base: exit status 1", {}, "k2")});
  ASSERT_EQ(groups.size(), 2u);
  EXPECT_EQ(groups[0].cells, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(groups[1].cells, std::vector<std::string>{"c"});
}

TEST(Causes, WhatDiffersInNumbersAndNamesIsOne) {
  const auto groups = group_failures(
      {failed_image("a", "pytorch 2.6.0 (pip): exit status 1: /tmp/x1/a.c:12: no such file", {}, "k1"),
       failed_image("b", "jax 0.9.2 (pip): exit status 2: /tmp/y/b.c:7: no such file", {}, "k2"),
       failed_image("c", "jax 0.9.2 (pip): exit status 1: /tmp/y/b.c:7: no such folder", {}, "k3")});
  ASSERT_EQ(groups.size(), 2u);
  EXPECT_EQ(groups[0].cells, (std::vector<std::string>{"a", "b"}));
}

NightImage failed_in(const std::string& cell, const std::string& what, const std::string& script) {
  NightImage image = failed_image(cell, what, {}, "key of " + cell);
  image.script = script;
  return image;
}

TEST(Causes, OneScriptThatEndsWithoutAWordIsOne) {
  const std::string script = "compiler/turbo (distro): distro.sh";
  const auto groups = group_failures(
      {failed_in("a", "turbo 1 (distro): exit status 3", script),
       failed_in("b", "turbo 1 (distro): exit status 3", script),
       failed_in("c", "fast 1 (distro): exit status 3", "library/fast (distro): distro.sh"),
       failed_in("d", "turbo 1 (source): exit status 3", "compiler/turbo (source): build.sh")});
  ASSERT_EQ(groups.size(), 3u);
  EXPECT_EQ(groups[0].cells, (std::vector<std::string>{"a", "b"}));
}

// What it printed before it ended is not why it ended.
TEST(Causes, OneScriptIsOneWhateverItPrintedLast) {
  const std::string script = "framework/hello (distro): distro.sh";
  const auto groups =
      group_failures({failed_in("a", "hello 1 (distro): exit status 3: Setting up libblas", script),
                      failed_in("b", "hello 2 (distro): exit status 3: Setting up libblis", script),
                      failed_in("c", "hello 3 (distro): exit status 3: Setting up libblis", script)});
  ASSERT_EQ(groups.size(), 1u);
  EXPECT_EQ(groups[0].what, "hello 1 (distro): exit status 3: Setting up libblas");
  EXPECT_EQ(groups[0].also, std::vector<std::string>{"hello 2 (distro): exit status 3: Setting up libblis"});
}

TEST(Causes, OneScriptThatEndsInTwoWaysIsTwo) {
  const std::string script = "framework/hello (distro): distro.sh";
  NightImage hangs = failed_in("b", "hello 1 (distro): killed after 60 s of silence", script);
  hangs.cause = ExitCode::timeout;
  NightImage network = failed_in("c", "hello 1 (distro): exit status 1: could not resolve host: x", script);
  network.failure = FailureClass::infrastructure;
  network.cause = ExitCode::network;
  const auto groups = group_failures(
      {failed_in("a", "hello 1 (distro): exit status 1", script), hangs, network,
       failed_in("d", "hello 1 (distro): out of memory: it needs more than its limit", script)});
  EXPECT_EQ(groups.size(), 4u);
}

TEST(Causes, SignatureLeavesTheWords) {
  EXPECT_EQ(signature_of("exit status 22: curl: (22) the URL returned 404"),
            "exit status #: curl: (#) the URL returned #");
  EXPECT_EQ(signature_of("wrong hash 0123456789abcdef in\t/var/x  twice"), "wrong hash # in / twice");
  EXPECT_LE(signature_of(std::string(100'000, 'x') + " y").size(), 100'000u);
}

TEST(Causes, SharedIsWhatTellsThemFromTheGood) {
  const Axes cuda12{{"framework", "pytorch"}, {"library", "cuda@12"}, {"method", "pip"}};
  const Axes cuda12b{{"framework", "jax"}, {"library", "cuda@12"}, {"method", "pip"}};
  const Axes cuda13{{"framework", "pytorch"}, {"library", "cuda@13"}, {"method", "pip"}};
  const auto groups = group_failures({failed_image("a", "x: exit: no GPU", cuda12, "1"),
                                      failed_image("b", "y: exit: no GPU", cuda12b, "2"),
                                      night_image("c", Verdict::built, cuda13)});
  ASSERT_EQ(groups.size(), 1u);
  EXPECT_EQ(groups[0].shared, (Axes{{"library", "cuda@12"}}));
  EXPECT_EQ(groups[0].exclude, std::vector<Axes>{(Axes{{"library", "cuda@12"}})});
}

TEST(Causes, ExcludesTakeOutNothingThatIsGood) {
  std::vector<NightImage> images;
  std::vector<std::string> versions{"1", "2", "3", "4"};
  for (const std::string& version : versions)
    for (const char* compiler : {"none", "xla", "tvm"})
      for (const char* target : {"zen3", "zen4"}) {
        const Axes axes{{"version", version}, {"compiler", compiler}, {"target", target}};
        const bool fails = std::string(compiler) == "tvm" && version > "2";
        const std::string cell = version + compiler + target;
        images.push_back(fails ? failed_image(cell, "t: exit: tvm says no", axes, cell)
                               : night_image(cell, Verdict::unchanged, axes));
      }
  const auto groups = group_failures(images);
  ASSERT_EQ(groups.size(), 1u);
  EXPECT_EQ(groups[0].cells.size(), 4u);
  EXPECT_EQ(groups[0].shared, (Axes{{"compiler", "tvm"}}));
  const std::vector<Axes> wanted{{{"compiler", "tvm"}, {"version", "3"}},
                                 {{"compiler", "tvm"}, {"version", "4"}}};
  EXPECT_EQ(groups[0].exclude, wanted);
}

TEST(Causes, WhereNothingIsGoodNothingIsExcluded) {
  const auto groups = group_failures({failed_image("a", "x: no: disk", {{"method", "pip"}}),
                                      night_image("b", Verdict::not_reached, {{"method", "distro"}})});
  ASSERT_EQ(groups.size(), 1u);
  EXPECT_TRUE(groups[0].exclude.empty());
}

TEST(Causes, ACellThatNoEntryTellsFromAGoodOneHasNone) {
  const auto groups =
      group_failures({failed_image("a", "x: no: z", {{"method", "pip"}}),
                      night_image("b", Verdict::built, {{"method", "pip"}, {"compiler", "xla"}})});
  ASSERT_EQ(groups.size(), 1u);
  EXPECT_TRUE(groups[0].exclude.empty());
}

TEST(Causes, WhatAnIncludeWantsIsTakenOutThere) {
  NightImage included = failed_image("b", "x: no: z", {{"method", "source"}, {"compiler", "tvm"}});
  included.include = "matrix.json:16:5";
  const auto groups = group_failures({failed_image("a", "x: no: z", {{"method", "pip"}, {"compiler", "tvm"}}),
                                      included, night_image("c", Verdict::built, {{"method", "source"}})});
  ASSERT_EQ(groups.size(), 1u);
  EXPECT_EQ(groups[0].exclude.size(), 1u);
  EXPECT_EQ(groups[0].includes, std::vector<std::string>{"matrix.json:16:5"});
}

TEST(Causes, OneEntryForEachOfManyIsNone) {
  std::vector<NightImage> images;
  for (int i = 0; i < 6; ++i) {
    const Axes axes{{"a", std::to_string(i)}, {"b", std::to_string(i)}};
    images.push_back(failed_image("f" + std::to_string(i), "x: no: z", axes));
    images.push_back(night_image("g" + std::to_string(i), Verdict::built,
                                 {{"a", std::to_string(i)}, {"b", "0"}, {"c", "1"}}));
  }
  const auto groups = group_failures(images);
  ASSERT_EQ(groups.size(), 1u);
  EXPECT_TRUE(groups[0].exclude.empty());
}

TEST(Causes, TheUnplannedAndTheFailedActTogether) {
  NightImage one = night_image("a", Verdict::unplanned);
  one.what = "recipe.json:3:4: error: no such method";
  one.actor = Actor::recipe;
  const auto groups =
      group_failures({one, night_image("b", Verdict::no_machine), night_image("c", Verdict::no_time)});
  ASSERT_EQ(groups.size(), 1u);
  EXPECT_EQ(groups[0].actor, Actor::recipe);
}

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
