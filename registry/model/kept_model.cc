#include "registry/model/kept_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "factory/base/text.h"
#include "factory/record/record_fields.h"

namespace kiln {
namespace {

// Far more than benchmarks of a site make; each question fits the model anew.
constexpr std::size_t kMostKeptRecords = 5000;

Json record_json(const SpeedRecord& record) {
  return {{"image", record.image},     {"workload", record.workload}, {"host", record.host},
          {"seconds", record.seconds}, {"amounts", record.amounts},   {"words", record.words}};
}

double positive(const JsonNode& node) {
  const double value = node.number();
  if (!(std::isfinite(value) && value > 0)) node.fail("expected a number over 0");
  return value;
}

const ModelFeature& feature_at(const JsonNode& node, const std::string& name, bool amount) {
  const ModelFeature* feature = find_model_feature(name);
  if (feature == nullptr || feature->amount != amount)
    throw Error(ExitCode::input, node.where_key(name),
                fmt::format("the model has no such feature '{}'", name));
  return *feature;
}

SpeedRecord record_from_json(const JsonNode& node) {
  node.allow_only({"image", "workload", "host", "seconds", "amounts", "words"});
  SpeedRecord record;
  record.image = node.at("image").line_of_text();
  record.workload = node.at("workload").line_of_text();
  record.host = node.at("host").line_of_text();
  record.seconds = positive(node.at("seconds"));
  const JsonNode amounts = node.at("amounts"), words = node.at("words");
  for (const auto& [name, value] : amounts.members())
    record.amounts[std::string(feature_at(amounts, name, true).name)] = positive(value);
  for (const auto& [name, value] : words.members())
    record.words[std::string(feature_at(words, name, false).name)] = value.string();
  return record;
}

std::vector<SpeedRecord> records_of(const JsonNode& node) {
  node.allow_only({"format", "made", "check", "errors", "records"});
  node.at("format").integer(1, 1);
  const std::vector<JsonNode> items = node.at("records").items();
  if (items.size() > kMostKeptRecords)
    node.at("records").fail(
        fmt::format("{} records; a model has at most {}", items.size(), kMostKeptRecords));
  std::vector<SpeedRecord> records;
  for (const JsonNode& item : items) records.push_back(record_from_json(item));
  return records;
}

// Fitted anew, so that nothing but the records has to be believed.
SpeedModel model_of_records(const JsonNode& node) {
  std::vector<SpeedRecord> records = records_of(node);
  try {
    return SpeedModel(std::move(records));
  } catch (const Error& error) {
    node.at("records").fail(error.message());
  }
}

ModelCheck check_of(const JsonNode& node) {
  ModelCheck check;
  check.groups = count_at(node, "groups");
  check.predicted = count_at(node, "predicted");
  check.no_data = count_at(node, "no_data");
  check.model = node.at("median_error").number();
  check.linear = node.at("linear_error").number();
  check.nearest = node.at("nearest_error").number();
  check.median = node.at("framework_error").number();
  check.questions = count_at(node, "questions");
  check.chosen = count_at(node, "chosen");
  if (auto worst = node.find("worst")) check.worst = worst->number();
  if (!check.beats_both()) node.fail("the model does not beat both guesses, so it may not be used");
  return check;
}

std::vector<double> errors_of(const JsonNode& node) {
  std::vector<double> errors;
  for (const JsonNode& item : node.at("errors").items()) {
    errors.push_back(item.number());
    if (!std::isfinite(errors.back())) item.fail("expected a number");
  }
  // Without errors, an interval would be a point.
  if (errors.empty()) node.at("errors").fail("a checked model has errors");
  return errors;
}

// As speed_records() has it of the image's runs.
void add_image_words(SpeedRecord& question, const ImageRecord& image) {
  std::map<std::string, std::vector<std::string>> names;
  for (const ComponentRecord& component : image.components) names[component.kind].push_back(component.name);
  auto of_kind = [&](const char* kind) {
    std::ranges::sort(names[kind]);
    return joined(names[kind], "+");
  };
  question.words["framework"] = image.repository;
  question.words["version"] = fmt::format("{} {}", image.repository, image.version.text());
  question.words["method"] = image.method;
  question.words["target"] = image.cpu;
  question.words["compilers"] = of_kind("compiler");
  question.words["libraries"] = of_kind("library");
  question.words["runtimes"] = of_kind("runtime");
}

}  // namespace

Json kept_model_json(const std::vector<SpeedRecord>& records, const std::string& made) {
  if (records.size() > kMostKeptRecords)
    throw Error(ExitCode::input,
                fmt::format("{} records; a model has at most {}", records.size(), kMostKeptRecords));
  const CheckedModel checked = checked_model(records);
  const ModelCheck& check = checked.checks.front();
  if (!check.beats_both())
    throw Error(ExitCode::no_match, "the model does not beat both guesses: " + text_of(check),
                "measure more images with `kiln bench`");
  Json list = Json::array();
  for (const SpeedRecord& record : records) list.push_back(record_json(record));
  return {{"format", 1},
          {"made", made},
          {"check", to_json(check)},
          {"errors", check.errors},
          {"records", std::move(list)}};
}

KeptModel::KeptModel(const JsonNode& node)
    : model_(model_of_records(node)), check_(check_of(node.at("check"))) {
  model_.set_errors(errors_of(node));
}

SpeedPrediction KeptModel::predict(const ImageRecord& image, const HostDescription& host,
                                   const std::string& workload) const {
  SpeedPrediction none;
  if (image.external() || !image.accelerators.empty()) {
    none.no_data = "only images for processors that kiln built are predicted";
    return none;
  }
  const auto& records = model_.records();
  const bool known =
      std::ranges::any_of(records, [&](const SpeedRecord& record) { return record.workload == workload; });
  if (!known) {
    none.no_data = fmt::format("the workload {} was never measured", workload);
    return none;
  }
  SpeedRecord question = workload_question(records, workload);
  add_host(question, host);
  add_image_words(question, image);
  return model_.predict(question);
}

std::string KeptModel::check_text() const { return text_of(check_); }

}  // namespace kiln
