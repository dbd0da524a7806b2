#include "plan/sharing.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <unordered_map>

namespace kiln {
namespace {

std::string measured(std::size_t known, std::size_t all) {
  return known == all ? "" : fmt::format(" (measured: {} of {} runs)", known, all);
}

}  // namespace

void Sharing::add_saved(std::size_t runs, const StepCost& one) {
  if (one.seconds) {
    timed += runs;
    seconds += *one.seconds * static_cast<double>(runs);
  }
  if (one.bytes) {
    sized += runs;
    bytes += *one.bytes * runs;
  }
}

Sharing sharing_of(const std::vector<const PlannedImage*>& images,
                   const std::function<StepCost(const std::string& key)>& cost) {
  std::unordered_map<std::string_view, std::size_t> uses;
  for (const PlannedImage* image : images) {
    for (const std::string& key : image->steps) ++uses[key];
    for (const std::string& key : image->tests) ++uses[key];
  }
  Sharing sharing;
  sharing.steps = uses.size();
  for (const auto& [key, count] : uses) {
    sharing.without += count;
    if (count == 1) continue;
    ++sharing.shared;
    sharing.add_saved(count - 1, cost(std::string(key)));
  }
  return sharing;
}

std::string duration_text(double seconds) {
  if (seconds < 10) return fmt::format("{:.1f} s", seconds);
  auto whole = static_cast<std::int64_t>(std::llround(seconds));
  if (whole < 60) return fmt::format("{} s", whole);
  if (whole < 3600) return fmt::format("{} min {} s", whole / 60, whole % 60);
  return fmt::format("{} h {} min", whole / 3600, whole % 3600 / 60);
}

std::string size_text(std::uint64_t bytes) {
  auto value = static_cast<double>(bytes);
  if (bytes >= 1'000'000'000) return fmt::format("{:.1f} GB", value / 1e9);
  if (bytes >= 1'000'000) return fmt::format("{:.0f} MB", value / 1e6);
  return fmt::format("{:.0f} kB", value / 1e3);
}

std::string sharing_text(const Sharing& sharing) {
  std::string text = fmt::format("{} step{}", sharing.steps, sharing.steps == 1 ? "" : "s");
  if (sharing.saved() == 0) return text + ", none shared";
  text += fmt::format(", {} without sharing: {} shared steps save {} runs", sharing.without, sharing.shared,
                      sharing.saved());
  text += sharing.timed == 0 ? "; time not measured"
                             : fmt::format("; time {}{}", duration_text(sharing.seconds),
                                           measured(sharing.timed, sharing.saved()));
  text += sharing.sized == 0 ? ", bytes not measured"
                             : fmt::format(", bytes {}{}", size_text(sharing.bytes),
                                           measured(sharing.sized, sharing.saved()));
  return text;
}

Json to_json(const Sharing& sharing) {
  Json json{{"steps", sharing.steps},   {"without_sharing", sharing.without},
            {"shared", sharing.shared}, {"runs_saved", sharing.saved()},
            {"seconds_saved", nullptr}, {"runs_timed", sharing.timed},
            {"bytes_saved", nullptr},   {"runs_sized", sharing.sized}};
  if (sharing.timed > 0) json["seconds_saved"] = sharing.seconds;
  if (sharing.sized > 0) json["bytes_saved"] = sharing.bytes;
  return json;
}

}  // namespace kiln
