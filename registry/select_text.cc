// A Selection as JSON and as the text of `--explain`.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "registry/select.h"

namespace kiln {
namespace {

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
  }
  if (candidate.measured != nullptr) json["measurement"] = to_json(*candidate.measured);
  return json;
}

}  // namespace

Json to_json(const Selection& selection) {
  Json others = Json::array();
  for (const auto& other : selection.others) {
    Json json = candidate_json(other);
    json["qualifies"] = other.failed.empty();
    json["clauses_met"] = other.clauses_met;
    if (!other.failed.empty()) json["failed"] = other.failed;
    others.push_back(std::move(json));
  }
  Json json = {{"selected", selection.winner ? candidate_json(*selection.winner) : Json()},
               {"reasons", selection.reasons},
               {"others", std::move(others)}};
  if (!selection.nearest_miss.empty()) json["nearest_miss"] = selection.nearest_miss;
  return json;
}

std::string explain(const Selection& selection) {
  std::string text = selection.winner ? selection.winner->entry->image.name() + "\n" : "no image matches\n";
  for (const auto& reason : selection.reasons) text += "  " + reason + "\n";
  if (!selection.nearest_miss.empty()) text += "  nearest miss: " + selection.nearest_miss + "\n";
  bool first_rest = true;
  bool first_miss = true;
  for (const auto& other : selection.others) {
    bool qualifies = other.failed.empty();
    bool& first = qualifies ? first_rest : first_miss;
    if (first) text += qualifies ? "also qualify, best first:\n" : "do not qualify, nearest first:\n";
    first = false;
    std::string why = other.failed;
    if (qualifies) {
      why = other.measured == nullptr ? "not measured" : speed_text(*other.measured);
    }
    text += fmt::format("  {}: {}\n", other.entry->image.name(), why);
  }
  return text;
}

}  // namespace kiln
