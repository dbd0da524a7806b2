#include "factory/bench/external_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "factory/base/error.h"
#include "factory/base/text.h"
#include "factory/base/visible_text.h"
#include "factory/bench/timm_table.h"

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
  record.image = fmt::format("{} {}, {}, {}, {}", facts.framework, facts.version,
                             facts.compiler.empty() ? "no graph compiler" : facts.compiler, facts.layout,
                             facts.precision);
  record.workload = fmt::format("{}@{:g}", row.network, row.input_size);
  record.host = facts.host;
  record.seconds = row.seconds;
  record.amounts = {
      {"operations", work.operations * row.batch},
      {"activations", work.activations * row.batch},
      {"parameters", row.parameters},
      {"batch", row.batch},
      {"input_bytes", kColours * row.input_size * row.input_size * row.batch * bytes_of(facts.precision)}};
  record.words = {{"device", facts.device},       {"host", facts.host},
                  {"framework", facts.framework}, {"version", facts.framework + " " + facts.version},
                  {"compilers", facts.compiler},  {"layout", facts.layout},
                  {"precision", facts.precision}, {"network_family", family_of(row.network)}};
  return record;
}

}  // namespace

std::string TableFacts::series() const {
  return fmt::format("{}, {} {}, {}, {}, {}{}", host, framework, version,
                     compiler.empty() ? "no graph compiler" : compiler, layout, precision,
                     device == "gpu" ? ", gpu" : "");
}

ModelRecords external_records(std::span<const ExternalTable> tables) {
  const auto known = known_work(tables);
  ModelRecords found;
  for (const ExternalTable& table : tables) {
    std::size_t unknown = 0;
    for (const ExternalRow& row : table.rows) {
      NetworkWork work{row.operations, row.activations};
      if (const auto other = known.find({row.network, row.input_size});
          work.operations == 0 && other != known.end())
        work = other->second;
      if (work.operations > 0)
        found.records.push_back(record_of(table.facts, row, work));
      else
        ++unknown;
    }
    if (unknown > 0)
      found.left_out.push_back(
          fmt::format("{} of {}: no table has their operations", unknown, table.facts.series()));
  }
  return found;
}

namespace {

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

}  // namespace

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

void need_facts(const TableFacts& facts, const std::string& file) {
  for (const FactName& fact : kFactNames) {
    const std::string& value = facts.*fact.member;
    if (fact.name != "compiler" && value.find_first_not_of(' ') == value.npos)
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

namespace {

Json to_json(const TableFacts& facts) {
  Json json = Json::object();
  for (const FactName& fact : kFactNames) json[std::string(fact.name)] = facts.*fact.member;
  return json;
}

}  // namespace

Json to_json(const ExternalTable& table) {
  return {{"format", 1}, {"facts", to_json(table.facts)}, {"table", table.text}};
}

ExternalTable external_table_from_json(const JsonNode& node) {
  node.allow_only({"format", "facts", "table"});
  node.at("format").integer(1, 1);
  std::map<std::string, std::string> said;
  for (const auto& [name, value] : node.at("facts").members()) said[std::string(name)] = value.string();
  try {
    return timm_table(node.at("table").string(), "table", said);
  } catch (const Error& error) {
    node.fail(error.format());
  }
}

}  // namespace kiln
