// A Selection as JSON and as the text of `--explain`.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string_view>
#include <tuple>

#include "factory/base/text.h"
#include "factory/record/image_record.h"
#include "registry/select/gain.h"
#include "registry/select/select.h"
#include "registry/select/tuned_setting.h"

namespace kiln {
namespace {

// Why images do not answer, counted: of ten thousand, a person reads the reason of none.
struct MissReason {
  // The clause that failed: "needs avx512f; host zen2 lacks it". Where images fail it in different ways, some
  // of these: "asks for 2.1; this is 1.0, 1.1, 1.2 and 148 others".
  std::string reason;
  std::size_t count = 0;
  const Candidate* nearest = nullptr;  // of them
};

// Misses of one demand: what is asked for, or needed, stands before the semicolon of a reason, what is there
// behind it.
struct FailedDemand {
  std::size_t tier = 0;  // 0: the nearest; the next where a miss met fewer clauses
  std::size_t count = 0;
  const Candidate* nearest = nullptr;
  std::vector<std::string_view> found{};  // each once, nearest first
  std::set<std::string_view> seen{};
};

constexpr std::string_view kBetween = "; ";

// "this is " of "this is 1.0" and "this is 1.1": whole words that all begin with.
std::size_t common_words(const std::vector<std::string_view>& texts) {
  std::string_view common = texts.front();
  for (std::string_view text : texts) {
    const auto end = std::mismatch(common.begin(), common.end(), text.begin(), text.end()).first;
    common = common.substr(0, static_cast<std::size_t>(end - common.begin()));
  }
  return common.rfind(' ') + 1;  // 0 where there is no blank
}

std::string found_text(const std::vector<std::string_view>& found) {
  constexpr std::size_t kSome = 3;
  if (found.size() == 1) return std::string(found.front());
  const std::size_t words = common_words(found);
  std::string text(found.front());
  const std::size_t some = found.size() == kSome + 1 ? found.size() : std::min(found.size(), kSome);
  for (std::size_t i = 1; i < some; ++i) text += fmt::format(", {}", found[i].substr(words));
  return some == found.size() ? text : fmt::format("{} and {} others", text, found.size() - some);
}

std::string reason_text(std::string_view demand, const FailedDemand& of) {
  if (of.found.empty()) return std::string(demand);
  return fmt::format("{}{}{}", demand, kBetween, found_text(of.found));
}

std::map<std::string_view, FailedDemand> demands_of(const Selection& selection) {
  std::map<std::string_view, FailedDemand> demands;
  std::size_t tier = 0;
  const Candidate* before = nullptr;
  for (const Candidate& other : selection.others) {
    if (other.failed.empty()) continue;
    if (before != nullptr && before->clauses_met != other.clauses_met) ++tier;
    before = &other;
    const std::string_view reason = other.failed;
    const std::size_t between = reason.find(kBetween);
    FailedDemand& demand =
        demands.try_emplace(reason.substr(0, between), FailedDemand{tier, 0, &other}).first->second;
    ++demand.count;
    if (between == std::string_view::npos) continue;
    const std::string_view found = reason.substr(between + kBetween.size());
    if (demand.seen.insert(found).second) demand.found.push_back(found);
  }
  return demands;
}

// Nearest first, as the misses are; of those that met as many clauses the most frequent first. REQUIRES: the
// selection outlives what is returned.
std::vector<MissReason> misses_by_reason(const Selection& selection) {
  const std::map<std::string_view, FailedDemand> demands = demands_of(selection);
  std::vector<const std::pair<const std::string_view, FailedDemand>*> sorted;
  for (const auto& one : demands) sorted.push_back(&one);
  std::ranges::stable_sort(sorted, [](const auto* a, const auto* b) {
    return std::tie(a->second.tier, b->second.count) < std::tie(b->second.tier, a->second.count);
  });
  std::vector<MissReason> reasons;
  reasons.reserve(sorted.size());
  for (const auto* one : sorted)
    reasons.push_back({reason_text(one->first, one->second), one->second.count, one->second.nearest});
  return reasons;
}

Json published_json(const ImageRecord& image) {
  Json json = {{"tag", image.registry_tag()}, {"digest", image.registry_digest()}};
  if (std::string sif = image.registry_sif(); !sif.empty()) json["sif"] = sif;
  return json;
}

Json candidate_json(const Candidate& candidate) {
  const ImageRecord& image = candidate.entry->image;
  Json json = {{"name", image.name()}, {"stale", candidate.entry->stale}};
  if (candidate.entry->failing) json["failing"] = true;
  if (std::string why = image.why_untested(); !why.empty()) json["untested"] = why;
  if (image.external()) {
    json["reference"] = image.reference;
    json["code"] = image.code;
  } else {
    json["manifest"] = image.manifest.text();
    json["immutable_tag"] = image.immutable_tag;
    if (!image.published.registry.empty()) json["published"] = published_json(image);
  }
  if (candidate.predicted) {
    const PredictedSpeed& predicted = *candidate.predicted;
    json["predicted"] = {{"seconds", predicted.seconds},
                         {"low", predicted.low},
                         {"high", predicted.high},
                         {"reasons", predicted.reasons}};
  }
  if (candidate.measured != nullptr) {
    json["measurement"] = to_json(*candidate.measured);
    json["gain_over_stock"] = stock_gain_word(stock_gain(*candidate.measured));
    json["measurement"].erase("gains");  // over all others of the session; that of the winner is its own key
  }
  return json;
}

void add_gain(Json& json, const Selection& selection, const Candidate& other) {
  if (!selection.winner || selection.winner->measured == nullptr) return;
  const auto gain = gain_over(selection.winner->entry->measurements, other.entry->measurements,
                              *selection.winner->measured);
  if (!gain) return;
  json["gain_of_selected"] = {{"ratio", gain->gain.ratio},
                              {"low", gain->gain.low},
                              {"high", gain->gain.high},
                              {"different", gain->gain.different()}};
}

Json other_json(const Selection& selection, const Candidate& other) {
  Json json = candidate_json(other);
  add_gain(json, selection, other);
  json["qualifies"] = other.failed.empty();
  json["clauses_met"] = other.clauses_met;
  if (!other.failed.empty()) json["failed"] = other.failed;
  return json;
}

Json reason_json(const MissReason& reason) {
  return {{"reason", reason.reason},
          {"count", reason.count},
          {"clauses_met", reason.nearest->clauses_met},
          {"nearest", reason.nearest->entry->image.name()}};
}

// Of `all` so many as `limit` lets through; 0: all.
std::size_t shown(std::size_t all, std::size_t limit) { return limit == 0 ? all : std::min(all, limit); }

// Others by kind, each in its order.
struct Others {
  std::vector<const Candidate*> qualifying;
  std::vector<const Candidate*> misses;

  explicit Others(const Selection& selection) {
    for (const Candidate& other : selection.others)
      (other.failed.empty() ? qualifying : misses).push_back(&other);
  }
};

class Explanation {
 public:
  Explanation(const Selection& selection, std::size_t limit)
      : selection_(selection), others_(selection), limit_(limit) {
    if (selection.winner) name_.add(selection.winner->entry->image);
    for (const Candidate& other : selection.others) name_.add(other.entry->image);
  }

  std::string text() {
    text_ = selection_.winner ? label(*selection_.winner) + "\n" : "no image matches\n";
    for (const std::string& reason : selection_.reasons) text_ += "  " + reason + "\n";
    if (!selection_.nearest_miss.empty()) text_ += "  nearest miss: " + selection_.nearest_miss + "\n";
    list("also qualify, best first", others_.qualifying, [](const Candidate& other) {
      if (other.predicted) return fmt::format("predicted {}; {}", other.predicted->text(), other.behind);
      if (other.measured == nullptr) return other.behind;
      const bool compared = other.measured->stock || other.measured->over_stock;
      return speed_text(*other.measured) + (compared ? "; " + gain_state(other.measured) : "");
    });
    // A handful of names says all; of many, first what they have in common.
    if (others_.misses.size() > shown(kHandful, limit_)) add_reasons();
    list("do not qualify, nearest first", others_.misses,
         [](const Candidate& other) { return other.failed; });
    return std::move(text_);
  }

 private:
  static constexpr std::size_t kHandful = 20;

  std::string label(const Candidate& candidate) const { return name_(candidate.entry->image); }

  template <typename Why>
  void list(std::string_view heading, const std::vector<const Candidate*>& all, const Why& why) {
    if (all.empty()) return;
    text_ += fmt::format("{}:\n", heading);
    const std::size_t some = shown(all.size(), limit_);
    for (std::size_t i = 0; i < some; ++i) text_ += fmt::format("  {}: {}\n", label(*all[i]), why(*all[i]));
    if (some < all.size()) text_ += fmt::format("  … and {} more (--limit 0 shows all)\n", all.size() - some);
  }

  void add_reasons() {
    const std::vector<MissReason> reasons = misses_by_reason(selection_);
    text_ += fmt::format("why {} do not qualify, nearest first:\n", others_.misses.size());
    const std::size_t some = shown(reasons.size(), limit_);
    std::size_t counted_here = 0;
    for (std::size_t i = 0; i < some; ++i) {
      text_ += fmt::format("  {}: {}\n", counted(reasons[i].count, "image"), reasons[i].reason);
      counted_here += reasons[i].count;
    }
    if (some < reasons.size())
      text_ += fmt::format("  … and {} more, of {}\n", counted(reasons.size() - some, "reason"),
                           counted(others_.misses.size() - counted_here, "image"));
  }

  const Selection& selection_;
  const Others others_;
  const std::size_t limit_;
  DistinctNames name_;
  std::string text_;
};

}  // namespace

Json to_json(const Selection& selection, std::size_t limit) {
  const Others all(selection);
  Json others = Json::array();
  for (const auto* kind : {&all.qualifying, &all.misses})
    for (std::size_t i = 0; i < shown(kind->size(), limit); ++i)
      others.push_back(other_json(selection, *(*kind)[i]));
  const std::vector<MissReason> reasons = misses_by_reason(selection);
  Json by_reason = Json::array();
  for (std::size_t i = 0; i < shown(reasons.size(), limit); ++i) by_reason.push_back(reason_json(reasons[i]));
  Json json = {{"selected", selection.winner ? candidate_json(*selection.winner) : Json()},
               {"reasons", selection.reasons},
               {"others", std::move(others)},
               {"misses_by_reason", std::move(by_reason)},
               {"totals",
                {{"qualify", all.qualifying.size() + (selection.winner ? 1 : 0)},
                 {"misses", all.misses.size()},
                 {"reasons", reasons.size()}}}};
  if (selection.tuned) json["tuned"] = tuned_json(*selection.tuned);
  if (!selection.nearest_miss.empty()) json["nearest_miss"] = selection.nearest_miss;
  return json;
}

std::string explain(const Selection& selection, std::size_t limit) {
  return Explanation(selection, limit).text();
}

}  // namespace kiln
