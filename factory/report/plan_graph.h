// The plan as a picture: steps, shared ones once, and images, for Graphviz and for Mermaid. Pure and
// byte-stable.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "factory/plan/build_plan.h"

namespace kiln {

enum class NodeState { done, to_run, failed };

// Where things stand. What is not named is still to run.
struct GraphStates {
  std::map<std::string, NodeState> steps;   // by key, tests included
  std::map<std::string, NodeState> images;  // by cell id
};

enum class NodeKind { step, test, image };

struct GraphNode {
  NodeKind kind = NodeKind::step;
  NodeState state = NodeState::to_run;
  std::string label;
  std::string note;  // a step: how many images need it, when several do; an image: its state in words
};

struct GraphEdge {
  std::size_t from = 0;
  std::size_t to = 0;
  bool copied = false;  // files of a build stage, which is thrown away
};

// Nodes in order of execution of the first image that needs them; every edge goes from an earlier to a later
// node.
struct PlanGraph {
  std::string title;
  std::vector<GraphNode> nodes;
  std::vector<GraphEdge> edges;
};

PlanGraph make_graph(const BuildPlan& plan, const ImageNumbers& images, const GraphStates& states);

// The DOT language (graphviz.org/doc/info/lang.html): a digraph. Classes `done`, `to_run`, `failed` are
// colours and SVG classes.
std::string graph_dot(const PlanGraph& graph);

// A Mermaid flowchart (mermaid.js.org/syntax/flowchart.html).
std::string graph_mermaid(const PlanGraph& graph);

// Mermaid's own limits (its defaults maxEdges and maxTextSize), beyond which viewers show an error instead.
inline constexpr std::size_t kMermaidEdges = 500;
inline constexpr std::size_t kMermaidBytes = 50'000;

}  // namespace kiln
