// kiln model: the performance model that measured runs give.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "factory/base/json_put.h"
#include "factory/base/reading.h"
#include "factory/bench/external_table.h"
#include "factory/bench/speed_records.h"
#include "factory/cli/bench.h"
#include "factory/cli/invocation.h"
#include "factory/cli/options.h"
#include "factory/cli/print.h"
#include "factory/cli/state_lock.h"
#include "factory/record/host_description.h"
#include "factory/run/kept_files.h"
#include "registry/model/anchors.h"
#include "registry/model/kept_model.h"

namespace kiln {
namespace {

struct ModelRequest {
  std::vector<std::string> files;
  std::vector<std::string> features;
  std::string workload;
  std::string host;
  bool tables = false;
  bool json = false;
};

constexpr std::size_t kAnchors = 10;

ModelRecords records_of_tables(Invocation& invocation) {
  const StatePaths state = invocation.state();
  const std::vector<ExternalTable> tables = KeptTables(state, invocation.files).all();
  if (tables.empty())
    throw Error(ExitCode::no_match, "no table of results was imported",
                "`kiln bench import FILE --as timm` or --as openvino imports one");
  return external_records(tables);
}

ModelRecords records_for(const ModelRequest& request, Invocation& invocation) {
  if (request.tables && !request.files.empty())
    throw Error(ExitCode::usage, "--tables and --runs do not go together",
                "results of other projects are not runs of kiln");
  ModelRecords found =
      request.tables ? records_of_tables(invocation) : speed_records(read_runs_of(request.files, invocation));
  for (const std::string& line : found.left_out) invocation.note("note: left out: " + line);
  for (const std::string& line : found.only_anchors) invocation.note("note: only anchors predict " + line);
  return found;
}

constexpr const char* kNoAmounts = "no imported table has the operations of its networks";

// Throws Error(input) where there are only records without amounts.
std::vector<SpeedRecord> records_to_fit(const ModelRequest& request, Invocation& invocation) {
  ModelRecords found = records_for(request, invocation);
  if (found.records.empty() && !found.anchored.empty())
    throw Error(ExitCode::input, fmt::format("{}: there is no model to fit", kNoAmounts),
                "`kiln model check --tables` checks what anchors predict");
  return std::move(found.records);
}

std::vector<SpeedRecord> all_of(const ModelRecords& found) {
  std::vector<SpeedRecord> all = found.records;
  all.insert(all.end(), found.anchored.begin(), found.anchored.end());
  return all;
}

Json fit_json(const SpeedModel& model) {
  Json json{
      {"records", model.records().size()}, {"coefficients", Json::array()}, {"left_out", Json::array()}};
  const RobustFit& fit = model.fit();
  for (std::size_t j = 0; j < fit.coefficients.size(); ++j) {
    const ModelColumn& column = model.columns().columns()[j];
    Json one{{"feature", column.feature}, {"coefficient", fit.coefficients[j]}, {"error", fit.errors[j]}};
    if (!column.level.empty()) one["level"] = column.level;
    json["coefficients"].push_back(std::move(one));
  }
  for (const LeftOutFeature& feature : model.columns().left_out())
    json["left_out"].push_back({{"feature", feature.name}, {"why", feature.why}});
  return json;
}

void fit_model(const ModelRequest& request, Invocation& invocation) {
  const SpeedModel model(records_to_fit(request, invocation));
  if (request.json) return print_json(fit_json(model));
  say("{} records, {} coefficients\n", model.records().size(), model.fit().coefficients.size());
  std::string last;
  for (const ModelColumn& column : model.columns().columns())
    if (std::exchange(last, column.feature) != column.feature)
      say("used: {}: {}\n", column.feature, find_model_feature(column.feature)->meaning);
  for (const std::string& name : model.columns().kin())
    say("used: {}: {}, to find near records\n", name, find_model_feature(name)->meaning);
  for (const LeftOutFeature& feature : model.columns().left_out())
    say("left out: {}: {}\n", feature.name, feature.why);
}

void show_model(const ModelRequest& request, Invocation& invocation) {
  const SpeedModel model(records_to_fit(request, invocation));
  if (request.json) return print_json(fit_json(model));
  say("{} records; a step takes {:.4g} ms on average\n", model.records().size(),
      1000 * std::exp(model.fit().mean));
  for (const std::string& line : model.lines()) say("{}\n", line);
}

void check_records(const ModelRequest& request, Invocation& invocation) {
  const ModelRecords found = records_for(request, invocation);
  std::vector<ModelCheck> checks;
  if (!found.records.empty() || found.anchored.empty()) checks = checked_model(found.records).checks;
  if (request.tables) {
    const std::vector<SpeedRecord> all = all_of(found);
    for (const LeftOut left_out : {LeftOut::image, LeftOut::host})
      checks.push_back(check_with_anchors(all, left_out, kAnchors));
  }
  if (request.json) return print_json(json_list(checks));
  for (const ModelCheck& check : checks) say("{}\n", text_of(check));
}

// Predictions for `kiln select`, or none any more.
void publish_model(const ModelRequest& request, Invocation& invocation) {
  if (request.tables)
    throw Error(ExitCode::usage, "a model of imported tables is not published",
                "`kiln select` uses measurements of kiln's images only");
  const std::vector<SpeedRecord> records = records_for(request, invocation).records;
  const WriterLock lock = lock_state(invocation, "kiln model publish");
  Index index = invocation.index(Index::Mode::write);
  Json model;
  try {
    model = kept_model_json(records, rfc3339(invocation.clock.unix_seconds()));
  } catch (const Error& error) {
    if (index.model()) invocation.note("the index has no model any more");
    index.keep_model("");
    throw;
  }
  index.keep_model(model.dump());
  if (request.json) return print_json(model["check"]);
  say("{} records: `kiln select` uses the predictions of this model\n", records.size());
}

// What the records know of the workload, then the host, then what was said.
SpeedRecord question_of(const ModelRequest& request, const std::vector<SpeedRecord>& records,
                        Invocation& invocation) {
  SpeedRecord question = workload_question(records, request.workload);
  if (request.tables && !request.host.empty())
    throw Error(ExitCode::usage, "--host describes a host of kiln; a host of a table is a name",
                "say --set host=NAME");
  if (!request.tables)
    add_host(question, request.host.empty() ? detect_host(invocation.files, invocation.cpus())
                                            : read_host(read_document(invocation.files, request.host).root(),
                                                        invocation.cpus()));
  for (const std::string& text : request.features) {
    const auto [name, value] = assignment(text, "FEATURE=VALUE", "framework=pytorch");
    set_model_feature(question, name, value);
  }
  return question;
}

// Other workloads were measured with this image on this host: these are the anchors.
void say_anchored(const AnchoredPrediction& found, const ModelCheck& check, bool json) {
  if (json)
    return print_json(
        {{"check", to_json(check)},
         {"seconds", found.seconds},
         {"low", found.low},
         {"high", found.high},
         {"host", found.host},
         {"image", found.image},
         {"anchors", found.anchors},
         {"elsewhere",
          {{"host", found.other_host}, {"image", found.other_image}, {"seconds", found.elsewhere}}}});
  say("{:.4g} ms/step, {:.4g} to {:.4g}, with {} on {}\n", 1000 * found.seconds, 1000 * found.low,
      1000 * found.high, found.image, found.host);
  say("  {:.4g} ms/step with {} on {}\n", 1000 * found.elsewhere, found.other_image, found.other_host);
  say("  time times {:.2f}: {} of the {} workloads that were measured in both places\n",
      found.seconds / found.elsewhere, found.by_line ? "by the amounts and times" : "the median ratio",
      found.anchors);
  say("{}\n", text_of(check));
}

bool predict_by_anchors(const ModelRequest& request, const std::vector<SpeedRecord>& records,
                        const SpeedRecord& question) {
  const auto found = predict_with_anchors(records, question, kFewestAnchors);
  if (!found) return false;
  const LeftOut what = found->other_host != found->host ? LeftOut::host : LeftOut::image;
  say_anchored(*found, check_with_anchors(records, what, std::min(found->anchors, kAnchors)), request.json);
  return true;
}

void predict_step(const ModelRequest& request, Invocation& invocation) {
  const ModelRecords found = records_for(request, invocation);
  const std::vector<SpeedRecord> all = all_of(found);
  const SpeedRecord question = question_of(request, all, invocation);
  if (predict_by_anchors(request, all, question)) return;
  if (found.records.empty() && !found.anchored.empty())
    throw Error(ExitCode::no_match,
                fmt::format("no data: {}, and no anchors answer the question", kNoAmounts),
                "name one series that has five other results and not this one: --set host=NAME --set "
                "precision=fp32");
  const CheckedModel checked = checked_model(found.records);
  const SpeedPrediction prediction = checked.model.predict(question);
  const ModelCheck& check = checked.checks.front();
  if (request.json) {
    Json json{{"check", to_json(check)}};
    if (prediction.has_interval) json.update({{"low", prediction.low}, {"high", prediction.high}});
    if (prediction.no_data.empty())
      json.update({{"seconds", prediction.seconds},
                   {"reasons", prediction.reasons},
                   {"averages", prediction.averages}});
    else
      json["no_data"] = prediction.no_data;
    print_json(json);
  } else if (prediction.no_data.empty()) {
    const std::string interval =
        prediction.has_interval
            ? fmt::format("{:.4g} to {:.4g}", 1000 * prediction.low, 1000 * prediction.high)
            : "without an interval: no prediction could be checked";
    say("{:.4g} ms/step, {}\n", 1000 * prediction.seconds, interval);
    for (const std::string& reason : prediction.reasons) say("  {}\n", reason);
    for (const std::string& average : prediction.averages)
      say("  {} was never measured: the average replaces it\n", average);
    say("{}\n", text_of(check));
  }
  if (!prediction.no_data.empty())
    throw Error(ExitCode::no_match, "no data: " + prediction.no_data, "`kiln bench` measures it");
}

CLI::App* add_verb(CLI::App& command, const std::shared_ptr<ModelRequest>& request, Invocation& invocation,
                   const char* name, const char* text, const char* example,
                   void (*act)(const ModelRequest& request, Invocation& invocation)) {
  CLI::App* verb = add_below(command, name, text, example);
  add_list(*verb, "--runs", request->files, "FILE",
           "read this file of runs; may be repeated (default: those of the state folder)");
  verb->add_flag("--tables", request->tables,
                 "learn from the imported tables of other projects, and from no run of kiln");
  verb->add_flag("--json", request->json, "print JSON");
  verb->callback([request, &invocation, act] { act(*request, invocation); });
  return verb;
}

}  // namespace

CLI::App* add_model(CLI::App& app, Invocation& invocation) {
  auto request = std::make_shared<ModelRequest>();
  CLI::App* command = add_below(
      app, "model", "Learn from measured runs, and predict other runs",
      "kiln model check\n"
      "kiln model fit --runs runs.json\n"
      "kiln model check --tables\n"
      "kiln model predict --workload mnist-cnn --set framework=pytorch --set version='pytorch 2.6.0'");
  command->require_subcommand(1);
  add_verb(*command, request, invocation, "fit",
           "Fit the model, and name the features that it uses and leaves out",
           "kiln model fit --runs runs.json", fit_model);
  add_verb(*command, request, invocation, "show", "Show each coefficient with its error, in words",
           "kiln model show", show_model);
  add_verb(*command, request, invocation, "check",
           "Leave out images, workloads and hosts, and compare with two guesses without a model",
           "kiln model check --json", check_records);
  add_verb(*command, request, invocation, "publish",
           "Let kiln select use the predictions, if the model is better than both guesses",
           "kiln model publish", publish_model);
  CLI::App* predict =
      add_verb(*command, request, invocation, "predict", "Predict the time of a step, with its interval",
               "kiln model predict --workload mnist-cnn --set framework=pytorch", predict_step);
  add_value(*predict, "--workload", request->workload, "WORKLOAD", "a workload that was measured")
      ->required();
  add_value(*predict, "--host", request->host, "FILE", "host description (default: this host)");
  add_list(*predict, "--set", request->features, "FEATURE=VALUE",
           "a feature of the image, or another one: framework=pytorch; may be repeated");
  return command;
}

}  // namespace kiln
