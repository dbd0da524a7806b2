#include "plan/plan_graph.h"

#include <fmt/format.h>

#include <unordered_map>

namespace kiln {
namespace {

class Builder {
 public:
  Builder(const BuildPlan& plan, const std::vector<const PlannedImage*>& images, const GraphStates& states)
      : plan_(plan), states_(states) {
    for (const PlannedImage* image : images) {
      for (const std::string& key : image->steps) ++uses_[key];
      for (const std::string& key : image->tests) ++uses_[key];
    }
    for (const PlannedImage* image : images) add(*image);
    graph_.title = fmt::format("{}: {} image{}, {} steps", plan.name, images.size(),
                               images.size() == 1 ? "" : "s", places_.size());
  }
  PlanGraph take() { return std::move(graph_); }

 private:
  void add(const PlannedImage& image) {
    for (const std::string& key : image.steps) add_step(key);
    for (const std::string& key : image.tests) add_step(key);
    auto known = states_.images.find(image.spec.request.id);
    NodeState state = known == states_.images.end() ? NodeState::to_run : known->second;
    std::size_t node = graph_.nodes.size();
    graph_.nodes.push_back({NodeKind::image, state, image.spec.repository + ":" + image.spec.tag,
                            state == NodeState::done ? "built" : "to build"});
    if (image.tests.empty()) graph_.edges.push_back({places_.at(image.spec.last_step().key), node});
    for (const std::string& key : image.tests) graph_.edges.push_back({places_.at(key), node});
  }

  void add_step(const std::string& key) {
    auto [place, added] = places_.try_emplace(key, graph_.nodes.size());
    if (!added) return;
    const Step& step = plan_.steps.at(key);
    auto known = states_.steps.find(key);
    GraphNode node;
    node.kind = step.kind == StepKind::test ? NodeKind::test : NodeKind::step;
    node.state = known == states_.steps.end() ? NodeState::to_run : known->second;
    node.label = step.title;
    if (uses_[key] > 1) node.note = fmt::format("for {} images", uses_[key]);
    graph_.nodes.push_back(std::move(node));
    for (const std::string* before : {&step.parent, &step.from}) {
      auto found = places_.find(*before);
      if (found != places_.end())
        graph_.edges.push_back({found->second, place->second, before == &step.from});
    }
  }

  const BuildPlan& plan_;
  const GraphStates& states_;
  std::unordered_map<std::string, std::size_t> uses_;
  std::unordered_map<std::string, std::size_t> places_;
  PlanGraph graph_;
};

std::string id_of(std::size_t node) { return fmt::format("n{}", node + 1); }

std::string_view name_of(NodeState state) {
  return state == NodeState::done ? "done" : state == NodeState::failed ? "failed" : "to_run";
}

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
                     name_of(node.state));
}

std::string mermaid_node(const GraphNode& node, std::size_t index) {
  std::string label = quote_mermaid(label_of(node));
  std::string shaped = node.kind == NodeKind::image  ? "[[" + label + "]]"
                       : node.kind == NodeKind::test ? "(" + label + ")"
                                                     : "[" + label + "]";
  return fmt::format("  {}{}:::{}\n", id_of(index), shaped, name_of(node.state));
}

}  // namespace

PlanGraph make_graph(const BuildPlan& plan, const std::vector<const PlannedImage*>& images,
                     const GraphStates& states) {
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
    out += fmt::format("  classDef {} fill:{},stroke:{},color:#000000{}\n", name_of(state), colours.fill,
                       colours.line, state == NodeState::failed ? ",stroke-width:3px" : "");
  }
  return out;
}

}  // namespace kiln
