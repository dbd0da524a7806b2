#include "factory/report/plan_graph.h"

#include <fmt/format.h>

#include <unordered_map>

#include "factory/base/enum_names.h"

namespace kiln {
namespace {

class Builder {
 public:
  Builder(const BuildPlan& plan, const ImageNumbers& images, const GraphStates& states)
      : plan_(plan), states_(states), uses_(plan, images) {
    for (std::uint32_t image : images) add(plan.image(image));
    graph_.title = fmt::format("{}: {} image{}, {} steps", plan.name(), images.size(),
                               images.size() == 1 ? "" : "s", places_.size());
  }
  PlanGraph take() { return std::move(graph_); }

 private:
  void add(const ResolvedImage& image) {
    const std::vector<StepTable::Number> steps = image.steps();
    const std::vector<StepTable::Number> tests = image.tests();
    for (StepTable::Number step : steps) add_step(step);
    for (StepTable::Number test : tests) add_step(test);
    auto known = states_.images.find(image.id());
    NodeState state = known == states_.images.end() ? NodeState::to_run : known->second;
    std::size_t node = graph_.nodes.size();
    graph_.nodes.push_back(
        {NodeKind::image, state, image.reference(), state == NodeState::done ? "built" : "to build"});
    if (tests.empty()) graph_.edges.push_back({place_of(steps.back()), node});
    for (StepTable::Number test : tests) graph_.edges.push_back({place_of(test), node});
  }

  std::size_t place_of(StepTable::Number step) const { return places_.at(plan_.steps().first(step)); }

  void add_step(StepTable::Number number) {
    const StepTable& steps = plan_.steps();
    auto [place, added] = places_.try_emplace(steps.first(number), graph_.nodes.size());
    if (!added) return;
    const Step& step = steps.pattern(place->first);
    auto known = states_.steps.find(steps.hex(number));
    GraphNode node;
    node.kind = step.kind == StepKind::test ? NodeKind::test : NodeKind::step;
    node.state = known == states_.steps.end() ? NodeState::to_run : known->second;
    node.label = step.title;
    if (uses_.of(number) > 1) node.note = fmt::format("for {} images", uses_.of(number));
    graph_.nodes.push_back(std::move(node));
    for (StepTable::Number before : {steps.parent(number), steps.from(number)})
      if (before != StepTable::kNone)
        graph_.edges.push_back({place_of(before), place->second, before == steps.from(number)});
  }

  const BuildPlan& plan_;
  const GraphStates& states_;
  StepUses uses_;
  std::unordered_map<StepTable::Number, std::size_t> places_;
  PlanGraph graph_;
};

std::string id_of(std::size_t node) { return fmt::format("n{}", node + 1); }

constexpr auto kStates = enum_names<NodeState>(
    {{NodeState::done, "done"}, {NodeState::to_run, "to_run"}, {NodeState::failed, "failed"}});

// Fill and line. Told apart by lightness as well as by hue, and failed has a heavy line.
struct Colours {
  const char* fill;
  const char* line;
};
Colours colours_of(NodeState state) {
  switch (state) {
    case NodeState::done:
      return {"#cfe8cf", "#2e7d32"};
    case NodeState::failed:
      return {"#f8c9c4", "#b71c1c"};
    case NodeState::to_run:
      break;
  }
  return {"#ffffff", "#555555"};
}

// A quoted DOT string: a quote would end it, a backslash begins an escape such as \N or \l, and a line break
// is \n. Other control characters are no text.
std::string quote_dot(std::string_view text) {
  std::string out = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\')
      out += std::string("\\") + c;
    else if (c == '\n')
      out += "\\n";
    else if (static_cast<unsigned char>(c) >= 0x20 && c != 0x7f)
      out += c;
  }
  return out + "\"";
}

// Text inside Mermaid's ["…"]: entity codes (mermaid.js.org/syntax/flowchart.html#entity-codes-to-escape-
// characters) for what would end the string, begin markup or a code.
std::string quote_mermaid(std::string_view text) {
  std::string out = "\"";
  for (char c : text) {
    if (std::string_view("\"#&<>`\\").find(c) != std::string_view::npos)
      out += fmt::format("#{};", static_cast<int>(static_cast<unsigned char>(c)));
    else if (c == '\n')
      out += "<br/>";
    else if (static_cast<unsigned char>(c) >= 0x20 && c != 0x7f)
      out += c;
  }
  return out + "\"";
}

std::string label_of(const GraphNode& node) {
  return node.note.empty() ? node.label : node.label + "\n" + node.note;
}

std::string dot_node(const GraphNode& node, std::size_t index) {
  Colours colours = colours_of(node.state);
  std::string style = "filled";
  if (node.kind == NodeKind::test) style += ",rounded";
  if (node.kind == NodeKind::image || node.state == NodeState::failed) style += ",bold";
  const char* shape = node.kind == NodeKind::image ? "box3d" : "box";
  return fmt::format("  {} [label={} shape={} style=\"{}\" fillcolor=\"{}\" color=\"{}\" class=\"{}\"];\n",
                     id_of(index), quote_dot(label_of(node)), shape, style, colours.fill, colours.line,
                     kStates.of(node.state));
}

std::string mermaid_node(const GraphNode& node, std::size_t index) {
  std::string label = quote_mermaid(label_of(node));
  std::string shaped = node.kind == NodeKind::image  ? "[[" + label + "]]"
                       : node.kind == NodeKind::test ? "(" + label + ")"
                                                     : "[" + label + "]";
  return fmt::format("  {}{}:::{}\n", id_of(index), shaped, kStates.of(node.state));
}

}  // namespace

PlanGraph make_graph(const BuildPlan& plan, const ImageNumbers& images, const GraphStates& states) {
  return Builder(plan, images, states).take();
}

std::string graph_dot(const PlanGraph& graph) {
  std::string out = fmt::format(
      "digraph plan {{\n  label={};\n  labelloc=t;\n  fontname=\"sans-serif\";\n  rankdir=LR;\n"
      "  node [fontname=\"sans-serif\" fontsize=11];\n  edge [color=\"#555555\"];\n",
      quote_dot(graph.title +
                "\ngreen: done, white: to run, red: failed last time; dashed: files copied from a "
                "build stage"));
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) out += dot_node(graph.nodes[i], i);
  for (const GraphEdge& edge : graph.edges)
    out += fmt::format("  {} -> {}{};\n", id_of(edge.from), id_of(edge.to),
                       edge.copied ? " [style=dashed]" : "");
  return out + "}\n";
}

std::string graph_mermaid(const PlanGraph& graph) {
  std::string out = fmt::format("---\ntitle: {}\n---\nflowchart LR\n", quote_mermaid(graph.title));
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) out += mermaid_node(graph.nodes[i], i);
  for (const GraphEdge& edge : graph.edges)
    out += fmt::format("  {} {} {}\n", id_of(edge.from), edge.copied ? "-.->" : "-->", id_of(edge.to));
  for (NodeState state : {NodeState::done, NodeState::to_run, NodeState::failed}) {
    Colours colours = colours_of(state);
    out += fmt::format("  classDef {} fill:{},stroke:{},color:#000000{}\n", kStates.of(state), colours.fill,
                       colours.line, state == NodeState::failed ? ",stroke-width:3px" : "");
  }
  return out;
}

}  // namespace kiln
