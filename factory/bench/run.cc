#include "factory/bench/run.h"

#include <algorithm>
#include <cmath>

#include "factory/base/effects.h"
#include "factory/base/json_fields.h"
#include "factory/base/json_put.h"
#include "factory/record/record_fields.h"
#include "registry/select/comparable.h"

namespace kiln {
namespace {

constexpr std::int64_t kFormat = 1;

double positive(const JsonNode& node, const char* what) {
  const double value = node.number();
  if (!(value > 0) || !std::isfinite(value)) node.fail(std::string(what) + " is greater than 0");
  return value;
}

double first_in(const JsonNode& node) { return positive(node, "the first step"); }

std::vector<double> samples_in(const JsonNode& node) {
  std::vector<double> samples;
  for (const JsonNode& sample : node.items()) samples.push_back(positive(sample, "a sample"));
  if (samples.empty()) node.fail("a run has at least one sample");
  return samples;
}

std::string unit_in(const JsonNode& node) {
  std::string unit = node.line_of_text();
  if (unit.empty()) node.fail("expected a unit, such as ms/step");
  return unit;
}

double not_negative_in(const JsonNode& node) {
  const double value = node.number();
  if (!(value >= 0) || !std::isfinite(value)) node.fail("expected a number of 0 or more");
  return value;
}

double steal_in(const JsonNode& node) {
  const double steal = not_negative_in(node);
  if (steal > 1) node.fail("a part of the time is 1 at most");
  return steal;
}

void check_taken(const JsonNode& taken, std::int64_t now) {
  const std::string text = taken.string();
  const auto seconds = unix_seconds_of(text);
  if (!seconds) taken.fail("'" + text + "' is not a date", "write it like " + rfc3339(now));
  if (*seconds > now + kClockTolerance)
    taken.fail("the run is from the future: " + text, "the clock here says " + rfc3339(now));
}

// The workload's own words are kept as they are, but a result that it calls wrong.
Json output_in(const JsonNode& node) {
  if (!node.is_object()) node.fail("expected an object, found " + describe_type(node.value()));
  auto result = node.find("result");
  if (result && result->is_object()) {
    auto ok = result->find("ok");
    if (ok && ok->is_boolean() && !ok->boolean()) ok->fail("a wrong result has no speed");
  }
  return node.value();
}

}  // namespace

double not_negative_at(const JsonNode& node, std::string_view key) {
  auto found = node.find(key);
  return found ? not_negative_in(*found) : 0;
}

std::string metric_name(const std::string& workload, const std::string& metric) {
  return metric.empty() ? workload : workload + "." + metric;
}

bool is_speed_of(const std::string& speed, const std::string& workload, int ranks, bool with_data) {
  const std::string ending = speed_name("", ranks, with_data);
  if (speed.size() < workload.size() + ending.size() || !speed.starts_with(workload) ||
      !speed.ends_with(ending))
    return false;
  const std::string metric = speed.substr(workload.size(), speed.size() - workload.size() - ending.size());
  return metric.empty() || (metric.starts_with('.') && metric.find('+') == metric.npos);
}

std::string speed_name(const std::string& workload, int ranks, bool with_data) {
  return workload + (ranks > 1 ? "+" + std::to_string(ranks) + "ranks" : "") + (with_data ? "+data" : "");
}

std::string speed_name(const BenchRun& run) {
  return speed_name(run.workload, ranks_of(run), has_real_input(run));
}

int ranks_of(const BenchRun& run) {
  constexpr int kMost = 1'000'000;
  auto ranks = run.output.find("ranks");
  const bool says = ranks != run.output.end() && ranks->is_number_integer();
  return says && *ranks > 0 && *ranks < kMost ? ranks->get<int>() : 1;
}

bool has_real_input(const BenchRun& run) {
  auto input = run.output.find("input");
  if (input == run.output.end() || !input->is_object()) return false;
  auto kind = input->find("kind");
  return kind != input->end() && *kind == "path";
}

bool was_disturbed(const BenchRun& run) {
  const std::vector<std::string>& marks = run.conditions.marks;
  return std::ranges::any_of(marks,
                             [](const std::string& mark) { return mark == kUnderLoad || mark == kStolen; });
}

bool more_is_better(std::string_view unit) { return direction_of(unit) == Direction::more; }

template <typename Fields>
void describe(Fields& fields, RunAxes& axes) {
  fields.refuse_others(axes);
  fields.may("framework", axes.framework);
  fields.may("version", axes.version);
  fields.may("method", axes.method);
  fields.may("target", axes.target);
  fields.may("compilers", axes.compilers);
  fields.may("accelerator", axes.accelerator);
  fields.may("libraries", axes.libraries);
  fields.may("runtimes", axes.runtimes);
}

template <typename Fields>
void describe(Fields& fields, RunConditions& conditions) {
  fields.refuse_others(conditions);
  fields.when(true, "busy", conditions.busy, not_negative_in);
  fields.when(true, "load", conditions.load, not_negative_in);
  fields.when(true, "steal", conditions.steal, steal_in);
  fields.may("governor", conditions.governor);
  fields.may("marks", conditions.marks);
}

template <typename Fields>
void describe(Fields& fields, BenchRun& run) {
  fields.refuse_others(run);
  fields.must("workload", run.workload, &JsonNode::name);
  fields.must("unit", run.unit, unit_in);
  fields.must("samples", run.samples, samples_in);
  fields.when(true, "warm", run.warm, [&](const JsonNode& node) {
    return static_cast<std::size_t>(node.integer(0, static_cast<std::int64_t>(run.samples.size()) - 1));
  });
  fields.may("first", run.first, first_in);
  fields.may("peak_memory", run.peak_memory);
  fields.may("image", run.image, digest_in);
  fields.may("key", run.key);
  fields.may("name", run.name);
  fields.when(true, "axes", run.axes);
  fields.when(true, "stock", run.stock);
  fields.may("threads", run.threads);
  fields.may("affinity", run.affinity);
  fields.may("cleared", run.cleared);
  fields.when(true, "conditions", run.conditions);
  fields.must("host", run.host, host_from_json);
  fields.must("taken", run.taken, &JsonNode::line_of_text);
  fields.may("kiln", run.kiln);
  fields.when(true, "round", run.round);
  fields.may("place", run.place);
  fields.may("output", run.output, output_in);
  fields.may("session", run.session);
  fields.may("workload_files", run.workload_files);
}

Json to_json(const BenchRun& run) { return fields_of(run); }

BenchRun bench_run_from_json(const JsonNode& node, std::int64_t now) {
  auto run = read_as<BenchRun>(node);
  check_taken(node.at("taken"), now);
  return run;
}

Json runs_to_json(const std::vector<BenchRun>& runs) {
  return {{"format", kFormat}, {"runs", json_list(runs)}};
}

std::vector<BenchRun> runs_from_json(const JsonNode& node, std::int64_t now) {
  node.allow_only({"format", "runs"});
  node.at("format").integer(kFormat, kFormat);
  std::vector<BenchRun> runs;
  for (const JsonNode& run : node.at("runs").items()) runs.push_back(bench_run_from_json(run, now));
  return runs;
}

std::vector<BenchRun> read_runs(std::string_view text, const std::string& file, std::int64_t now) {
  constexpr JsonLimits kLimits{.bytes = 64u << 20, .members = 5'000'000};
  return runs_from_json(JsonDocument::parse(text, file, kLimits).root(), now);
}

}  // namespace kiln
