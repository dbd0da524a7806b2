#include "factory/collect/collection_due.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "factory/base/digest.h"

namespace kiln {
namespace {

constexpr std::int64_t kWeek = 7LL * 24 * 3600;

bool is_written_each_night(const std::string& name, const StatePaths& state) {
  constexpr std::array kNames = {"lock",           "index.lock", "nights",   "nights.lease",
                                 "nights.reserve", "origins",    "kiln.prom"};
  return name == state.collected().filename() ||
         std::find(kNames.begin(), kNames.end(), name) != kNames.end();
}

}  // namespace

std::string state_stamp(const StatePaths& state, const Retention& retention) {
  std::string text = fmt::format("{} {} {} {}\n", retention.keep_for.count(), retention.keep_snapshots,
                                 retention.keep_steps_for.count(), fmt::join(retention.keep, "\n"));
  std::vector<std::string> names = RealFileSystem().list(state.root());
  std::sort(names.begin(), names.end());
  for (const std::string& name : names)
    if (!is_written_each_night(name, state))
      text += fmt::format("{} {}\n", name, entry_stamp(state.root() / name));
  return Digest::of(text).hex();
}

std::int64_t longest_wait(const Retention& retention) {
  return std::min({kWeek, static_cast<std::int64_t>(retention.keep_for.count()),
                   static_cast<std::int64_t>(retention.keep_steps_for.count())});
}

bool is_collection_due(const std::optional<KeptStamp>& last, const std::string& stamp,
                       const Retention& retention, std::int64_t now) {
  return !last || !last->holds(stamp, now, longest_wait(retention));
}

}  // namespace kiln
