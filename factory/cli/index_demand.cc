// kiln index demand: what was asked of the index, and what it had no good answer to.
#include "factory/cli/index_demand.h"

#include <nlohmann/json.hpp>

#include "factory/cli/invocation.h"
#include "factory/cli/print.h"
#include "factory/cli/table.h"
#include "registry/select/demand.h"

namespace kiln {
namespace {

struct DemandOptions {
  std::string format = "table";
  std::size_t limit = 40;
  bool unmet = false;
};

void print_table(const std::vector<Demand>& all, std::size_t limit) {
  Table table({"TIMES", "LAST", "OUTCOME", "QUESTION", "HOST", "WHY"});
  for (std::size_t i = 0; i < std::min(limit, all.size()); ++i) {
    const Demand& one = all[i];
    table.add({std::to_string(one.count), one.last, std::string(name_of(one.outcome)), one.question,
               one.host.empty() ? "-" : one.host, one.why});
  }
  print_text(table.text());
  if (all.size() > limit) say("{} more: --limit shows them\n", all.size() - limit);
}

void run_demand(const DemandOptions& options, Invocation& invocation) {
  std::vector<Demand> all = read_demand(invocation.state().root());
  if (options.unmet)
    std::erase_if(all, [](const Demand& one) { return one.outcome == Demand::Outcome::answered; });
  if (options.format == "table") return print_table(all, options.limit);
  Json json = Json::array();
  for (const Demand& one : all) json.push_back(to_json(one));
  print_json(json);
}

}  // namespace

void add_index_demand(CLI::App& index, Invocation& invocation) {
  auto options = std::make_shared<DemandOptions>();
  CLI::App* command = index.add_subcommand(
      "demand", "Show the questions that were asked, missed, or answered second best, and how often");
  command->fallthrough();
  command->add_flag("--unmet", options->unmet, "only questions that were missed or answered second best");
  command->add_option("--limit", options->limit, "print at most this many rows")
      ->type_name("N")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
  command->add_option("--format", options->format, "table, or json with all rows")
      ->check(CLI::IsMember({"table", "json"}))
      ->capture_default_str();
  command->footer("kiln index demand --unmet");
  command->callback([options, &invocation] { run_demand(*options, invocation); });
}

}  // namespace kiln
