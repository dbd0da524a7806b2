#include "factory/bench/run.h"

#include <algorithm>
#include <cmath>

#include "factory/base/effects.h"
#include "factory/base/json_put.h"
#include "factory/record/record_fields.h"
#include "registry/select/comparable.h"

namespace kiln {
namespace {

constexpr std::int64_t kFormat = 1;

Json to_json(const RunAxes& axes) {
  Json json = Json::object();
  put(json, "framework", axes.framework);
  put(json, "version", axes.version);
  put(json, "method", axes.method);
  put(json, "target", axes.target);
  put(json, "compilers", axes.compilers);
  put(json, "accelerator", axes.accelerator);
  put(json, "libraries", axes.libraries);
  put(json, "runtimes", axes.runtimes);
  return json;
}

RunAxes axes_from_json(const JsonNode& node) {
  node.allow_only(
      {"framework", "version", "method", "target", "compilers", "accelerator", "libraries", "runtimes"});
  return {text_at(node, "framework"),    text_at(node, "version"),      text_at(node, "method"),
          text_at(node, "target"),       strings_at(node, "compilers"), text_at(node, "accelerator"),
          strings_at(node, "libraries"), strings_at(node, "runtimes")};
}

Json to_json(const RunConditions& conditions) {
  Json json = {{"busy", conditions.busy}, {"load", conditions.load}, {"steal", conditions.steal}};
  put(json, "governor", conditions.governor);
  put(json, "marks", conditions.marks);
  return json;
}

RunConditions conditions_from_json(const JsonNode& node) {
  node.allow_only({"busy", "load", "steal", "governor", "marks"});
  RunConditions conditions{not_negative_at(node, "busy"), not_negative_at(node, "load"),
                           not_negative_at(node, "steal"), text_at(node, "governor"),
                           strings_at(node, "marks")};
  if (conditions.steal > 1) node.at("steal").fail("a part of the time is 1 at most");
  return conditions;
}

double positive(const JsonNode& node, const char* what) {
  const double value = node.number();
  if (!(value > 0) || !std::isfinite(value)) node.fail(std::string(what) + " is greater than 0");
  return value;
}

void read_samples(const JsonNode& node, BenchRun& run) {
  const JsonNode samples = node.at("samples");
  for (const JsonNode& sample : samples.items()) run.samples.push_back(positive(sample, "a sample"));
  if (run.samples.empty()) samples.fail("a run has at least one sample");
  if (auto warm = node.find("warm"))
    run.warm = static_cast<std::size_t>(warm->integer(0, static_cast<std::int64_t>(run.samples.size()) - 1));
  if (auto first = node.find("first")) run.first = positive(*first, "the first step");
}

std::string taken_at(const JsonNode& node, std::int64_t now) {
  const JsonNode taken = node.at("taken");
  std::string text = taken.line_of_text();
  const auto seconds = unix_seconds_of(text);
  if (!seconds) taken.fail("'" + text + "' is not a date", "write it like " + rfc3339(now));
  if (*seconds > now + kClockTolerance)
    taken.fail("the run is from the future: " + text, "the clock here says " + rfc3339(now));
  return text;
}

// The workload's own words are kept as they are, but a result that it calls wrong.
Json output_at(const JsonNode& node) {
  auto output = node.find("output");
  if (!output) return Json::object();
  if (!output->is_object()) output->fail("expected an object, found " + describe_type(output->value()));
  auto result = output->find("result");
  if (result && result->is_object()) {
    auto ok = result->find("ok");
    if (ok && ok->is_boolean() && !ok->boolean()) ok->fail("a wrong result has no speed");
  }
  return output->value();
}

}  // namespace

double not_negative_at(const JsonNode& node, std::string_view key) {
  auto found = node.find(key);
  if (!found) return 0;
  const double value = found->number();
  if (!(value >= 0) || !std::isfinite(value)) found->fail("expected a number of 0 or more");
  return value;
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

Json to_json(const BenchRun& run) {
  Json json = {{"workload", run.workload},
               {"unit", run.unit},
               {"samples", run.samples},
               {"warm", run.warm},
               {"axes", to_json(run.axes)},
               {"stock", run.stock},
               {"conditions", to_json(run.conditions)},
               {"host", to_json(run.host)},
               {"taken", run.taken},
               {"round", run.round}};
  if (run.first) json["first"] = *run.first;
  if (run.peak_memory != 0) json["peak_memory"] = run.peak_memory;
  put(json, "image", run.image.text());
  put(json, "key", run.key);
  put(json, "name", run.name);
  if (run.threads != 0) json["threads"] = run.threads;
  put(json, "affinity", run.affinity);
  put(json, "cleared", run.cleared);
  put(json, "kiln", run.kiln);
  put(json, "place", run.place);
  put(json, "output", run.output);
  put(json, "session", run.session);
  put(json, "workload_files", run.workload_files);
  return json;
}

BenchRun bench_run_from_json(const JsonNode& node, std::int64_t now) {
  node.allow_only({"workload", "unit",    "samples",    "warm",    "first",         "peak_memory",
                   "image",    "key",     "name",       "axes",    "stock",         "threads",
                   "affinity", "cleared", "conditions", "host",    "taken",         "kiln",
                   "round",    "place",   "output",     "session", "workload_files"});
  BenchRun run;
  run.workload = node.at("workload").name();
  run.unit = node.at("unit").line_of_text();
  if (run.unit.empty()) node.at("unit").fail("expected a unit, such as ms/step");
  read_samples(node, run);
  run.peak_memory = count_at(node, "peak_memory");
  run.image = digest_at(node, "image");
  run.key = text_at(node, "key");
  run.name = text_at(node, "name");
  if (auto axes = node.find("axes")) run.axes = axes_from_json(*axes);
  run.stock = flag_at(node, "stock");
  run.threads = small_count_at(node, "threads");
  run.affinity = text_at(node, "affinity");
  run.cleared = map_at(node, "cleared");
  if (auto conditions = node.find("conditions")) run.conditions = conditions_from_json(*conditions);
  run.host = host_from_json(node.at("host"));
  run.taken = taken_at(node, now);
  run.kiln = text_at(node, "kiln");
  run.round = small_count_at(node, "round");
  run.place = text_at(node, "place");
  run.output = output_at(node);
  run.session = text_at(node, "session");
  run.workload_files = text_at(node, "workload_files");
  return run;
}

Json runs_to_json(const std::vector<BenchRun>& runs) {
  Json list = Json::array();
  for (const BenchRun& run : runs) list.push_back(to_json(run));
  return {{"format", kFormat}, {"runs", list}};
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
