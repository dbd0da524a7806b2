#include "factory/bench/groups.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "factory/base/effects.h"
#include "factory/base/json_put.h"
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
  return Error(ExitCode::usage, fmt::format("'{}' is not a valid choice of runs: {}", clause, why),
               fmt::format("a file of runs, or clauses such as framework=pytorch,method=pip; columns: {}, "
                           "since, until, snapshot, session, mark",
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
  if (value.empty() || value.size() > kDigits || !std::ranges::all_of(value, is_digit))
    throw bad_choice(clause, "a snapshot is a number");
  return std::stoll(value);
}

// Columns of which all runs of a session have one value.
constexpr std::array<std::string_view, 5> kOfSessions = {"host", "threads", "ranks", "input", "session"};

bool clause_holds(const std::string& column, const std::string& glob, const BenchRun& run) {
  if (column == "session") return glob_matches(glob, session_of(run).id);
  if (column != "mark") return glob_matches(glob, column_of(run, column));
  const std::vector<std::string>& marks = run.conditions.marks;
  return std::ranges::any_of(marks, [&](const std::string& mark) { return glob_matches(glob, mark); });
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
        throw Error(ExitCode::input, fmt::format("kiln cannot compare {}: some runs are in {}, others in {}",
                                                 fmt::join(values, " "), unit, run.unit));
  return unit;
}

// By what a person calls it: an image that was built again is the same one later.
std::map<std::string, std::vector<BenchRun>> by_name(const std::vector<BenchRun>& runs) {
  std::map<std::string, std::vector<BenchRun>> images;
  for (const BenchRun& run : runs) images[run.name.empty() ? image_id(run) : run.name].push_back(run);
  return images;
}

// The last sessions with one version of the workload. Old runs do not say which they had.
SharedSession last_sessions(const std::vector<SessionRuns>& a, const std::vector<SessionRuns>& b) {
  auto are_like = [](const std::string& one, const std::string& other) {
    return one == other || one.empty() || other.empty();
  };
  for (auto last = b.rbegin(); last != b.rend(); ++last)
    for (auto other = a.rbegin(); other != a.rend(); ++other)
      if (are_like(last->session.files, other->session.files)) return {&*last, &*other};
  return {};
}

class GroupComparing {
 public:
  GroupComparing(GroupComparison& found, Apart apart) : found_(found), apart_(apart) {}

  void compare(const ColumnValues& values, const std::vector<BenchRun>& a, const std::vector<BenchRun>& b) {
    const std::string unit = one_unit(a, b, values);
    const auto images_b = by_name(b);
    for (const auto& [name_a, runs_a] : by_name(a))
      for (const auto& [name_b, runs_b] : images_b) {
        ComparedPair pair{values, unit, name_a, name_b, 0, 0, {}, runs_a.size(), runs_b.size(), {}};
        if (fill(pair, by_session(runs_a), by_session(runs_b)))
          found_.pairs.push_back(std::move(pair));
        else
          found_.apart.push_back(std::move(pair));
      }
  }

 private:
  bool fill(ComparedPair& pair, const std::vector<SessionRuns>& a, const std::vector<SessionRuns>& b) const {
    SharedSession shared = shared_session(b, a);
    if (shared.image == nullptr && apart_ == Apart::compare) shared = last_sessions(a, b);
    if (shared.image == nullptr) return false;
    if (shared.image->session != shared.over->session) pair.marks.insert("different sessions");
    if (shared.image->session.files != shared.over->session.files)
      pair.marks.insert("version of the workload unknown");
    for (const SessionRuns* side : {shared.image, shared.over})
      for (const BenchRun& run : side->runs)
        pair.marks.insert(run.conditions.marks.begin(), run.conditions.marks.end());
    pair.runs_a = shared.over->runs.size();
    pair.runs_b = shared.image->runs.size();
    pair.median_a = measurement_of(shared.over->runs).median;
    pair.median_b = measurement_of(shared.image->runs).median;
    pair.gain = gain_of(shared.image->runs, shared.over->runs);
    return true;
  }

  GroupComparison& found_;
  Apart apart_;
};

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
  auto found = std::ranges::find_if(columns(), [&](const Column& column) { return column.name == name; });
  return found->value(run);
}

bool RunChoice::names_session() const {
  constexpr std::int64_t kBegin = INT64_MIN, kEnd = INT64_MAX;
  return since != kBegin || until != kEnd || snapshot != 0 ||
         std::ranges::any_of(clauses, [](const auto& clause) {
           return std::ranges::any_of(kOfSessions,
                                      [&](std::string_view column) { return clause.first == column; });
         });
}

bool RunChoice::has(const BenchRun& run) const {
  const std::int64_t taken = unix_seconds_of(run.taken).value_or(0);
  if (taken < since || taken >= until) return false;
  std::map<std::string, bool> holds;  // by column: whether any of its globs does
  for (const auto& [column, glob] : clauses) {
    bool& any = holds[column];
    any = any || clause_holds(column, glob, run);
  }
  return std::ranges::all_of(holds, [](const auto& one) { return one.second; });
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
    } else if (column == "session" || column == "mark" ||
               std::ranges::find(run_columns(), column) != run_columns().end()) {
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

GroupComparison compare_groups(const std::vector<BenchRun>& a, const std::vector<BenchRun>& b,
                               std::vector<std::string> by, Apart apart) {
  GroupComparison found;
  GroupComparing comparing(found, apart);
  found.columns = std::move(by);
  const Groups groups_a = grouped(a, found.columns);
  const Groups groups_b = grouped(b, found.columns);
  for (const auto& [values, runs] : groups_a) {
    auto other = groups_b.find(values);
    if (other == groups_b.end())
      found.only_a.push_back(values);
    else
      comparing.compare(values, runs, other->second);
  }
  for (const auto& [values, runs] : groups_b)
    if (!groups_a.contains(values)) found.only_b.push_back(values);
  return found;
}

std::optional<MeasuredGain> mean_gain(const GroupComparison& comparison) {
  const std::vector<ComparedPair>& pairs = comparison.pairs;
  const bool is_clear = std::ranges::adjacent_find(pairs, {}, &ComparedPair::values) == pairs.end();
  if (pairs.size() < 2 || !is_clear) return std::nullopt;
  double sum = 0, squares = 0;
  for (const ComparedPair& pair : pairs) {
    const double half = std::log(pair.gain.high / pair.gain.low) / 2;
    sum += std::log(pair.gain.ratio);
    squares += half * half;
  }
  const auto count = static_cast<double>(pairs.size());
  const double mean = sum / count, half = std::sqrt(squares) / count;
  return MeasuredGain{"", std::exp(mean), std::exp(mean - half), std::exp(mean + half)};
}

Json to_json(const GroupComparison& comparison) {
  auto named = [&](const ColumnValues& values) {
    Json json = Json::object();
    for (std::size_t i = 0; i < values.size(); ++i) json[comparison.columns[i]] = values[i];
    return json;
  };
  auto pair_json = [&](const ComparedPair& pair) {
    return Json{{"group", named(pair.values)},
                {"unit", pair.unit},
                {"images", {{"a", pair.image_a}, {"b", pair.image_b}}},
                {"runs", {{"a", pair.runs_a}, {"b", pair.runs_b}}}};
  };
  Json groups = Json::array();
  for (const ComparedPair& pair : comparison.pairs) {
    Json json = pair_json(pair);
    json["a"] = pair.median_a;
    json["b"] = pair.median_b;
    json["ratio"] = pair.gain.ratio;
    json["low"] = pair.gain.low;
    json["high"] = pair.gain.high;
    json["different"] = pair.gain.different();
    json["marks"] = pair.marks;
    groups.push_back(std::move(json));
  }
  Json json = {{"groups", groups},
               {"apart", json_list(comparison.apart, pair_json)},
               {"only_a", json_list(comparison.only_a, named)},
               {"only_b", json_list(comparison.only_b, named)}};
  if (const auto mean = mean_gain(comparison))
    json["mean"] = {{"ratio", mean->ratio}, {"low", mean->low}, {"high", mean->high}};
  return json;
}

}  // namespace kiln
