#include "factory/bench/external_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>
#include <utility>

#include "factory/base/error.h"
#include "factory/base/text.h"
#include "factory/bench/published_tables.h"

namespace kiln {
namespace {

constexpr double kColours = 3;

using NetworkSize = std::pair<std::string, double>;

struct NetworkWork {
  double operations = 0, activations = 0;  // of a sample
};

std::map<NetworkSize, NetworkWork> known_work(std::span<const ExternalTable> tables) {
  std::map<NetworkSize, NetworkWork> known;
  for (const ExternalTable& table : tables)
    for (const ExternalRow& row : table.rows)
      if (row.operations > 0)
        known.try_emplace({row.network, row.input_size}, NetworkWork{row.operations, row.activations});
  return known;
}

// "resnet" of resnet50d; "efficientnet" of tf_efficientnet_b0, which is the same network with weights of
// another project.
std::string family_of(std::string_view network) {
  for (const std::string_view prefix : {"tf_", "legacy_", "test_"})
    if (network.starts_with(prefix)) network.remove_prefix(prefix.size());
  const auto end = std::ranges::find_if_not(network, is_letter);
  return std::string(network.begin(), end);
}

double bytes_of(std::string_view precision) { return precision == "bf16" || precision == "fp16" ? 2 : 4; }

SpeedRecord record_of(const TableFacts& facts, const ExternalRow& row, const NetworkWork& work) {
  SpeedRecord record;
  record.image = facts.image();
  record.workload = row.input_size > 0 ? fmt::format("{}@{:g}", row.network, row.input_size) : row.network;
  record.host = facts.host;
  record.seconds = row.seconds;
  const std::pair<const char*, double> amounts[] = {
      {"operations", work.operations * row.batch},
      {"activations", work.activations * row.batch},
      {"parameters", row.parameters},
      {"batch", row.batch},
      {"input_bytes", kColours * row.input_size * row.input_size * row.batch * bytes_of(facts.precision)}};
  for (const auto& [name, amount] : amounts)
    if (amount > 0) record.amounts[name] = amount;
  record.words = {{"device", facts.device},       {"host", facts.host},
                  {"framework", facts.framework}, {"version", facts.framework + " " + facts.version},
                  {"compilers", facts.compiler},  {"layout", facts.layout},
                  {"precision", facts.precision}, {"network_family", family_of(row.network)}};
  return record;
}

struct TableRecords {
  std::vector<SpeedRecord> known, unknown;  // whether their operations are known
};

TableRecords records_of(const ExternalTable& table, const std::map<NetworkSize, NetworkWork>& known) {
  TableRecords found;
  for (const ExternalRow& row : table.rows) {
    NetworkWork work{row.operations, row.activations};
    if (const auto other = known.find({row.network, row.input_size});
        work.operations == 0 && other != known.end())
      work = other->second;
    (work.operations > 0 ? found.known : found.unknown).push_back(record_of(table.facts, row, work));
  }
  return found;
}

constexpr std::size_t kLongestFact = 200;

struct FactName {
  std::string_view name;
  std::string TableFacts::*member;
};
constexpr FactName kFactNames[] = {
    {"source", &TableFacts::source},      {"licence", &TableFacts::licence},
    {"host", &TableFacts::host},          {"device", &TableFacts::device},
    {"version", &TableFacts::version},    {"compiler", &TableFacts::compiler},
    {"layout", &TableFacts::layout},      {"precision", &TableFacts::precision},
    {"framework", &TableFacts::framework}};

Json to_json(const TableFacts& facts) {
  Json json = Json::object();
  for (const FactName& fact : kFactNames) json[std::string(fact.name)] = facts.*fact.member;
  return json;
}

using FactTexts = std::map<std::string, std::string>;

// The one of the text's tables that has these facts.
ExternalTable openvino_table(const std::string& text, const FactTexts& said) {
  TableFacts facts;
  for (const auto& [name, value] : said) set_fact(facts, name, value);
  FactTexts replaced;
  for (const char* name : {"source", "licence"})
    if (const auto found = said.find(name); found != said.end()) replaced.insert(*found);
  for (ExternalTable& table : openvino_tables(text, "table", replaced).tables)
    if (table.facts == facts) return std::move(table);
  throw Error(ExitCode::input, fmt::format("the table has no rows of {}", facts.series()));
}

}  // namespace

std::string TableFacts::image() const {
  std::vector<std::string> parts = {framework + " " + version};
  if (!compiler.empty())
    parts.push_back(compiler);
  else if (framework != kOpenvino)
    parts.emplace_back("no graph compiler");
  if (!layout.empty()) parts.push_back(layout);
  parts.push_back(precision);
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::string TableFacts::series() const {
  return fmt::format("{}, {}{}", host, image(), device == "gpu" ? ", gpu" : "");
}

ModelRecords external_records(std::span<const ExternalTable> tables) {
  const auto known = known_work(tables);
  ModelRecords found;
  struct Anchored {
    std::size_t series = 0, rows = 0;
  };
  std::map<std::string, Anchored> anchored;  // by framework and version
  for (const ExternalTable& table : tables) {
    TableRecords rows = records_of(table, known);
    if (rows.known.empty()) {
      Anchored& of = anchored[table.facts.framework + " " + table.facts.version];
      ++of.series;
      of.rows += rows.unknown.size();
      std::ranges::move(rows.unknown, std::back_inserter(found.anchored));
      continue;
    }
    std::ranges::move(rows.known, std::back_inserter(found.records));
    // One record without operations would take them from all others that it is compared with.
    if (!rows.unknown.empty())
      found.left_out.push_back(
          fmt::format("{} of {}: no table has their operations", rows.unknown.size(), table.facts.series()));
  }
  for (const auto& [name, of] : anchored)
    found.only_anchors.push_back(fmt::format("{} of {} ({}): no table has their operations",
                                             counted(of.rows, "result"), name,
                                             counted(of.series, "series", "series")));
  return found;
}

void set_fact(TableFacts& facts, const std::string& name, const std::string& value) {
  std::vector<std::string> names;
  for (const FactName& fact : kFactNames) {
    names.emplace_back(fact.name);
    if (fact.name != name) continue;
    const bool none = name == "compiler" && value == "none";
    facts.*fact.member = none ? "" : value;
    return;
  }
  throw Error(ExitCode::usage, fmt::format("a table has no '{}' to set", name), did_you_mean(name, names));
}

void need_facts(const TableFacts& facts, const std::string& file,
                std::initializer_list<std::string_view> optional) {
  for (const FactName& fact : kFactNames) {
    const std::string& value = facts.*fact.member;
    const bool needed = std::ranges::find(optional, fact.name) == optional.end();
    if (needed && value.find_first_not_of(' ') == value.npos)
      throw Error(ExitCode::usage, fmt::format("the name '{}' does not say the {}", file, fact.name),
                  fmt::format("say --set {}=VALUE", fact.name));
    if (value.size() > kLongestFact || first_not_utf8(value) != value.npos || on_one_line(value) != value)
      throw Error(
          ExitCode::usage,
          fmt::format("the {} of the table is no line of at most {} bytes of text", fact.name, kLongestFact),
          fmt::format("say --set {}=VALUE", fact.name));
  }
  if (facts.device != "cpu" && facts.device != "gpu")
    throw Error(ExitCode::usage, fmt::format("a device is cpu or gpu, not '{}'", facts.device));
}

Json to_json(const ExternalTable& table) {
  Json json{{"format", 1}, {"facts", to_json(table.facts)}, {"table", table.text}};
  // Tables of timm were the only ones once, and have no such member.
  if (table.project != TableProject::timm) json["as"] = kTableProjects.of(table.project);
  return json;
}

ExternalTable external_table_from_json(const JsonNode& node) {
  node.allow_only({"format", "as", "facts", "table"});
  node.at("format").integer(1, 1);
  FactTexts said;
  for (const auto& [name, value] : node.at("facts").members()) said[std::string(name)] = value.string();
  const std::string text = node.at("table").string();
  const auto as = node.find("as");
  const auto project = as ? kTableProjects.find(as->string()) : TableProject::timm;
  if (!project) as->fail(fmt::format("kiln reads no tables of '{}'", as->string()));
  try {
    return project == TableProject::openvino ? openvino_table(text, said) : timm_table(text, "table", said);
  } catch (const Error& error) {
    node.fail(error.format());
  }
}

}  // namespace kiln
