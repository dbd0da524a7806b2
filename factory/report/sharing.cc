#include "factory/report/sharing.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "factory/base/text.h"

namespace kiln {
namespace {

std::string measured(std::size_t known, std::size_t all) {
  return known == all ? "" : fmt::format(" (measured: {} of {} runs)", known, all);
}

// That many runs of this cost are saved.
void add_saved(Sharing& sharing, std::size_t runs, const StepCost& one) {
  if (one.seconds) {
    sharing.timed += runs;
    sharing.seconds += *one.seconds * static_cast<double>(runs);
  }
  if (one.bytes) {
    sharing.sized += runs;
    sharing.bytes += *one.bytes * runs;
  }
}

}  // namespace

Sharing sharing_of(const StepUses& uses, const StepTable& steps,
                   const std::function<StepCost(const std::string& key)>& cost, std::size_t most) {
  Sharing sharing;
  sharing.steps = uses.steps().size();
  sharing.without = uses.runs();
  sharing.shared = uses.shared();
  if (sharing.shared > most) return sharing;
  for (StepTable::Number step : uses.steps())
    if (uses.of(step) > 1) add_saved(sharing, uses.of(step) - 1, cost(steps.hex(step)));
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
  std::string text = counted(sharing.steps, "step");
  if (sharing.saved() == 0) return text + ", none shared";
  text +=
      fmt::format(", {} without sharing: {} {} {}", sharing.without, counted(sharing.shared, "shared step"),
                  sharing.shared == 1 ? "saves" : "save", counted(sharing.saved(), "run"));
  text += sharing.timed == 0 ? "; time saved: not measured"
                             : fmt::format("; time saved: {}{}", duration_text(sharing.seconds),
                                           measured(sharing.timed, sharing.saved()));
  text += sharing.sized == 0 ? ", bytes saved: not measured"
                             : fmt::format(", bytes saved: {}{}", size_text(sharing.bytes),
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
