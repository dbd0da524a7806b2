#include "factory/figures/panel.h"

#include <gtest/gtest.h>

#include "figures/run_samples.h"

namespace kiln::testing {
namespace {

// "group: label [note]" of each bar of the first panel of that kind; a gap in parentheses.
std::vector<std::string> lines_of(const std::vector<BenchRun>& runs, FigureKind kind) {
  const auto sets = measured_sets(runs);
  std::vector<std::string> lines;
  for (const Panel& panel : panels_of(sets, {kind}))
    for (const PanelGroup& group : panel.groups)
      for (const PanelBar& bar : group.bars) {
        std::string line = (group.title.empty() ? "" : group.title + ": ") + bar.label;
        if (bar.image == nullptr) line = "(" + line + ")";
        const std::string note = note_of(bar);
        if (!note.empty()) line += " [" + note.substr(0, note.rfind(" (")) + "]";
        lines.push_back(line);
      }
  return lines;
}

using Lines = std::vector<std::string>;

TEST(Panel, PutsStockImagesOfFrameworksSideBySide) {
  EXPECT_EQ(
      lines_of(
          made_up_runs({{.framework = "tensorflow", .version = "1.14.0", .median = 100},
                        {.framework = "tensorflow", .version = "2.1.0", .median = 80},
                        {.framework = "tensorflow", .version = "2.1.0", .median = 99, .compilers = {"xla"}},
                        {.framework = "pytorch", .median = 90},
                        {.framework = "cntk", .version = "2.7", .method = "source", .stock = false},
                        {.framework = "jax", .version = "0.4", .compilers = {"xla"}}}),
          FigureKind::frameworks),
      (Lines{"(cntk 2.7, stock) [only other builds: source]",
             "(jax 0.4, stock) [the stock image only with a graph compiler: xla]", "pytorch 1.4.0, pip",
             "tensorflow 1.14.0, pip", "tensorflow 2.1.0, pip [1.25 times as fast as tensorflow 1.14.0]"}));
}

TEST(Panel, HoldsOtherBuildsAgainstTheStockOne) {
  EXPECT_EQ(lines_of(made_up_runs({{.median = 90},
                                   {.method = "source", .stock = false, .median = 75, .target = "zen3"},
                                   {.method = "distro", .stock = false, .median = 180},
                                   {.framework = "jax", .version = "0.4"}}),
                     FigureKind::methods),
            (Lines{"pytorch 1.4.0: stock, pip, x86_64",
                   "pytorch 1.4.0: distro, x86_64 [0.50 times as fast as stock]",
                   "pytorch 1.4.0: source, zen3 [1.20 times as fast as stock]"}));
}

TEST(Panel, NamesTheRuntimesOfAnImage) {
  const auto runs =
      made_up_runs({{.median = 90},
                    {.stock = false, .median = 60, .runtimes = {"glibc-malloc", "huge-pages"}},
                    {.stock = false, .median = 45, .compilers = {"inductor"}, .runtimes = {"tcmalloc"}}});
  EXPECT_EQ(lines_of(runs, FigureKind::methods),
            (Lines{"pytorch 1.4.0: stock, pip, x86_64",
                   "pytorch 1.4.0: pip, glibc-malloc+huge-pages, x86_64 [1.50 times as fast as stock]"}));
  EXPECT_EQ(lines_of(runs, FigureKind::compilers),
            (Lines{"pytorch 1.4.0, pip, x86_64: no graph compiler",
                   "pytorch 1.4.0, pip, x86_64: no graph compiler, glibc-malloc+huge-pages",
                   "pytorch 1.4.0, pip, x86_64: inductor, tcmalloc [2.00 times as fast as stock]"}));
}

TEST(Panel, SaysThatTheStockImageWasNotMeasured) {
  EXPECT_EQ(
      lines_of(
          made_up_runs(
              {{.method = "distro", .stock = false, .median = 100, .name = "pytorch:1.4.0-distro"},
               {.method = "distro", .stock = false, .median = 50, .name = "pytorch:1.4.0-distro-openblas"},
               {.method = "distro",
                .stock = false,
                .median = 25,
                .name = "site/torch:our-very-own-fastest-one"}}),
          FigureKind::methods),
      (Lines{"(pytorch 1.4.0: stock)", "pytorch 1.4.0: distro",
             "pytorch 1.4.0: distro-openblas [2.00 times as fast as distro]",
             "pytorch 1.4.0: site/torch:our-very-own-fastest-one [4.00 times as fast as distro]"}));
}

TEST(Panel, HoldsGraphCompilersAgainstTheSameBuildWithoutThem) {
  EXPECT_EQ(
      lines_of(made_up_runs({{.median = 80},
                             {.median = 110, .compilers = {"glow"}},
                             {.framework = "tensorflow", .compilers = {"xla"}},
                             {.framework = "mxnet"}}),
               FigureKind::compilers),
      (Lines{"pytorch 1.4.0, pip, x86_64: no graph compiler",
             "pytorch 1.4.0, pip, x86_64: glow [0.73 times as fast as without]",
             "(tensorflow 1.4.0, pip, x86_64: no graph compiler)", "tensorflow 1.4.0, pip, x86_64: xla"}));
}

// Two libraries beneath one method: each with its own compiled image.
TEST(Panel, FindsThePartnerByItsName) {
  EXPECT_EQ(
      lines_of(
          made_up_runs({{.median = 100, .name = "pytorch:d-x"},
                        {.median = 40, .name = "pytorch:d-openblas-x"},
                        {.median = 50, .compilers = {"inductor"}, .name = "pytorch:d-inductor-x"},
                        {.median = 20, .compilers = {"inductor"}, .name = "pytorch:d-openblas-inductor-x"}}),
          FigureKind::compilers),
      (Lines{"pytorch 1.4.0, pip, x86_64: no graph compiler: pytorch:d-x",
             "pytorch 1.4.0, pip, x86_64: no graph compiler: pytorch:d-openblas-x",
             "pytorch 1.4.0, pip, x86_64: inductor: pytorch:d-inductor-x [2.00 times as fast as pytorch:d-x]",
             "pytorch 1.4.0, pip, x86_64: inductor: pytorch:d-openblas-inductor-x [2.00 times as fast as "
             "pytorch:d-openblas-x]"}));
}

std::vector<BenchRun> ranks(const std::string& unit, double one, double two) {
  BenchRun alone = made_up_run({.median = one}), both = made_up_run({.median = two});
  alone.unit = both.unit = unit;
  both.output = {{"ranks", 2}};
  return {alone, both};
}

TEST(Panel, ScalesTimesAndRates) {
  EXPECT_EQ(
      lines_of(ranks("ms/step", 100, 125), FigureKind::scaling),
      (Lines{"pytorch:1.4.0-pip-x86_64: 1 rank", "pytorch:1.4.0-pip-x86_64: 2 ranks [efficiency 0.80]"}));
  EXPECT_EQ(
      lines_of(ranks("images/s", 100, 180), FigureKind::scaling),
      (Lines{"pytorch:1.4.0-pip-x86_64: 1 rank", "pytorch:1.4.0-pip-x86_64: 2 ranks [efficiency 0.90]"}));
}

TEST(Panel, RanksThatShareTheMachineAreMeasuredByItsThreads) {
  std::vector<BenchRun> runs = ranks("ms/step", 66, 120);
  runs[0].threads = 2;
  runs[1].threads = 1;
  EXPECT_EQ(lines_of(runs, FigureKind::scaling),
            (Lines{"pytorch:1.4.0-pip-x86_64: 1 rank",
                   "pytorch:1.4.0-pip-x86_64: 2 ranks of 1 thread [efficiency 1.10]"}));
}

TEST(Panel, DrawsWhatNothingElseDraws) {
  const auto sets = measured_sets(made_up_runs({{}}));
  const std::vector<Panel> panels = panels_of(sets, {});
  ASSERT_EQ(panels.size(), 1u);
  EXPECT_EQ(panels[0].kind, FigureKind::images);
  EXPECT_EQ(panels[0].file, "images-mnist-cnn");
  EXPECT_TRUE(panels_of(sets, {FigureKind::compilers}).empty());
}

TEST(Panel, GivesEachPictureAFileOfItsOwn) {
  std::vector<BenchRun> runs = made_up_runs({{}});
  runs[1].host.model = "Another processor";
  const auto sets = measured_sets(runs);
  const std::vector<Panel> panels = panels_of(sets, {});
  ASSERT_EQ(panels.size(), 2u);
  EXPECT_EQ(panels[1].file, "images-mnist-cnn-2");
}

}  // namespace
}  // namespace kiln::testing
