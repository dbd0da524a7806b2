#include "factory/night/past_night.h"

#include <limits>
#include <nlohmann/json.hpp>

#include "factory/night/night_text.h"

namespace kiln {
namespace {

constexpr std::int64_t kMostInteger = std::numeric_limits<std::int64_t>::max();

Json to_json(const PastValues& values) {
  Json json{{"name", values.name}};
  if (values.seconds > 0) json["seconds"] = values.seconds;
  if (values.bytes > 0) json["bytes"] = values.bytes;
  if (!values.speeds.empty()) json["speeds"] = values.speeds;
  return json;
}

double number_at(const JsonNode& node, const char* key) {
  const auto found = node.find(key);
  return found ? found->number() : 0;
}

PastValues past_values_from(const JsonNode& node) {
  PastValues values{node.at("name").string(), number_at(node, "seconds"), number_at(node, "bytes"), {}};
  if (auto speeds = node.find("speeds"))
    for (const auto& [name, speed] : speeds->members()) values.speeds.emplace(name, speed.number());
  return values;
}

}  // namespace

PastNight past_of(const NightReport& report) {
  PastNight past{report.number,
                 report.started,
                 report.ended,
                 report.last_green,
                 report.snapshot,
                 report.state,
                 0,
                 0,
                 report.every,
                 night_headline(report),
                 {}};
  past.images = report.images.size();
  for (const NightImage& image : report.images) {
    past.good += is_good(image.verdict) ? 1 : 0;
    const bool was_built = image.verdict == Verdict::built || image.verdict == Verdict::mended;
    if (!was_built && image.speeds.empty()) continue;
    past.values.push_back({image.name, was_built ? image.seconds : 0,
                           was_built ? static_cast<double>(image.bytes) : 0, image.speeds});
  }
  return past;
}

Json to_json(const PastNight& past) {
  Json json{{"format", 1},
            {"number", past.number},
            {"started", past.started},
            {"ended", past.ended},
            {"last_green", past.last_green},
            {"snapshot", past.snapshot},
            {"state", name_of(past.state)},
            {"images", past.images},
            {"good", past.good},
            {"headline", past.headline},
            {"values", Json::array()}};
  if (past.every >= 0) json["every"] = past.every;
  for (const PastValues& values : past.values) json["values"].push_back(to_json(values));
  return json;
}

PastNight past_night_from_json(const JsonNode& node) {
  node.at("format").integer(1, 1);
  auto integer = [&](const char* key) { return node.at(key).integer(0, kMostInteger); };
  const auto state = night_state_named(node.at("state").string());
  if (!state) node.at("state").fail("expected a state of a night");
  PastNight past;
  past.number = integer("number");
  past.started = integer("started");
  past.ended = integer("ended");
  past.last_green = integer("last_green");
  past.snapshot = integer("snapshot");
  past.state = *state;
  past.images = static_cast<std::size_t>(integer("images"));
  past.good = static_cast<std::size_t>(integer("good"));
  past.headline = node.at("headline").string();
  if (node.find("every")) past.every = integer("every");
  for (const JsonNode& values : node.at("values").items()) past.values.push_back(past_values_from(values));
  return past;
}

}  // namespace kiln
