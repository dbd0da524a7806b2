#include "registry/model/model_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <tuple>

#include "factory/base/enum_names.h"
#include "factory/base/error.h"
#include "factory/base/median.h"
#include "factory/base/text.h"
#include "registry/model/anchors.h"

namespace kiln {
namespace {

constexpr std::size_t kMostFolds = 40;  // models that are fitted for a check
constexpr auto kLeftOutNames = enum_names<LeftOut>(
    {{LeftOut::image, "image"}, {LeftOut::workload, "workload"}, {LeftOut::host, "host"}});

std::string group_of(const SpeedRecord& record, LeftOut left_out) {
  switch (left_out) {
    case LeftOut::workload:
      return record.workload.substr(0, record.workload.find('@'));
    case LeftOut::host:
      return record.host;
    case LeftOut::image:
      break;
  }
  return record.image;
}

double error_of(double predicted, double measured) { return std::abs(predicted / measured - 1); }

std::string_view framework_of(const SpeedRecord& record) {
  const auto found = record.words.find("framework");
  return found == record.words.end() ? std::string_view{} : found->second;
}

// Of those that share the most with the question.
double framework_median(const std::vector<SpeedRecord>& records, const SpeedRecord& question) {
  std::map<int, std::vector<double>> shared;
  for (const SpeedRecord& record : records)
    shared[(framework_of(record) == framework_of(question) ? 4 : 0) +
           (record.workload == question.workload ? 2 : 0) + (record.host == question.host ? 1 : 0)]
        .push_back(record.seconds);
  return median_of(std::prev(shared.end())->second);
}

// One record that was left out, and what was said of it.
struct LeftOutAnswer {
  const SpeedRecord* record = nullptr;
  double predicted = 0;
};

// nullopt: what is left is too little or too equal to learn from.
std::optional<SpeedModel> model_of(const std::vector<SpeedRecord>& kept) {
  try {
    return SpeedModel(kept);
  } catch (const Error&) {
    return std::nullopt;
  }
}

struct CheckErrors {
  std::vector<double> model, linear, nearest, median;
};

// Whether the fastest image would be found if one image were only predicted, of each image in turn.
void count_choices(std::span<const SpeedRecord> records, const std::vector<LeftOutAnswer>& answers,
                   ModelCheck& check) {
  for (const LeftOutAnswer& answer : answers) {
    double fastest = answer.record->seconds, other = INFINITY;
    for (const SpeedRecord& record : records)
      if (record.workload == answer.record->workload && record.host == answer.record->host &&
          record.image != answer.record->image)
        other = std::min(other, record.seconds);
    if (other == INFINITY) continue;
    const double chosen = answer.predicted < other ? fastest : other;
    fastest = std::min(fastest, other);
    ++check.questions;
    if (chosen <= fastest) ++check.chosen;
    check.worst = std::max(check.worst, chosen / fastest - 1);
  }
}

// False, with the reason, where there is nothing to leave out.
bool count_groups(std::span<const SpeedRecord> records, ModelCheck& check) {
  std::set<std::string> groups;
  for (const SpeedRecord& record : records) groups.insert(group_of(record, check.left_out));
  check.groups = groups.size();
  if (groups.size() < 2)
    check.skipped = fmt::format("all records are of one {}", kLeftOutNames.of(check.left_out));
  return check.skipped.empty();
}

// The nearest record by what was measured and said of it. Which networks are kin is part of the model: with
// it, the guess is another one, and worse.
class NearestGuess {
 public:
  // REQUIRES: both outlive this.
  NearestGuess(const FeatureColumns& columns, const std::vector<SpeedRecord>& records)
      : columns_(columns), records_(records) {
    for (const SpeedRecord& record : records) points_.push_back(point(record));
  }

  double seconds(const SpeedRecord& question) const {
    const ModelPoint asked = point(question);
    const auto nearest = std::ranges::min_element(
        points_, {}, [&](const ModelPoint& point) { return distance_of(asked, point); });
    return records_[static_cast<std::size_t>(nearest - points_.begin())].seconds;
  }

 private:
  // Words of kin are the last of model_features().
  ModelPoint point(const SpeedRecord& record) const {
    ModelPoint point = columns_.point(record);
    point.words.resize(point.words.size() - columns_.kin().size());
    return point;
  }

  const FeatureColumns& columns_;
  const std::vector<SpeedRecord>& records_;
  std::vector<ModelPoint> points_;
};

void predict_left_out(const std::vector<SpeedRecord>& kept, const std::vector<const SpeedRecord*>& left,
                      CheckErrors& errors, std::vector<LeftOutAnswer>& answers, ModelCheck& check) {
  const auto model = model_of(kept);
  if (!model) {
    check.no_data += left.size();
    return;
  }
  const NearestGuess guess(model->columns(), kept);
  for (const SpeedRecord* record : left) {
    const SpeedPrediction prediction = model->predict(*record);
    if (!prediction.no_data.empty()) {
      ++check.no_data;
      continue;
    }
    check.errors.push_back(std::log(prediction.seconds / record->seconds));
    errors.model.push_back(error_of(prediction.seconds, record->seconds));
    errors.linear.push_back(error_of(prediction.trend, record->seconds));
    errors.nearest.push_back(error_of(guess.seconds(*record), record->seconds));
    errors.median.push_back(error_of(framework_median(kept, *record), record->seconds));
    answers.push_back({record, prediction.seconds});
  }
}

void predict_from_anchors(const std::vector<SeriesPair>& pairs, std::size_t count, CheckErrors& errors,
                          ModelCheck& check) {
  // The anchors are measured first; which series predicts best is known only with them.
  const std::vector<std::size_t> anchors = choose_anchors(pairs.front().known, count);
  const SeriesPair& pair = best_pair(pairs, anchors);
  const AnchoredModel model(pair, anchors);
  for (std::size_t i = 0; i < pair.there.size(); ++i) {
    if (contains(anchors, i)) continue;
    const double measured = pair.there[i].seconds;
    const AnchoredTime predicted = model.predict(i);
    check.errors.push_back(std::log(predicted.seconds / measured));
    errors.model.push_back(error_of(predicted.seconds, measured));
    errors.linear.push_back(error_of(predicted.linear, measured));
    errors.nearest.push_back(error_of(predicted.elsewhere, measured));
    errors.median.push_back(error_of(predicted.by_median, measured));
  }
}

void finish(const CheckErrors& errors, ModelCheck& check) {
  check.predicted = errors.model.size();
  if (check.predicted == 0) {
    check.skipped =
        check.anchors > 0
            ? fmt::format("no two {}s share {} workloads", kLeftOutNames.of(check.left_out),
                          2 * std::min(check.anchors, kFewestAnchors))
            : fmt::format("without a {}, what is left has no data for it", kLeftOutNames.of(check.left_out));
    return;
  }
  check.model = median_of(errors.model);
  check.linear = median_of(errors.linear);
  check.nearest = median_of(errors.nearest);
  check.median = median_of(errors.median);
}

}  // namespace

ModelCheck check_model(std::span<const SpeedRecord> records, LeftOut left_out) {
  ModelCheck check;
  check.left_out = left_out;
  if (!count_groups(records, check)) return check;
  std::map<std::string, std::size_t> folds;
  for (const SpeedRecord& record : records) folds.emplace(group_of(record, left_out), 0);
  std::size_t number = 0;
  for (auto& [group, fold] : folds) fold = number++ % kMostFolds;
  CheckErrors errors;
  std::vector<LeftOutAnswer> answers;
  for (std::size_t fold = 0; fold < std::min(folds.size(), kMostFolds); ++fold) {
    std::vector<SpeedRecord> kept;
    std::vector<const SpeedRecord*> left;
    for (const SpeedRecord& record : records)
      if (folds.at(group_of(record, left_out)) != fold)
        kept.push_back(record);
      else
        left.push_back(&record);
    predict_left_out(kept, left, errors, answers, check);
  }
  finish(errors, check);
  if (check.skipped.empty() && left_out == LeftOut::image) count_choices(records, answers, check);
  return check;
}

ModelCheck check_with_anchors(std::span<const SpeedRecord> records, LeftOut left_out, std::size_t anchors) {
  ModelCheck check;
  check.left_out = left_out;
  check.anchors = anchors;
  if (!count_groups(records, check)) return check;
  const std::vector<SpeedSeries> all = speed_series(records);
  CheckErrors errors;
  std::set<std::size_t> used;  // numbers of anchors
  for (const SpeedSeries& there : all) {
    std::vector<SpeedSeries> others;
    for (const SpeedSeries& other : all)
      if (group_of(other.records.front(), left_out) != group_of(there.records.front(), left_out))
        others.push_back(other);
    auto pairs = nearest_series(there, others, 2 * anchors);
    if (pairs.empty()) pairs = nearest_series(there, others, 2 * std::min(anchors, kFewestAnchors));
    if (pairs.empty()) {
      check.no_data += there.records.size();
      continue;
    }
    const std::size_t count = std::min(anchors, pairs.front().there.size() / 2);
    used.insert(count);
    predict_from_anchors(pairs, count, errors, check);
  }
  finish(errors, check);
  if (!used.empty()) std::tie(check.fewest_anchors, check.anchors) = std::pair(*used.begin(), *used.rbegin());
  return check;
}

CheckedModel checked_model(const std::vector<SpeedRecord>& records) {
  CheckedModel checked{SpeedModel(records), {}};
  for (const LeftOut left_out : {LeftOut::image, LeftOut::workload, LeftOut::host})
    checked.checks.push_back(check_model(records, left_out));
  checked.model.set_errors(checked.checks.front().errors);
  return checked;
}

namespace {

std::string anchored_text(const ModelCheck& check, std::string_view what) {
  const std::string fewest = check.skipped.empty() && check.fewest_anchors < check.anchors
                                 ? fmt::format("{} to ", check.fewest_anchors)
                                 : "";
  const std::string title = fmt::format("{} left out, {}{} anchors measured", what, fewest, check.anchors);
  if (!check.skipped.empty()) return fmt::format("{}: not checked, {}", title, check.skipped);
  return fmt::format(
      "{}: median error {:.1f} % of {} predictions, {} without data; the linear ratio alone {:.1f} %, the "
      "same "
      "workload elsewhere {:.1f} %, times the anchors' median ratio {:.1f} %: {}",
      title, 100 * check.model, check.predicted, check.no_data, 100 * check.linear, 100 * check.nearest,
      100 * check.median, check.beats_both() ? "the model is better than both" : "not used");
}

}  // namespace

std::string text_of(const ModelCheck& check) {
  const std::string_view what = kLeftOutNames.of(check.left_out);
  if (check.anchors > 0) return anchored_text(check, what);
  if (!check.skipped.empty()) return fmt::format("{} left out: not checked, {}", what, check.skipped);
  std::string text = fmt::format(
      "{} left out: median error {:.1f} % of {} predictions, {} without data; the trend alone {:.1f} %, the "
      "nearest record {:.1f} %, the framework's median {:.1f} %: {}",
      what, 100 * check.model, check.predicted, check.no_data, 100 * check.linear, 100 * check.nearest,
      100 * check.median, check.beats_both() ? "the model is better than both" : "not used");
  if (check.questions > 0)
    text += fmt::format("; the fastest image is found in {} of {} cases, else one up to {:.1f} % slower",
                        check.chosen, check.questions, 100 * check.worst);
  return text;
}

Json to_json(const ModelCheck& check) {
  Json json{{"left_out", kLeftOutNames.of(check.left_out)}, {"groups", check.groups}};
  if (check.anchors > 0) json["anchors"] = check.anchors;
  if (check.fewest_anchors < check.anchors && check.skipped.empty())
    json["fewest_anchors"] = check.fewest_anchors;
  if (!check.skipped.empty()) {
    json["skipped"] = check.skipped;
    return json;
  }
  json.update({{"predicted", check.predicted},
               {"no_data", check.no_data},
               {"median_error", check.model},
               {"linear_error", check.linear},
               {"nearest_error", check.nearest},
               {"framework_error", check.median},
               {"used", check.beats_both()}});
  if (check.questions > 0)
    json.update({{"questions", check.questions}, {"chosen", check.chosen}, {"worst", check.worst}});
  return json;
}

}  // namespace kiln
