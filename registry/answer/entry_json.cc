#include "registry/answer/entry_json.h"

#include <nlohmann/json.hpp>

namespace kiln {

Json entry_json(const IndexEntry& entry) {
  Json json = to_json(entry.image);
  json["name"] = entry.image.name();
  json["stale"] = entry.stale;
  if (entry.failing) json["failing"] = true;
  if (!entry.retired.empty()) json["retired"] = entry.retired;
  if (std::string why = entry.image.why_untested(); !why.empty()) json["untested"] = why;
  if (!entry.matrices.empty()) json["matrices"] = entry.matrices;
  json["measurements"] = Json::array();
  for (const Measurement& measurement : entry.measurements)
    json["measurements"].push_back(to_json(measurement));
  return json;
}

Json entries_json(const std::vector<IndexEntry>& entries) {
  Json list = Json::array();
  for (const IndexEntry& entry : entries) list.push_back(entry_json(entry));
  return list;
}

Json snapshots_json(const std::vector<Snapshot>& snapshots) {
  Json list = Json::array();
  for (const Snapshot& snapshot : snapshots) {
    list.push_back({{"number", snapshot.number},
                    {"created", snapshot.created},
                    {"images", snapshot.images},
                    {"note", snapshot.note},
                    {"current", snapshot.current}});
    if (snapshot.held) list.back()["held"] = true;
  }
  return list;
}

}  // namespace kiln
