#include "factory/report/plan_graph.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "factory/base/effects.h"
#include "support/fake_effects.h"
#include "support/plan_fixture.h"
#include "support/render_sample.h"
#include "support/temporary_folder.h"

namespace kiln::testing {
namespace {

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

}  // namespace
}  // namespace kiln::testing
