// What is rendered, byte for byte, from the runs of tests/data/figures; and what must hold whatever is drawn.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <regex>

#include "factory/base/effects.h"
#include "factory/figures/chart_text.h"
#include "factory/figures/figure_page.h"
#include "figures/run_samples.h"
#include "support/fake_effects.h"

namespace kiln::testing {
namespace {

const std::string kData = KILN_TEST_DATA "/figures/";
const std::string kGolden = KILN_TEST_DATA "/golden/figures/";

std::vector<MeasuredSet> sets_of_file(const std::string& name) {
  const RealFileSystem files;
  return measured_sets(read_runs(files.read(kData + name).value(), name, 4'000'000'000));
}

TEST(Rendered, FiguresOfOneHost) {
  const auto sets = sets_of_file("one-host.json");
  const std::vector<Panel> panels = panels_of(sets, {});
  ASSERT_EQ(panels.size(), 3u);
  for (const Panel& panel : panels)
    expect_golden(bar_chart_svg(chart_of(panel)), kGolden + panel.file + ".svg");
  expect_golden(panels_markdown(panels), kGolden + "tables.md");
  expect_golden(panels_csv(panels), kGolden + "tables.csv");
}

TEST(Rendered, PageOfTwoHosts) {
  const auto sets = sets_of_file("two-hosts.json");
  expect_golden(figure_page(panels_of(sets, {})), kGolden + "two-hosts.html");
  expect_golden(sets_json(sets).dump(1) + "\n", kGolden + "two-hosts.json");
}

TEST(Rendered, PageAsksNobody) {
  const auto sets = sets_of_file("two-hosts.json");
  std::string page = figure_page(panels_of(sets, {}));
  for (const char* word : {"<script", "<link", "src=", "@import", "onload"})
    EXPECT_EQ(page.find(word), std::string::npos) << word;
  const std::string name = "http://www.w3.org/2000/svg";  // a name, which is not fetched
  for (std::size_t at = 0; (at = page.find(name, at)) != std::string::npos;) page.erase(at, name.size());
  EXPECT_EQ(page.find("http"), std::string::npos);
}

Panel hostile_panel(std::vector<MeasuredSet>& sets) {
  BenchRun run = made_up_run({.name = "<script>alert(1)</script>\x1b[31m|\"x\",y"});
  run.host.model = "</svg><img src=x>";
  run.unit = "ms/<b>step</b>";
  run.conditions.marks = {"&mark"};
  sets = measured_sets({run});
  return panels_of(sets, {FigureKind::images}).at(0);
}

TEST(Rendered, TakesNoMarkupFromNames) {
  std::vector<MeasuredSet> sets;
  const Panel panel = hostile_panel(sets);
  for (const std::string& text : {bar_chart_svg(chart_of(panel)), figure_page(std::span(&panel, 1))}) {
    EXPECT_EQ(text.find("<script>"), std::string::npos);
    EXPECT_EQ(text.find("<img"), std::string::npos);
    EXPECT_EQ(text.find("<b>"), std::string::npos);
    EXPECT_EQ(text.find('\x1b'), std::string::npos);
    EXPECT_NE(text.find("&lt;script&gt;"), std::string::npos);
  }
  EXPECT_NE(panel_markdown(panel).find("\\<script>alert(1)\\</script>\\|"), std::string::npos);
  EXPECT_NE(panels_csv(std::span(&panel, 1)).find("\"<script>alert(1)</script>|\"\"x\"\",y\""),
            std::string::npos);
}

// All that is drawn has its right end inside the picture, by the widest of the usual fonts.
TEST(Rendered, KeepsLongNamesInside) {
  BenchRun run =
      made_up_run({.framework = std::string(90, 'W'), .version = std::string(40, '9'), .method = "pip"});
  run.host.model = std::string(300, 'M');
  run.conditions.marks = {std::string(300, 'm')};
  run.unit = "ms/" + std::string(200, 'u');
  BenchRun other = run;
  other.name = std::string(400, 'n');
  other.image = Digest::of(other.name);
  other.stock = false;
  const auto sets = measured_sets({run, other});
  const std::regex kText("<text class=\"([a-z ]+)\" x=\"([0-9.]+)\" y=\"[0-9.]+\">([^<]*)</text>");
  int texts = 0;
  for (const Panel& panel : panels_of(sets, {})) {
    const std::string svg = bar_chart_svg(chart_of(panel));
    for (std::sregex_iterator at(svg.begin(), svg.end(), kText), end; at != end; ++at, ++texts) {
      if ((*at)[1].str().starts_with("tick")) continue;
      const double size = (*at)[1] == "title"   ? 15
                          : (*at)[1] == "group" ? 13
                          : (*at)[1] == "label" ? 12.5
                                                : 11;
      EXPECT_LE(std::stod((*at)[2]) + text_width((*at)[3].str(), size), 440) << (*at)[0];
    }
  }
  EXPECT_GT(texts, 10);
}

}  // namespace
}  // namespace kiln::testing
