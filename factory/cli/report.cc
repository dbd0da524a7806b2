// kiln report: what was measured, as the figures and tables of the paper.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "factory/base/text.h"
#include "factory/cli/bench.h"
#include "factory/cli/invocation.h"
#include "factory/cli/options.h"
#include "factory/cli/print.h"
#include "factory/figures/figure_page.h"

namespace kiln {
namespace {

struct ReportRequest {
  std::vector<std::string> files;
  std::vector<std::string> workloads;
  std::vector<std::string> hosts;
  std::vector<std::string> kinds;
  std::string output;
  std::string format;  // "": a table, or every kind of file
};

std::vector<BenchRun> read_wanted(const ReportRequest& request, Invocation& invocation) {
  std::vector<BenchRun> runs = read_runs_of(request.files, invocation);
  if (!runs.empty()) return runs;
  if (!request.files.empty())
    throw Error(ExitCode::no_match, "the input contains no run", "`kiln bench` records runs");
  throw Error(ExitCode::no_match,
              fmt::format("no run is recorded in {}", invocation.state().bench_runs().string()),
              "`kiln bench` records runs; --runs FILE reads those of a file");
}

// Those whose word matches a pattern. Throws Error(no_match) with the words that there are.
void keep_matching(std::vector<MeasuredSet>& sets, const std::vector<std::string>& patterns,
                   std::string_view option, std::string Circumstances::*word) {
  if (patterns.empty()) return;
  std::vector<std::string> words;
  for (const MeasuredSet& set : sets)
    if (std::string one = set.circumstances.*word; std::ranges::find(words, one) == words.end())
      words.push_back(std::move(one));
  std::erase_if(sets, [&](const MeasuredSet& set) {
    return std::ranges::none_of(
        patterns, [&](const std::string& pattern) { return glob_matches(pattern, set.circumstances.*word); });
  });
  if (sets.empty())
    throw Error(ExitCode::no_match, fmt::format("no run matches {} '{}'", option, fmt::join(patterns, "' '")),
                fmt::format("there are: {}", fmt::join(words, "; ")));
}

std::vector<FigureKind> kinds_of(const ReportRequest& request) {
  std::vector<FigureKind> kinds;
  for (const std::string& name : request.kinds)
    if (auto kind = kFigureKindNames.find(name); kind && std::ranges::find(kinds, *kind) == kinds.end())
      kinds.push_back(*kind);
  return kinds;
}

// One picture fits a stream, and pictures of two hosts or units are never made one.
void print_picture(std::span<const Panel> panels) {
  if (panels.size() != 1) {
    std::string list;
    for (const Panel& panel : panels) {
      const Circumstances& is = panel.set->circumstances;
      list += fmt::format("{}{} ({}, {})", list.empty() ? "" : "; ", panel.file, is.unit, is.host);
    }
    throw Error(ExitCode::usage, fmt::format("these are {} pictures: {}", panels.size(), list),
                "-o DIR writes them all; --figure, --workload and --host choose");
  }
  print_bytes(bar_chart_svg(chart_of(panels.front())));
}

void print_tables(std::span<const Panel> panels) {
  for (const Panel& panel : panels) {
    if (&panel != &panels.front()) say("\n");
    say("{}\n", panel_title(panel));
    for (const std::string& line : circumstance_lines(*panel.set)) say("{}\n", line);
    say("\n");
    Table table({"IMAGE", panel.set->circumstances.unit, "95 %", "MARKS", "COMPARED", "RUNS", "LAST"});
    for (const PanelGroup& group : panel.groups)
      for (const PanelBar& bar : group.bars) {
        const TableRow row = table_row(panel, group, bar);
        table.add({row[0], row[1], row[2], row[3], row[4], row[8], row[9]});
      }
    table.print();
  }
}

void print_report(std::span<const Panel> panels, std::span<const MeasuredSet> sets, std::string_view format) {
  if (format == "json")
    print_json(sets_json(sets));
  else if (format == "svg")
    print_picture(panels);
  else if (format == "html")
    print_bytes(figure_page(panels));
  else if (format == "markdown")
    print_bytes(panels_markdown(panels));
  else if (format == "csv")
    print_bytes(panels_csv(panels));
  else
    print_tables(panels);
}

void write_report(const ReportRequest& request, std::span<const Panel> panels,
                  std::span<const MeasuredSet> sets, FileSystem& files) {
  auto wanted = [&](std::string_view format) { return request.format.empty() || request.format == format; };
  auto write = [&](const std::string& name, std::string_view bytes) {
    const fs::path path = fs::path(request.output) / name;
    files.write_output(path, bytes);
    say("{}\n", path.string());
  };
  if (wanted("html")) write("index.html", figure_page(panels));
  if (wanted("svg"))
    for (const Panel& panel : panels) write(panel.file + ".svg", bar_chart_svg(chart_of(panel)));
  if (wanted("markdown")) write("tables.md", panels_markdown(panels));
  if (wanted("csv")) write("tables.csv", panels_csv(panels));
  if (request.format == "json") write("numbers.json", sets_json(sets).dump(2) + "\n");
}

void run_report(const ReportRequest& request, Invocation& invocation) {
  if (!request.output.empty() && request.format == "table")
    throw Error(ExitCode::usage, "--format table is for the terminal",
                "-o writes html, svg, markdown and csv, or the one of --format");
  std::vector<MeasuredSet> sets = measured_sets(read_wanted(request, invocation));
  keep_matching(sets, request.workloads, "--workload", &Circumstances::workload);
  keep_matching(sets, request.hosts, "--host", &Circumstances::host);
  const std::vector<Panel> panels = panels_of(sets, kinds_of(request));
  if (panels.empty() && request.format != "json")
    throw Error(
        ExitCode::no_match,
        fmt::format("these runs have nothing that --figure {} compares", fmt::join(request.kinds, ", ")),
        "--figure images draws them as they are");
  if (request.output.empty())
    print_report(panels, sets, request.format);
  else
    write_report(request, panels, sets, invocation.files);
}

}  // namespace

CLI::App* add_report(CLI::App& app, Invocation& invocation) {
  auto request = std::make_shared<ReportRequest>();
  CLI::App* command = add_below(
      app, "report", "Draw measurements: frameworks, builds and graph compilers side by side, with intervals",
      "kiln report\n"
      "kiln report -o figures\n"
      "kiln report --runs a.json --runs b.json --figure compilers --workload mnist-cnn --format svg");
  add_list(*command, "--runs", request->files, "FILE",
           "read this file of runs; may be repeated (default: those of the state folder)");
  add_list(*command, "--workload", request->workloads, "WORKLOAD", "only these workloads (globs)");
  add_list(*command, "--host", request->hosts, "GLOB", "only hosts that match this glob: 'AMD EPYC*'");
  add_list(
      *command, "--figure", request->kinds, "FIGURE",
      "frameworks (stock images side by side), methods (stock against other builds), compilers (with and "
      "without), scaling, or images (all of them); may be repeated (default: each that has runs)")
      ->check(CLI::IsMember(kFigureKindNames.all()));
  add_value(*command, "-o,--output", request->output, "DIR",
            "folder to write to: index.html, a .svg for each figure, tables.md, tables.csv");
  add_choice(*command, "--format", request->format, {"table", "markdown", "csv", "json", "html", "svg"},
             "table (default), markdown, csv, json, html or svg");
  command->callback([request, &invocation] { run_report(*request, invocation); });
  return command;
}

}  // namespace kiln
