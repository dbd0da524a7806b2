#include "factory/plan/lock_policy.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>

#include "factory/base/effects.h"

namespace kiln {
namespace {

// A base pulls an image, or is made of archives.
const MoveInterval& interval_of(const LockEntry& entry, const UpdatePolicy& policy) {
  return entry.archives.empty() ? policy.bases : policy.archives;
}

bool has_pins(const LockEntry& entry) { return !entry.digests.empty() || !entry.archives.empty(); }

template <typename Pin>
void take_common(std::map<std::string, Pin>& pins, const std::map<std::string, Pin>& asked) {
  for (auto& [architecture, pin] : pins)
    if (auto found = asked.find(architecture); found != asked.end()) pin = found->second;
}

bool same_pins(const LockEntry& a, const LockEntry& b) {
  return a.digests == b.digests && a.archives == b.archives;
}

// The time from which on the entry may move. A date in the future is a clock that was wrong: no pin waits
// for longer than the interval from now.
std::int64_t may_move_at(const LockEntry& entry, std::chrono::seconds interval, std::int64_t now) {
  const auto since = unix_seconds_of(entry.since);
  if (!since) return now;
  std::int64_t at = 0;
  if (__builtin_add_overflow(std::min(*since, now), interval.count(), &at))
    return std::numeric_limits<std::int64_t>::max();
  return at;
}

// Asks for the plan's entries one after the other; what cannot be asked is kept apart.
class NightQuestions {
 public:
  NightQuestions(const LockSources& sources, std::vector<LockProblem>& problems)
      : sources_(sources), problems_(problems) {}

  // The entry as make_lock would have it beside `keep`; nullopt when that cannot be had.
  std::optional<LockEntry> entry(const std::string& id, const LockNeed& need, const LockEntry* keep) {
    Lockfile kept;
    if (keep != nullptr) kept.entries.emplace(id, *keep);
    try {
      return make_lock({{id, need}}, &kept, sources_).entries.at(id);
    } catch (const Error& error) {
      if (error.code() == ExitCode::interrupted) throw;
      problems_.push_back({id, error});
    }
    return std::nullopt;
  }

  bool failed(const std::string& id) const {
    return std::ranges::any_of(problems_, [&](const auto& one) { return one.id == id; });
  }

  // The same with its pins asked anew.
  std::optional<LockEntry> asked_anew(const std::string& id, const LockNeed& need, LockEntry keep) {
    keep.digests.clear();
    keep.archives.clear();
    return entry(id, need, &keep);
  }

 private:
  const LockSources& sources_;
  std::vector<LockProblem>& problems_;
};

// The lockfile that the policy starts from.
Lockfile followed(const LockNeeds& needs, const Lockfile& previous, LockScope scope,
                  NightQuestions& questions) {
  if (scope == LockScope::pins_only) return previous;
  Lockfile lock = previous;
  if (scope == LockScope::whole)
    std::erase_if(lock.entries, [&](const auto& entry) { return !needs.contains(entry.first); });
  for (const auto& [id, need] : needs) {
    auto old = lock.entries.find(id);
    const LockEntry* keep = old == lock.entries.end() ? nullptr : &old->second;
    auto entry = questions.entry(id, need, keep);
    if (!entry) continue;
    if (scope == LockScope::additions && keep != nullptr && keep->image == entry->image) {
      entry->digests.insert(keep->digests.begin(), keep->digests.end());
      entry->archives.insert(keep->archives.begin(), keep->archives.end());
    }
    lock.entries.insert_or_assign(id, *std::move(entry));
  }
  return lock;
}

// Whether nobody can make the base any more once the archives have moved on.
bool is_lost(const LockNeed& need, const LockEntry& entry, const LockSources& sources) {
  if (entry.archives.empty() || need.base_steps.empty() || !sources.built) return false;
  return std::ranges::none_of(need.base_steps, [&](const auto& step) { return sources.built(step.second); });
}

}  // namespace

Json to_json(const HeldChange& held) {
  Json json = to_json(held.change);
  json["until"] = held.until ? Json(rfc3339(*held.until)) : Json();
  return json;
}

std::string text_of(const HeldChange& held) {
  return fmt::format("{}, {}", text_of(held.change),
                     held.until ? "held until " + rfc3339(*held.until) : "held, as the site says \"never\"");
}

PolicyUpdate apply_policy(const Lockfile& lock, const Lockfile& asked, const UpdatePolicy& policy,
                          std::int64_t now, const std::set<std::string>& lost) {
  PolicyUpdate update;
  update.lock = lock;
  if (asked.archspec != lock.archspec) {
    if (policy.archspec)
      update.lock.archspec = asked.archspec;
    else
      update.held.push_back({{"archspec", "entry", lock.archspec, asked.archspec}, std::nullopt});
  }
  for (auto& [id, entry] : update.lock.entries) {
    auto found = asked.entries.find(id);
    if (found == asked.entries.end()) continue;
    LockEntry moved = entry;
    take_common(moved.digests, found->second.digests);
    take_common(moved.archives, found->second.archives);
    if (same_pins(entry, moved)) continue;
    moved.since = rfc3339(now);
    const MoveInterval interval = interval_of(entry, policy);
    if (interval && (lost.contains(id) || may_move_at(entry, *interval, now) <= now)) {
      entry = std::move(moved);
      continue;
    }
    Lockfile before, after;
    before.entries.emplace(id, entry);
    after.entries.emplace(id, std::move(moved));
    for (LockChange& change : compare_locks(before, after))
      update.held.push_back(
          {std::move(change), interval ? std::optional(may_move_at(entry, *interval, now)) : std::nullopt});
  }
  update.changes = compare_locks(lock, update.lock);
  return update;
}

PolicyUpdate update_by_policy(const LockNeeds& needs, const Lockfile* previous, LockScope scope,
                              const UpdatePolicy& policy, const LockSources& sources) {
  std::vector<LockProblem> problems;
  NightQuestions questions(sources, problems);
  Lockfile before = previous != nullptr ? *previous : Lockfile{};
  if (previous == nullptr) before.archspec = sources.archspec;
  const Lockfile lock = followed(needs, before, scope, questions);
  Lockfile asked;
  std::set<std::string> lost;
  asked.archspec = sources.archspec;
  for (const auto& [id, entry] : lock.entries) {
    const auto need = needs.find(id);
    const auto old = before.entries.find(id);
    // What was pinned a moment ago is as it is now; what does not fit the recipe any more is a gap.
    if (need == needs.end() || old == before.entries.end() || !has_pins(entry)) continue;
    if (!same_pins(old->second, entry) || entry.image != need->second.image) continue;
    if (!interval_of(entry, policy) || questions.failed(id)) continue;
    if (auto fresh = questions.asked_anew(id, need->second, entry))
      asked.entries.emplace(id, *std::move(fresh));
    if (is_lost(need->second, entry, sources)) lost.insert(id);
  }
  PolicyUpdate update = apply_policy(lock, asked, policy, sources.now, lost);
  update.changes = compare_locks(before, update.lock);
  update.problems = std::move(problems);
  return update;
}

}  // namespace kiln
