#include "factory/report/plan_graph.h"

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "factory/base/effects.h"
#include "support/fake_effects.h"
#include "support/plan_fixture.h"
#include "support/plan_values.h"
#include "support/render_sample.h"
#include "support/temporary_folder.h"

namespace kiln {
namespace {

using testing::expect_golden;
using testing::hostile_values;
using testing::matrix;
using testing::TemporaryFolder;

// PyTorch on an OpenBLAS that is built in a stage of its own, without and with a compiler.
BuildPlan sample_plan(bool tested = true) {
  RecipeDraft openblas(Kind::library, "openblas", {"0.3.29"});
  openblas.method("source").build("make openblas", {"/opt/kiln/openblas"});
  RecipeDraft pytorch(Kind::framework, "pytorch", {"2.6.0"});
  pytorch.method("distro", "install pytorch");
  RecipeDraft inductor(Kind::compiler, "inductor", {"2.6.0"});
  inductor.method("distro", "install inductor");
  if (tested) pytorch.test("import torch");
  Resolver resolver({RecipeDraft(Kind::base, "debian", {"trixie"}).rootfs(), openblas, pytorch, inductor});
  return plan_matrix(matrix({axis("framework", {"pytorch"}), axis("library", {"openblas"}),
                             axis("compiler", {"none", "inductor"}), axis("base", {"debian"}),
                             axis("target", {"x86_64_v3"})}),
                     resolver.input());
}

// The base and the build stage are done, the compiler's step failed, the first image is built.
GraphStates sample_states(const BuildPlan& plan) {
  GraphStates states;
  for (StepTable::Number step : StepUses(plan, {0}).steps())
    states.steps[plan.steps().hex(step)] = NodeState::done;
  states.steps[plan.steps().hex(plan.image(1).steps().back())] = NodeState::failed;
  states.images[plan.image(0).id()] = NodeState::done;
  return states;
}

PlanGraph sample_graph() {
  static const BuildPlan plan = sample_plan();
  return make_graph(plan, all_images(plan), sample_states(plan));
}

TEST(PlanGraph, GoldenDot) {
  expect_golden(graph_dot(sample_graph()), std::string(KILN_TEST_DATA) + "/golden/plan.dot");
}

TEST(PlanGraph, GoldenMermaid) {
  expect_golden(graph_mermaid(sample_graph()), std::string(KILN_TEST_DATA) + "/golden/plan.mmd");
}

TEST(PlanGraph, ASharedStepIsOneNodeThatSaysHowManyNeedIt) {
  PlanGraph graph = sample_graph();
  std::map<std::string, std::vector<std::string>> notes;
  for (const GraphNode& node : graph.nodes) notes[node.label].push_back(node.note);
  EXPECT_EQ(notes.at("debian trixie (distro)"), std::vector<std::string>{"for 2 images"});
  EXPECT_EQ(notes.at("test pytorch 2.6.0 (distro)").size(), 2u) << "each image's own";
  EXPECT_EQ(notes.at("inductor 2.6.0 (distro)"), std::vector<std::string>{""});
}

TEST(PlanGraph, EdgesGoForward) {
  PlanGraph graph = sample_graph();
  std::size_t copied = 0;
  for (const GraphEdge& edge : graph.edges) {
    EXPECT_LT(edge.from, edge.to);
    EXPECT_LT(edge.to, graph.nodes.size());
    copied += edge.copied ? 1 : 0;
  }
  EXPECT_EQ(copied, 1u);
}

TEST(PlanGraph, AnImageHangsOnItsTestsElseOnItsLastStep) {
  const BuildPlan plan = sample_plan(false);
  PlanGraph graph = make_graph(plan, {0}, {});
  ASSERT_EQ(graph.nodes.back().kind, NodeKind::image);
  EXPECT_EQ(graph.edges.back().from, graph.nodes.size() - 2);
  EXPECT_EQ(graph.edges.back().to, graph.nodes.size() - 1);
}

TEST(PlanGraph, ShowsOnlyTheChosenImages) {
  const BuildPlan plan = sample_plan();
  PlanGraph graph = make_graph(plan, {0}, {});
  EXPECT_LT(graph.nodes.size(), sample_graph().nodes.size());
  EXPECT_EQ(graph.title, "demo: 1 image, 5 steps");
}

// A title or name must stay inside its label: the text has as many lines as without it, and Graphviz draws as
// many nodes.
TEST(PlanGraph, HostileTextStaysInItsLabel) {
  auto lines = [](const std::string& text) { return std::count(text.begin(), text.end(), '\n'); };
  const PlanGraph plain = sample_graph();
  for (std::string value : hostile_values()) {
    for (const std::string& tail : {std::string(), std::string("\nn99 -> n1"), std::string("\x01\r")}) {
      PlanGraph graph = plain;
      for (GraphNode& node : graph.nodes) node.label += value + tail;
      EXPECT_EQ(lines(graph_dot(graph)), lines(graph_dot(plain))) << value;
      EXPECT_EQ(lines(graph_mermaid(graph)), lines(graph_mermaid(plain))) << value;
    }
  }
}

TEST(PlanGraph, MermaidLabelsHoldNothingThatEndsThem) {
  PlanGraph graph = sample_graph();
  graph.nodes[0].label = "a\"] --> n2[\"b #quot; <script> `x` \\";
  std::istringstream text(graph_mermaid(graph));
  std::string line;
  while (std::getline(text, line) && !line.starts_with("  n1")) {
  }
  EXPECT_EQ(
      line,
      "  n1[\"a#34;] --#62; n2[#34;b #35;quot; #60;script#62; #96;x#96; #92;<br/>for 2 images\"]:::done");
}

// Graphviz itself, where it is installed: every node and edge arrives, and the labels say what was meant.
TEST(PlanGraph, GraphvizReadsIt) {
  RealCommandRunner runner;
  if (!runner.find_program("dot")) GTEST_SKIP() << "no dot";
  TemporaryFolder folder;
  PlanGraph graph = sample_graph();
  graph.nodes[0].label = "it's \"$HOME\" \\N \\ <b> {x|y}";
  RealFileSystem().write(folder.path() / "plan.dot", graph_dot(graph));
  Command command;
  command.argv = {"dot", "-Tplain", (folder.path() / "plan.dot").string()};
  command.environment = {{"PATH", "/usr/bin:/bin"}};
  CommandResult result = runner.run(command);
  ASSERT_TRUE(result.ok()) << result.tail;
  std::istringstream lines(result.output);
  std::size_t nodes = 0;
  std::size_t edges = 0;
  for (std::string line; std::getline(lines, line);) {
    nodes += line.starts_with("node ") ? 1 : 0;
    edges += line.starts_with("edge ") ? 1 : 0;
  }
  EXPECT_EQ(nodes, graph.nodes.size());
  EXPECT_EQ(edges, graph.edges.size());
  command.argv[1] = "-Tsvg";
  result = runner.run(command);
  EXPECT_NE(result.output.find("it&#39;s &quot;$HOME&quot; \\N \\ &lt;b&gt; {x|y}"), std::string::npos)
      << result.output;
  EXPECT_NE(result.output.find("class=\"node failed\""), std::string::npos);
}

// Images of base, python, torch and a test; base, python, jax; base and a test; base alone.
BuildPlan four_images() {
  testing::RecipeDraft torch(Kind::framework, "torch", {"1"});
  torch.method("pip", "pip install torch").needs(Kind::toolchain, "python").test("import torch");
  testing::RecipeDraft jax(Kind::framework, "jax", {"1"});
  jax.method("pip", "pip install jax").needs(Kind::toolchain, "python");
  testing::Resolver resolver(
      {testing::RecipeDraft(Kind::base, "debian", {"trixie"}).rootfs(),
       testing::RecipeDraft(Kind::toolchain, "python", {"3"}).method("distro", "install"), torch, jax,
       testing::RecipeDraft(Kind::library, "tested", {"1"}).method("x").test("y"),
       testing::RecipeDraft(Kind::library, "bare", {"1"}).method("x")});
  Matrix matrix = testing::matrix({testing::axis("framework", {"torch", "jax"}),
                                   testing::axis("base", {"debian"}), testing::axis("target", {"zen3"})});
  matrix.groups.push_back({"others",
                           {testing::axis("library", {"tested", "bare"}), testing::axis("base", {"debian"}),
                            testing::axis("target", {"zen3"})},
                           {},
                           {}});
  return plan_matrix(std::move(matrix), resolver.input());
}

class SharingTest : public ::testing::Test {
 protected:
  // `costs`: by component.
  Sharing of(const std::map<std::string, StepCost>& costs) {
    const std::map<std::string, Step> steps = testing::steps_of(plan_);
    return sharing_of(StepUses(plan_, images_), plan_.steps(), [&](const std::string& key) {
      const std::string& component = steps.at(key).component;
      asked_.insert(component);
      auto found = costs.find(component);
      return found == costs.end() ? StepCost{} : found->second;
    });
  }

  BuildPlan plan_ = four_images();
  ImageNumbers images_ = {0, 1, 2};  // base is run once instead of three times, python instead of twice
  std::set<std::string> asked_;
};

TEST_F(SharingTest, CountsRunsThatNeedNotBe) {
  Sharing sharing = of({});
  EXPECT_EQ(sharing.steps, 6u);
  EXPECT_EQ(sharing.without, 9u);
  EXPECT_EQ(sharing.shared, 2u);
  EXPECT_EQ(sharing.saved(), 3u);
  EXPECT_EQ(asked_, (std::set<std::string>{"base/debian", "toolchain/python"}))
      << "records of other steps are not read";
}

TEST_F(SharingTest, NeverInventsWhatNobodyMeasured) {
  Sharing sharing = of({});
  EXPECT_EQ(sharing_text(sharing),
            "6 steps, 9 without sharing: 2 shared steps save 3 runs; time saved: not measured, bytes saved: "
            "not measured");
  EXPECT_EQ(to_json(sharing)["seconds_saved"], nullptr);
  EXPECT_EQ(to_json(sharing)["bytes_saved"], nullptr);
}

TEST_F(SharingTest, SaysHowMuchOfItIsMeasured) {
  Sharing sharing = of({{"base/debian", {100.0, 30'000'000}}});
  EXPECT_EQ(sharing.timed, 2u);
  EXPECT_DOUBLE_EQ(sharing.seconds, 200);
  EXPECT_EQ(sharing_text(sharing),
            "6 steps, 9 without sharing: 2 shared steps save 3 runs; time saved: 3 min 20 s (measured: 2 of "
            "3 runs), "
            "bytes saved: 60 MB (measured: 2 of 3 runs)");
  EXPECT_EQ(to_json(sharing)["seconds_saved"], 200.0);
  EXPECT_EQ(to_json(sharing)["runs_timed"], 2);
}

TEST_F(SharingTest, NothingIsMeasuredWhereTooManyAreShared) {
  auto cost = [](const std::string&) { return StepCost{1.0, 1}; };
  const StepUses uses(plan_, images_);
  EXPECT_EQ(sharing_of(uses, plan_.steps(), cost, 1).timed, 0u);
  EXPECT_EQ(sharing_of(uses, plan_.steps(), cost, 1).shared, 2u);
  EXPECT_EQ(sharing_of(uses, plan_.steps(), cost, 2).timed, 3u);
}

TEST_F(SharingTest, AllMeasuredNeedsNoExcuse) {
  Sharing sharing = of({{"base/debian", {1800.0, 600'000'000}}, {"toolchain/python", {400.0, 1'000}}});
  EXPECT_EQ(
      sharing_text(sharing),
      "6 steps, 9 without sharing: 2 shared steps save 3 runs; time saved: 1 h 6 min, bytes saved: 1.2 GB");
}

TEST_F(SharingTest, NothingSharedIsSaidShortly) {
  images_ = {0};
  EXPECT_EQ(sharing_text(of({})), "4 steps, none shared");
  images_ = {3};
  EXPECT_EQ(sharing_text(of({})), "1 step, none shared");
}

TEST(SharingUnits, AreOfAReadableSize) {
  EXPECT_EQ(duration_text(0.44), "0.4 s");
  EXPECT_EQ(duration_text(59.4), "59 s");
  EXPECT_EQ(duration_text(61), "1 min 1 s");
  EXPECT_EQ(duration_text(7260), "2 h 1 min");
  EXPECT_EQ(size_text(1'499), "1 kB");
  EXPECT_EQ(size_text(27'351'900), "27 MB");
  EXPECT_EQ(size_text(2'700'000'000), "2.7 GB");
}

}  // namespace
}  // namespace kiln
