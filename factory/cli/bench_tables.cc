// Results that other projects publish, for the performance model: `kiln bench import --as timm` or
// `--as openvino`, and `kiln bench tables`.
#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <set>

#include "factory/base/json_put.h"
#include "factory/base/text.h"
#include "factory/bench/published_tables.h"
#include "factory/cli/bench.h"
#include "factory/cli/options.h"
#include "factory/cli/print.h"
#include "factory/cli/state_lock.h"
#include "factory/run/kept_files.h"

namespace kiln {
namespace {

struct TablesOptions {
  std::string remove;
  std::string format = "table";
};

std::map<std::string, std::string> facts_of(const std::vector<std::string>& texts) {
  std::map<std::string, std::string> facts;
  for (const std::string& text : texts) {
    auto [name, value] = assignment(text, "NAME=VALUE", "host=i9_10940x");
    facts[name] = std::move(value);
  }
  return facts;
}

Json summary_of(const ExternalTable& table) {
  Json json = to_json(table)["facts"];
  json["series"] = table.facts.series();
  json["rows"] = table.rows.size();
  json["failed"] = table.failed;
  return json;
}

void list_tables(const TablesOptions& options, Invocation& invocation) {
  const StatePaths state = invocation.state();
  const std::vector<ExternalTable> tables = KeptTables(state, invocation.files).all();
  if (options.format == "json") return print_json(json_list(tables, summary_of));
  Table shown({"SERIES", "ROWS", "LICENCE", "SOURCE"});
  for (const ExternalTable& table : tables)
    shown.add(
        {table.facts.series(), std::to_string(table.rows.size()), table.facts.licence, table.facts.source});
  print_text(shown.text());
}

void remove_table(const std::string& series, Invocation& invocation) {
  const StatePaths state = invocation.state();
  const WriterLock lock = lock_state(invocation, "kiln bench tables --remove");
  if (!KeptTables(state, invocation.files).remove(series))
    throw Error(ExitCode::no_match, fmt::format("there is no table of '{}'", series),
                "`kiln bench tables` lists the series");
  say("removed the table of {}\n", series);
}

// "1435 results of i9_10940x, pytorch 2.4.0, …"; "585 results of 19 hosts in 39 series, openvino 2022.3, …".
void say_imported(const std::vector<ExternalTable>& tables) {
  const TableFacts& facts = tables.front().facts;
  std::size_t rows = 0, failed = 0;
  std::set<std::string> hosts, versions;
  for (const ExternalTable& table : tables) {
    rows += table.rows.size();
    failed += table.failed;
    hosts.insert(table.facts.host);
    versions.insert(table.facts.framework + " " + table.facts.version);
  }
  const std::string of = tables.size() == 1
                             ? facts.series()
                             : fmt::format("{} in {} series, {}", counted(hosts.size(), "host"),
                                           tables.size(), fmt::join(versions, " and "));
  say("{} of {}, {} ({}); {} without a speed\n", counted(rows, "result"), of, facts.source, facts.licence,
      failed);
}

}  // namespace

void import_tables(const std::string& file, TableProject project, const std::vector<std::string>& facts,
                   Invocation& invocation) {
  constexpr std::uint64_t kMost = 64u << 20;  // results_rows() refuses less, with a better word
  invocation.need_file(file);
  const std::string text = invocation.files.read(file, kMost).value_or("");
  const OpenvinoTables found = project == TableProject::openvino
                                   ? openvino_tables(text, file, facts_of(facts))
                                   : OpenvinoTables{{timm_table(text, file, facts_of(facts))}, 0};
  const StatePaths state = invocation.state();
  const WriterLock lock = lock_state(invocation, "kiln bench import of " + file);
  const std::vector<std::string> replaced = KeptTables(state, invocation.files).put(found.tables);
  if (replaced.size() == 1) invocation.note("note: replaces the earlier table of " + replaced.front());
  if (replaced.size() > 1) invocation.note(fmt::format("note: replaces {} earlier tables", replaced.size()));
  say_imported(found.tables);
  if (found.left_out > 0)
    say("left out: {} of a GPU, or of a CPU and a GPU together\n", counted(found.left_out, "result"));
  say("not measured here: only `kiln model --tables` uses them\n");
}

void add_bench_tables(CLI::App& bench, Invocation& invocation) {
  auto options = std::make_shared<TablesOptions>();
  CLI::App* command =
      add_below(bench, "tables", "List the imported tables of results that other projects measured",
                "kiln bench tables\n"
                "kiln bench tables --remove 'i9_10940x, pytorch 2.4.0, inductor, nchw, fp32'");
  add_value(*command, "--remove", options->remove, "SERIES", "remove the table of this series");
  add_format_option(*command, options->format);
  add_wait_option(*command, invocation.options);
  call_alone(*command, [options, &invocation] {
    if (options->remove.empty())
      list_tables(*options, invocation);
    else
      remove_table(options->remove, invocation);
  });
}

}  // namespace kiln
