#include "factory/report/plan_graph.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <unordered_map>

#include "factory/base/enum_names.h"
#include "factory/base/text.h"

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
  PlanGraph result() { return std::move(graph_); }

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

std::string measured(std::size_t known, std::size_t all) {
  return known == all ? "" : fmt::format(" (measured: {} of {} runs)", known, all);
}

// That many runs of this cost are saved.
void add_saved(Sharing& sharing, std::size_t runs, const StepCost& one) {
  if (one.seconds) {
    sharing.timed += runs;
    sharing.seconds += *one.seconds * static_cast<double>(runs);
  }
  if (one.bytes) {
    sharing.sized += runs;
    sharing.bytes += *one.bytes * runs;
  }
}

}  // namespace

PlanGraph make_graph(const BuildPlan& plan, const ImageNumbers& images, const GraphStates& states) {
  return Builder(plan, images, states).result();
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

Sharing sharing_of(const StepUses& uses, const StepTable& steps,
                   const std::function<StepCost(const std::string& key)>& cost, std::size_t most) {
  Sharing sharing;
  sharing.steps = uses.steps().size();
  sharing.without = uses.runs();
  sharing.shared = uses.shared();
  if (sharing.shared > most) return sharing;
  for (StepTable::Number step : uses.steps())
    if (uses.of(step) > 1) add_saved(sharing, uses.of(step) - 1, cost(steps.hex(step)));
  return sharing;
}

std::string duration_text(double seconds) {
  if (seconds < 10) return fmt::format("{:.1f} s", seconds);
  auto whole = static_cast<std::int64_t>(std::llround(seconds));
  if (whole < 60) return fmt::format("{} s", whole);
  if (whole < 3600) return fmt::format("{} min {} s", whole / 60, whole % 60);
  return fmt::format("{} h {} min", whole / 3600, whole % 3600 / 60);
}

std::string size_text(std::uint64_t bytes) {
  auto value = static_cast<double>(bytes);
  if (bytes >= 1'000'000'000) return fmt::format("{:.1f} GB", value / 1e9);
  if (bytes >= 1'000'000) return fmt::format("{:.0f} MB", value / 1e6);
  return fmt::format("{:.0f} kB", value / 1e3);
}

std::string sharing_text(const Sharing& sharing) {
  std::string text = counted(sharing.steps, "step");
  if (sharing.saved() == 0) return text + ", none shared";
  text +=
      fmt::format(", {} without sharing: {} {} {}", sharing.without, counted(sharing.shared, "shared step"),
                  sharing.shared == 1 ? "saves" : "save", counted(sharing.saved(), "run"));
  text += sharing.timed == 0 ? "; time saved: not measured"
                             : fmt::format("; time saved: {}{}", duration_text(sharing.seconds),
                                           measured(sharing.timed, sharing.saved()));
  text += sharing.sized == 0 ? ", bytes saved: not measured"
                             : fmt::format(", bytes saved: {}{}", size_text(sharing.bytes),
                                           measured(sharing.sized, sharing.saved()));
  return text;
}

Json to_json(const Sharing& sharing) {
  Json json{{"steps", sharing.steps},   {"without_sharing", sharing.without},
            {"shared", sharing.shared}, {"runs_saved", sharing.saved()},
            {"seconds_saved", nullptr}, {"runs_timed", sharing.timed},
            {"bytes_saved", nullptr},   {"runs_sized", sharing.sized}};
  if (sharing.timed > 0) json["seconds_saved"] = sharing.seconds;
  if (sharing.sized > 0) json["bytes_saved"] = sharing.bytes;
  return json;
}

}  // namespace kiln
