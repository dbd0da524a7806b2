#include <nlohmann/json.hpp>

#include "factory/base/json_fields.h"
#include "factory/night/night.h"

namespace kiln {

static bool read_name(std::string_view name, FailureClass& failure) {
  const auto found = failure_class_named(name);
  if (found) failure = *found;
  return found.has_value();
}

static std::string_view name_of(StockGain gain) { return stock_gain_word(gain); }

static bool read_name(std::string_view name, StockGain& gain) {
  for (const StockGain word : {StockGain::proven, StockGain::no_gain, StockGain::slower})
    if (stock_gain_word(word) == name) {
      gain = word;
      return true;
    }
  return false;
}

template <typename Fields>
void describe(Fields& fields, NightGain& gain) {
  fields.must("word", gain.word);
  fields.must("ratio", gain.ratio);
  fields.must("low", gain.low);
  fields.must("high", gain.high);
  fields.may("fell", gain.fell);
  fields.may("of_earlier_bits", gain.is_of_earlier_bits);
}

template <typename Fields>
void describe(Fields& fields, NightImage& image) {
  fields.must("cell", image.cell);
  fields.must("name", image.name);
  fields.must("axes", image.axes);
  fields.must("verdict", image.verdict);
  fields.must("actor", image.actor);
  fields.may("key", image.key);
  fields.may("include", image.include);
  fields.may("advice", image.advice);
  fields.may("what", image.what);
  fields.when(!image.what.empty(), "failure", image.failure);
  fields.when(!image.what.empty(), "cause", image.cause);
  fields.may("step", image.step);
  fields.may("script", image.script);
  fields.may("log", image.log);
  fields.may("end_of_log", image.end_of_log);
  fields.may("why", image.why);
  fields.may("failing_since", image.failing_since);
  fields.may("seconds", image.seconds);
  fields.may("bytes", image.bytes);
  fields.may("speeds", image.speeds);
  fields.may("gains", image.gains);
}

template <typename Fields>
void describe(Fields& fields, NightTrouble& trouble) {
  fields.must("cause", trouble.cause);
  fields.must("actor", trouble.actor);
  fields.must("what", trouble.what);
  fields.must("exit_code", trouble.code);
  fields.may("subject", trouble.subject);
  fields.may("advice", trouble.advice);
  fields.may("since", trouble.since);
}

template <typename Fields>
void describe(Fields& fields, FailureGroup& group) {
  fields.must("what", group.what);
  fields.must("actor", group.actor);
  fields.must("cells", group.cells);
  fields.may("also", group.also);
  fields.may("shared", group.shared);
  fields.may("exclude", group.exclude);
  fields.may("includes", group.includes);
}

template <typename Fields>
void describe(Fields& fields, GateJob& job) {
  fields.must("name", job.name);
  fields.must("cells", job.cells);
  fields.must("missing", job.missing);
}

template <typename Fields>
void describe(Fields& fields, Trend& trend) {
  fields.must("name", trend.name);
  fields.must("what", trend.what);
  fields.must("before", trend.before);
  fields.must("after", trend.after);
  fields.must("night", trend.night);
  fields.must("suspected", trend.suspected);
}

template <typename Fields>
void describe(Fields& fields, LockNews& lock) {
  fields.may("changes", lock.changes);
  fields.may("held", lock.held);
  fields.may("proposals", lock.proposals);
  fields.may("problems", lock.problems);
}

template <typename Fields>
void describe(Fields& fields, NightReport& report) {
  fields.must("matrix", report.matrix);
  fields.must("number", report.number);
  fields.must("state", report.state);
  fields.must("exit_code", report.exit_code);
  fields.must("host", report.host);
  fields.must("snapshot", report.snapshot);
  fields.must("is_new_snapshot", report.is_new_snapshot);
  fields.date("started", report.started);
  fields.date("ended", report.ended);
  fields.date("last_green", report.last_green);
  fields.when(report.every >= 0, "every", report.every);
  fields.may("remarks", report.remarks);
  fields.may("troubles", report.troubles);
  fields.may("warnings", report.warnings);
  fields.may("phases", report.phases);
  fields.may("lock", report.lock);
  fields.must("images", report.images);
  fields.may("gone", report.gone);
  fields.may("failures", report.failures);
  fields.may("gate", report.gate);
  fields.may("trends", report.trends);
  fields.may("collected", report.collected);
  fields.may("registry", report.registry);
}

template <typename Fields>
void describe(Fields& fields, PastValues& values) {
  fields.must("name", values.name);
  fields.may("seconds", values.seconds);
  fields.may("bytes", values.bytes);
  fields.may("speeds", values.speeds);
}

template <typename Fields>
void describe(Fields& fields, PastNight& past) {
  fields.must("number", past.number);
  fields.must("started", past.started);
  fields.must("ended", past.ended);
  fields.must("last_green", past.last_green);
  fields.must("snapshot", past.snapshot);
  fields.must("state", past.state);
  fields.must("images", past.images);
  fields.must("good", past.good);
  fields.must("headline", past.headline);
  fields.must("values", past.values);
  fields.when(past.every >= 0, "every", past.every);
}

Json to_json(const NightReport& report) {
  Json json = fields_of(report);
  json["format"] = 1;
  if (report.steps_run + report.steps_fetched > 0)
    json["steps"] = {{"run", report.steps_run}, {"fetched", report.steps_fetched}};
  return json;
}

NightReport night_from_json(const JsonNode& node) {
  node.at("format").integer(1, 1);
  NightReport report;
  read_into(node, report);
  if (report.number == 0) node.at("number").fail("nights are counted from 1");
  if (const auto steps = node.find("steps")) {
    read_into(steps->at("run"), report.steps_run);
    read_into(steps->at("fetched"), report.steps_fetched);
  }
  return report;
}

Json to_json(const PastNight& past) {
  Json json = fields_of(past);
  json["format"] = 1;
  return json;
}

PastNight past_night_from_json(const JsonNode& node) {
  node.at("format").integer(1, 1);
  PastNight past;
  read_into(node, past);
  return past;
}

}  // namespace kiln
