#include "registry/select/tuned_setting.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <set>
#include <vector>

#include "factory/base/text.h"

namespace kiln {
namespace {

bool asks_for_tuning(const ImageQuery& query) { return query.autotuning.value_or(!query.workload.empty()); }

// A named host has no model, and may have no number of cores: what is not known does not differ.
bool is_kind_of(const HostDescription& measured, const HostDescription& here) {
  if (here.cores > 0 && here.cores != measured.cores) return false;
  if (!here.model.empty() && here.model != measured.model) return false;
  return !here.cpu.empty() ? here.cpu == measured.cpu : !here.model.empty();
}

// As many accelerators of the same kinds, in any order.
bool has_same_accelerators(const HostDescription& measured, const HostDescription& here) {
  return std::is_permutation(measured.accelerators.begin(), measured.accelerators.end(),
                             here.accelerators.begin(), here.accelerators.end());
}

bool fits(const TunedRecord& setting, const IndexEntry& entry, const HostDescription& here) {
  return is_kind_of(setting.host, here) &&
         (entry.image.accelerators.empty() || has_same_accelerators(setting.host, here));
}

}  // namespace

TunedChoice tuned_for(const ImageQuery& query, const IndexEntry& entry, const Host& host) {
  if (!asks_for_tuning(query)) return {};
  std::vector<const TunedRecord*> here;
  std::set<std::string> workloads, elsewhere;
  for (const TunedRecord& one : entry.tuned) {
    if (!query.workload.empty() && one.workload != query.workload) continue;
    if (host.known && fits(one, entry, host.description)) {
      here.push_back(&one);
      workloads.insert(one.workload);
    } else {
      elsewhere.insert(fmt::format("{} on {}", one.workload, one.machine()));
    }
  }
  if (workloads.size() > 1)
    return {{},
            fmt::format("is tuned for {}; the document names no workload, so no setting is used",
                        joined(workloads, " and "))};
  if (!here.empty()) return {*here.back(), ""};
  if (elsewhere.empty()) return {};
  return {{},
          fmt::format("is tuned for {}, {}; that setting is not used", joined(elsewhere, " and "),
                      host.known ? "which is another kind of host" : "and no host is known here")};
}

std::string text_of(const TunedRecord& setting) {
  return fmt::format("tuned for {}: {}: {}, measured on {} on {}", setting.workload,
                     setting_text(setting.settings), gain_text(setting.gain, "the default"),
                     setting.machine(), setting.taken.substr(0, 10));
}

Json tuned_json(const TunedRecord& setting) {
  const Json whole = to_json(setting);
  Json json;
  for (const char* key : {"workload", "settings", "gain", "host", "taken"}) json[key] = whole[key];
  return json;
}

}  // namespace kiln
