// A Selection as JSON and as the text of `--explain`.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "factory/base/text.h"
#include "factory/record/image_record.h"
#include "registry/select/gain.h"
#include "registry/select/misses.h"
#include "registry/select/select.h"

namespace kiln {
namespace {

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
  if (!selection.nearest_miss.empty()) json["nearest_miss"] = selection.nearest_miss;
  return json;
}

std::string explain(const Selection& selection, std::size_t limit) {
  return Explanation(selection, limit).text();
}

}  // namespace kiln
