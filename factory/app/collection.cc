#include "factory/app/collection.h"

#include <fmt/format.h>

#include <map>

#include "factory/base/text.h"

namespace kiln {

Retention retention_of(Retention of_site, const RetentionWishes& wishes) {
  of_site.keep_for = wishes.keep_for.value_or(of_site.keep_for);
  of_site.keep_steps_for = wishes.keep_steps_for.value_or(of_site.keep_steps_for);
  if (wishes.keep_snapshots > 0) of_site.keep_snapshots = wishes.keep_snapshots;
  of_site.keep.insert(of_site.keep.end(), wishes.keep.begin(), wishes.keep.end());
  return of_site;
}

bool collects_tonight(bool is_tight, bool in_registry, bool is_due) {
  return is_tight || in_registry || is_due;
}

bool is_nearly_full(std::uintmax_t available) {
  constexpr std::uintmax_t kRoom = 256u << 20;
  return available < kRoom;
}

std::vector<GarbageGroup> groups_of(const std::vector<Garbage>& garbage) {
  std::map<std::pair<GarbageKind, std::string>, GarbageGroup> groups;
  for (const Garbage& one : garbage) {
    GarbageGroup& group =
        groups.try_emplace({one.kind, one.why}, GarbageGroup{one.kind, one.why}).first->second;
    ++group.count;
    group.bytes += one.bytes;
  }
  std::vector<GarbageGroup> sorted;
  for (auto& [of, group] : groups) sorted.push_back(std::move(group));
  return sorted;
}

std::uint64_t bytes_of(const std::vector<Garbage>& garbage) {
  std::uint64_t bytes = 0;
  for (const Garbage& one : garbage) bytes += one.bytes;
  return bytes;
}

void leave_registry_out(std::vector<Garbage>& garbage) {
  std::erase_if(garbage, [](const Garbage& one) { return one.kind >= GarbageKind::pushed_tag; });
}

std::string collected_text(const std::vector<Garbage>& gone) {
  if (gone.empty()) return "";
  return fmt::format("{} collected, {:.1f} MB", counted(gone.size(), "thing"),
                     static_cast<double>(bytes_of(gone)) / 1e6);
}

}  // namespace kiln
