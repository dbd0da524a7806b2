#include "factory/night/measuring.h"

#include <algorithm>
#include <map>
#include <set>

#include "factory/base/enum_names.h"
#include "factory/bench/run.h"

namespace kiln {
namespace {

struct MeasureGroup {
  ImageNumbers stock_images;
  std::vector<std::string> stock_keys;
  std::vector<const MeasureCandidate*> claiming;
};

// Images with equal bits are measured once, under the first name.
std::map<std::string, MeasureGroup> measure_groups(const std::vector<MeasureCandidate>& candidates) {
  std::map<std::string, MeasureGroup> groups;
  std::set<std::string> seen;
  for (const MeasureCandidate& one : candidates) {
    if (!seen.insert(one.key).second) continue;
    MeasureGroup& group = groups[one.group];
    if (one.is_stock) {
      group.stock_images.push_back(one.image);
      group.stock_keys.push_back(one.key);
    } else if (one.claims) {
      group.claiming.push_back(&one);
    }
  }
  return groups;
}

bool is_of_place(const Measurement& measurement, const MeasuredWorkload& place) {
  return is_speed_of(measurement.workload, place.workload, place.ranks, place.with_data) &&
         is_same_machine(measurement.host, place.host);
}

// Against a stock image of today, in enough rounds, with this version of the workload.
bool decides(const Measurement& measurement, const std::vector<std::string>& stock,
             const MeasuredWorkload& place) {
  return measurement.over_stock && measurement.rounds >= kProvingRounds &&
         measurement.workload_files == place.files &&
         std::ranges::find(stock, measurement.over_stock->key) != stock.end();
}

struct NeededImage {
  const MeasureCandidate* candidate;
  MeasureNeed need;
};

void add_sessions(const std::string& name, const MeasureGroup& group, const std::vector<NeededImage>& needed,
                  std::vector<MeasureSession>& sessions) {
  for (std::size_t i = 0; i < needed.size(); ++i) {
    const bool is_full =
        i > 0 && (sessions.back().images.size() >= group.stock_images.size() + kMostInSession ||
                  sessions.back().need != needed[i].need);
    if (i == 0 || is_full) sessions.push_back({name, needed[i].need, group.stock_images});
    sessions.back().images.push_back(needed[i].candidate->image);
  }
}

}  // namespace

std::string_view name_of(MeasureNeed need) {
  static constexpr auto kNames = enum_names<MeasureNeed>({{MeasureNeed::fell_back, "fell back"},
                                                          {MeasureNeed::changed, "changed"},
                                                          {MeasureNeed::missing, "new"},
                                                          {MeasureNeed::none, "measured"}});
  return kNames.of(need);
}

MeasureNeed need_of(const MeasureCandidate& candidate, const std::vector<std::string>& stock,
                    const MeasuredWorkload& place) {
  if (candidate.fell_back) return MeasureNeed::fell_back;
  const Measurement* last = nullptr;
  for (const Measurement& one : candidate.measurements)
    if (is_of_place(one, place)) last = &one;
  if (last != nullptr && decides(*last, stock, place)) return MeasureNeed::none;
  const bool is_known = candidate.was_known || !candidate.measurements.empty();
  return is_known ? MeasureNeed::changed : MeasureNeed::missing;
}

MeasureAgenda measure_agenda(const std::vector<MeasureCandidate>& candidates, const MeasuredWorkload& place) {
  MeasureAgenda agenda;
  for (const auto& [name, group] : measure_groups(candidates)) {
    std::vector<NeededImage> needed;
    for (const MeasureCandidate* one : group.claiming)
      if (const MeasureNeed need = need_of(*one, group.stock_keys, place); need != MeasureNeed::none)
        needed.push_back({one, need});
    if (needed.empty()) continue;
    if (group.stock_images.empty()) {
      agenda.no_stock.push_back(name);
      continue;
    }
    std::ranges::stable_sort(needed, {}, &NeededImage::need);
    add_sessions(name, group, needed, agenda.sessions);
  }
  std::ranges::stable_sort(agenda.sessions, {}, &MeasureSession::need);
  return agenda;
}

}  // namespace kiln
