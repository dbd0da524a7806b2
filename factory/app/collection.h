// What a collection of garbage keeps, whether it is due, and what it counts. Pure.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "factory/collect/garbage.h"
#include "factory/site/site.h"

namespace kiln {

// What the command line says of the retention.
struct RetentionWishes {
  std::optional<std::chrono::seconds> keep_for, keep_steps_for;  // nullopt: the site's
  int keep_snapshots = 0;                                        // 0: the site's
  std::vector<std::string> keep;                                 // in addition to the site's
};
Retention retention_of(Retention of_site, const RetentionWishes& wishes);

// A night on a full disk always collects, and so does one that collects in a registry, whose tags change
// without a change in the state folder. Another night collects when its state folder has changed enough.
bool collects_tonight(bool is_tight, bool in_registry, bool is_due);

// So little is free that writing the index may fail. Caches go first, because removing them writes nothing.
bool is_nearly_full(std::uintmax_t available);  // bytes

// What has one kind and one reason.
struct GarbageGroup {
  GarbageKind kind = GarbageKind::blob;
  std::string why;
  std::size_t count = 0;
  std::uint64_t bytes = 0;
};
std::vector<GarbageGroup> groups_of(const std::vector<Garbage>& garbage);  // by kind, then by reason
std::uint64_t bytes_of(const std::vector<Garbage>& garbage);

// Removes what is in a registry: after an error there it may still exist, and is not reported as gone.
void leave_registry_out(std::vector<Garbage>& garbage);

// "3 things collected, 1.0 MB"; "" = nothing.
std::string collected_text(const std::vector<Garbage>& gone);

}  // namespace kiln
