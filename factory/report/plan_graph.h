// The plan as a picture: steps, shared ones once, and images, for Graphviz and for Mermaid. Pure and
// byte-stable.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "factory/base/json.h"
#include "factory/plan/build_plan.h"

namespace kiln {

enum class NodeState { done, to_run, failed };

// The states of steps. A step without a state is still to run.
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

// The time that is saved because equal steps run once. Pure: the caller passes the durations of steps, from
// the records of earlier builds.

// One run of a step; nullopt if it was not measured.
struct StepCost {
  std::optional<double> seconds;
  std::optional<std::uint64_t> bytes;  // of the layers it adds, compressed
};

// Sums over runs that sharing saves: a step that five images need is run once, four runs are saved.
struct Sharing {
  std::size_t steps = 0;    // different ones, tests included
  std::size_t without = 0;  // were each image to run its own
  std::size_t shared = 0;   // steps that more than one image needs
  std::size_t timed = 0;    // saved runs whose time is known
  double seconds = 0;       // of those
  std::size_t sized = 0;    // saved runs whose bytes are known
  std::uint64_t bytes = 0;  // of those
  std::size_t saved() const { return without - steps; }
};

// Of the steps that some images of the plan need. `cost` is asked for shared steps only, and for none where
// there are more than `most` of them.
Sharing sharing_of(const StepUses& uses, const StepTable& steps,
                   const std::function<StepCost(const std::string& key)>& cost, std::size_t most = SIZE_MAX);

// "27 steps; 39 without sharing, which saves 5 min 20 s (measured: 7 of 12 runs) and 1.2 GB (…)".
std::string sharing_text(const Sharing& sharing);
Json to_json(const Sharing& sharing);

std::string duration_text(double seconds);   // "5 min 20 s", "0.4 s"
std::string size_text(std::uint64_t bytes);  // "1.2 GB", decimal units

}  // namespace kiln
