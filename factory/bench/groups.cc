#include "factory/bench/groups.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "factory/base/date.h"
#include "factory/base/glob.h"
#include "factory/base/text.h"

namespace kiln {
namespace {

using ColumnValue = std::string (*)(const BenchRun& run);

struct Column {
  std::string name;
  ColumnValue value;
};

std::string or_none(const std::string& text) { return text.empty() ? "none" : text; }

const std::vector<Column>& columns() {
  static const std::vector<Column> kColumns = {
      {"workload", [](const BenchRun& run) { return run.workload; }},
      {"framework", [](const BenchRun& run) { return or_none(run.axes.framework); }},
      {"version", [](const BenchRun& run) { return or_none(run.axes.version); }},
      {"method", [](const BenchRun& run) { return or_none(run.axes.method); }},
      {"target", [](const BenchRun& run) { return or_none(run.axes.target); }},
      {"compiler",
       [](const BenchRun& run) { return or_none(fmt::format("{}", fmt::join(run.axes.compilers, "+"))); }},
      {"library",
       [](const BenchRun& run) { return or_none(fmt::format("{}", fmt::join(run.axes.libraries, "+"))); }},
      {"runtime",
       [](const BenchRun& run) { return or_none(fmt::format("{}", fmt::join(run.axes.runtimes, "+"))); }},
      {"accelerator", [](const BenchRun& run) { return or_none(run.axes.accelerator); }},
      {"threads", [](const BenchRun& run) { return std::to_string(run.threads); }},
      {"ranks", [](const BenchRun& run) { return std::to_string(ranks_of(run)); }},
      {"input", [](const BenchRun& run) { return std::string(has_real_input(run) ? "path" : "synthetic"); }},
      {"host",
       [](const BenchRun& run) {
         return fmt::format("{} x {}", or_none(run.host.model.empty() ? run.host.cpu : run.host.model),
                            run.host.cores);
       }},
      {"stock", [](const BenchRun& run) { return std::string(run.stock ? "yes" : "no"); }},
      {"name", [](const BenchRun& run) { return or_none(run.name); }}};
  return kColumns;
}

Error bad_choice(const std::string& clause, const std::string& why) {
  return Error(ExitCode::usage, fmt::format("'{}' chooses no runs: {}", clause, why),
               fmt::format("a file of runs, or clauses such as framework=pytorch,method=pip; columns: {}, "
                           "since, until, snapshot",
                           fmt::join(run_columns(), ", ")));
}

// "2026-11-24" is its beginning; as an end, the beginning of the next day.
std::int64_t date_of(const std::string& clause, const std::string& value, bool is_end) {
  constexpr std::int64_t kDay = 86400;
  if (auto seconds = unix_seconds_of(value)) return *seconds;
  if (auto seconds = unix_seconds_of(value + "T00:00:00Z")) return *seconds + (is_end ? kDay : 0);
  throw bad_choice(clause, "a date is 2026-11-24, or 2026-11-24T12:00:00Z");
}

std::int64_t number_of(const std::string& clause, const std::string& value) {
  constexpr std::size_t kDigits = 9;
  if (value.empty() || value.size() > kDigits || !std::all_of(value.begin(), value.end(), is_digit))
    throw bad_choice(clause, "a snapshot is a number");
  return std::stoll(value);
}

using ColumnValues = std::vector<std::string>;
using Groups = std::map<ColumnValues, std::vector<BenchRun>>;

Groups grouped(const std::vector<BenchRun>& runs, const std::vector<std::string>& by) {
  Groups groups;
  for (const BenchRun& run : runs) {
    ColumnValues values;
    for (const std::string& column : by) values.push_back(column_of(run, column));
    groups[values].push_back(run);
  }
  return groups;
}

std::string one_unit(const std::vector<BenchRun>& a, const std::vector<BenchRun>& b,
                     const ColumnValues& values) {
  const std::string& unit = a.front().unit;
  for (const auto* runs : {&a, &b})
    for (const BenchRun& run : *runs)
      if (run.unit != unit)
        throw Error(ExitCode::input,
                    fmt::format("{} was measured in {} and in {}: speeds of two units do not compare",
                                fmt::join(values, " "), unit, run.unit));
  return unit;
}

ComparedGroup compare_group(const ColumnValues& values, const std::vector<BenchRun>& a,
                            const std::vector<BenchRun>& b) {
  ComparedGroup group{values, one_unit(a, b, values), {}, a.size(), b.size(), {}};
  group.comparison = compare_runs(steady_runs(a), steady_runs(b), more_is_better(group.unit));
  for (const auto* runs : {&a, &b})
    for (const BenchRun& run : *runs)
      group.marks.insert(run.conditions.marks.begin(), run.conditions.marks.end());
  return group;
}

}  // namespace

const std::vector<std::string>& run_columns() {
  static const std::vector<std::string> kNames = [] {
    std::vector<std::string> names;
    for (const Column& column : columns()) names.push_back(column.name);
    return names;
  }();
  return kNames;
}

std::string column_of(const BenchRun& run, const std::string& name) {
  auto found = std::find_if(columns().begin(), columns().end(),
                            [&](const Column& column) { return column.name == name; });
  return found->value(run);
}

bool RunChoice::has(const BenchRun& run) const {
  const std::int64_t taken = unix_seconds_of(run.taken).value_or(0);
  if (taken < since || taken >= until) return false;
  std::map<std::string, bool> holds;  // by column: whether any of its globs does
  for (const auto& [column, glob] : clauses) {
    bool& any = holds[column];
    any = any || glob_matches(glob, column_of(run, column));
  }
  return std::all_of(holds.begin(), holds.end(), [](const auto& one) { return one.second; });
}

RunChoice parse_run_choice(const std::string& text) {
  RunChoice choice;
  for (std::string_view piece : split(text, ',')) {
    const std::string clause(trimmed(piece));
    const std::size_t equals = clause.find('=');
    if (equals == std::string::npos || equals == 0)
      throw bad_choice(clause, "there is no such file, and it is no COLUMN=VALUE");
    const std::string column = clause.substr(0, equals);
    const std::string value = clause.substr(equals + 1);
    if (column == "since" || column == "until") {
      (column == "since" ? choice.since : choice.until) = date_of(clause, value, column == "until");
    } else if (column == "snapshot") {
      choice.snapshot = number_of(clause, value);
    } else if (std::find(run_columns().begin(), run_columns().end(), column) != run_columns().end()) {
      choice.clauses.emplace_back(column, value);
    } else {
      throw bad_choice(clause, "there is no column '" + column + "'");
    }
  }
  return choice;
}

std::vector<std::string> common_columns(const RunChoice& a, const RunChoice& b) {
  // What is stock follows from how an image was made, and its name from all of it.
  std::set<std::string> fixed = {"name", "stock"};
  for (const RunChoice* choice : {&a, &b})
    for (const auto& [column, glob] : choice->clauses) {
      fixed.insert(column);
      if (column == "stock") fixed.insert({"method", "target", "compiler", "library", "runtime"});
      if (column == "framework") fixed.insert({"version", "method", "compiler", "library", "runtime"});
      if (column == "method") fixed.insert("target");
      if (column == "target") fixed.insert("accelerator");
      if (column == "host") fixed.insert("threads");
      if (column == "name")
        fixed.insert(
            {"framework", "version", "method", "target", "compiler", "library", "runtime", "accelerator"});
    }
  std::vector<std::string> common;
  for (const std::string& column : run_columns())
    if (!fixed.contains(column)) common.push_back(column);
  return common;
}

std::vector<std::vector<double>> steady_runs(const std::vector<BenchRun>& runs) {
  std::vector<std::vector<double>> steady;
  for (const BenchRun& run : runs) steady.emplace_back(run.steady().begin(), run.steady().end());
  return steady;
}

GroupComparison compare_groups(const std::vector<BenchRun>& a, const std::vector<BenchRun>& b,
                               std::vector<std::string> by) {
  GroupComparison found;
  found.columns = std::move(by);
  const Groups groups_a = grouped(a, found.columns);
  const Groups groups_b = grouped(b, found.columns);
  for (const auto& [values, runs] : groups_a) {
    auto other = groups_b.find(values);
    if (other == groups_b.end())
      found.only_a.push_back(values);
    else
      found.groups.push_back(compare_group(values, runs, other->second));
  }
  for (const auto& [values, runs] : groups_b)
    if (!groups_a.contains(values)) found.only_b.push_back(values);
  return found;
}

std::string comparison_text(const Comparison& comparison) {
  const std::string interval = fmt::format("({:.2f} to {:.2f})", comparison.low, comparison.high);
  if (!comparison.different()) return "no difference " + interval;
  return fmt::format("{:.2f} times as fast {}", comparison.ratio, interval);
}

Json comparison_json(const Comparison& comparison) {
  return {{"a", comparison.a},     {"b", comparison.b},       {"ratio", comparison.ratio},
          {"low", comparison.low}, {"high", comparison.high}, {"different", comparison.different()}};
}

Json to_json(const GroupComparison& comparison) {
  auto named = [&](const ColumnValues& values) {
    Json json = Json::object();
    for (std::size_t i = 0; i < values.size(); ++i) json[comparison.columns[i]] = values[i];
    return json;
  };
  Json groups = Json::array();
  for (const ComparedGroup& group : comparison.groups) {
    Json json = comparison_json(group.comparison);
    json["group"] = named(group.values);
    json["unit"] = group.unit;
    json["runs"] = {{"a", group.runs_a}, {"b", group.runs_b}};
    json["marks"] = group.marks;
    groups.push_back(json);
  }
  Json only_a = Json::array();
  Json only_b = Json::array();
  for (const ColumnValues& values : comparison.only_a) only_a.push_back(named(values));
  for (const ColumnValues& values : comparison.only_b) only_b.push_back(named(values));
  return {{"groups", groups}, {"only_a", only_a}, {"only_b", only_b}};
}

}  // namespace kiln
