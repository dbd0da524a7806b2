#include "factory/night/causes.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "factory/base/text.h"
#include "factory/night/night_images.h"
#include "factory/run/failure.h"

namespace kiln {
namespace {

using Axes = std::map<std::string, std::string>;

constexpr std::size_t kMostSignature = 200;  // bytes
constexpr std::size_t kMostOthers = 4;       // words of a cause beside the first
constexpr std::size_t kMostEntries = 20;     // of an exclude, for one cause

// A word without what tells it from its like.
std::string plain_word(std::string_view word) {
  if (word.find('/') != std::string_view::npos) return "/";
  if (word.size() >= 8 && is_hex(word)) return "#";
  std::string plain;
  for (char c : word)
    if (!is_digit(c))
      plain += c;
    else if (!plain.ends_with('#'))
      plain += '#';
  return plain;
}

bool contains(const Axes& cell, const Axes& entry) {
  return std::ranges::all_of(entry, [&](const auto& axis) {
    auto found = cell.find(axis.first);
    return found != cell.end() && found->second == axis.second;
  });
}

std::size_t count_in(const std::vector<const Axes*>& cells, const Axes& entry) {
  return static_cast<std::size_t>(
      std::ranges::count_if(cells, [&](const Axes* cell) { return contains(*cell, entry); }));
}

// The shortest description of a failed cell that takes out no good one, and as many failed ones as it may.
Axes widen(Axes entry, const std::vector<const Axes*>& failed, const std::vector<const Axes*>& good) {
  while (entry.size() > 1) {
    std::size_t most = 0;
    std::string axis;
    for (const auto& [name, value] : entry) {
      Axes wider = entry;
      wider.erase(name);
      if (count_in(good, wider) > 0) continue;
      const std::size_t taken = count_in(failed, wider);
      if (taken > most) {
        most = taken;
        axis = name;
      }
    }
    if (axis.empty()) break;
    entry.erase(axis);
  }
  return entry;
}

std::vector<Axes> exclude_of(std::vector<const Axes*> failed, const std::vector<const Axes*>& good) {
  if (good.empty() || failed.empty()) return {};
  const std::size_t all = failed.size();
  std::vector<Axes> entries;
  while (!failed.empty() && entries.size() < kMostEntries) {
    Axes entry = widen(*failed.front(), failed, good);
    // A cell that has all the values of a good one, and more, can be told from it by no partial map.
    if (count_in(good, entry) > 0) return {};
    std::erase_if(failed, [&](const Axes* cell) { return contains(*cell, entry); });
    entries.push_back(std::move(entry));
  }
  if (!failed.empty() || (all > 2 && entries.size() == all)) return {};
  return entries;
}

// What all of them have, and not every other.
Axes shared_by(const std::vector<const Axes*>& failed, const std::vector<const Axes*>& good) {
  Axes shared = *failed.front();
  for (const Axes* cell : failed)
    std::erase_if(shared, [&](const auto& axis) { return !contains(*cell, {axis}); });
  if (!good.empty())
    std::erase_if(shared, [&](const auto& axis) { return count_in(good, {axis}) == good.size(); });
  return shared;
}

// The words of a failure without the title of its step, in front of which "pytorch 2.6.0 (pip): " stands.
std::string signature_of_end(const NightImage& image) {
  const std::size_t title = image.what.find(": ");
  const bool has_title = !image.step.empty() && title != std::string::npos;
  return signature_of(has_title ? std::string_view(image.what).substr(title + 2) : image.what);
}

// Two images that have one of these in common failed for one cause: the same words, wherever they were said,
// or the same script with the same kind of end, whatever it printed last.
std::vector<std::string> marks_of(const NightImage& image) {
  const std::string signature = signature_of_end(image);
  const std::size_t words = signature.find(": ");
  std::vector<std::string> marks;
  // That something ended says nothing of why: two such are one cause only where they are one script or step.
  if (words != std::string::npos || image.step.empty())
    marks.push_back("words " + signature);
  else
    marks.push_back(fmt::format("step {} {}", image.step, signature));
  if (!image.script.empty())
    marks.push_back(fmt::format("script {} {} {} {}", image.script, name_of(image.failure),
                                static_cast<int>(image.cause), signature.substr(0, words)));
  return marks;
}

using Members = std::vector<const NightImage*>;

// Images that have a mark in common, directly or through others; each group in the order of the images.
std::vector<Members> joined(const Members& images) {
  std::vector<std::size_t> group(images.size());
  std::map<std::string, std::size_t> first;  // by mark: the first image that has it
  auto root = [&](std::size_t at) {
    while (group[at] != at) at = group[at] = group[group[at]];
    return at;
  };
  for (std::size_t i = 0; i < images.size(); ++i) {
    group[i] = i;
    for (const std::string& mark : marks_of(*images[i])) {
      const auto [found, is_new] = first.emplace(mark, i);
      if (is_new) continue;
      const std::size_t one = root(found->second), other = root(i);
      group[std::max(one, other)] = std::min(one, other);
    }
  }
  std::map<std::size_t, Members> members;
  for (std::size_t i = 0; i < images.size(); ++i) members[root(i)].push_back(images[i]);
  std::vector<Members> groups;
  for (auto& [at, all] : members) groups.push_back(std::move(all));
  return groups;
}

// Each kind of words once, but for the first's.
std::vector<std::string> other_words(const Members& members) {
  std::set<std::string> told{signature_of_end(*members.front())};
  std::vector<std::string> others;
  for (const NightImage* image : members)
    if (others.size() < kMostOthers && told.insert(signature_of_end(*image)).second)
      others.push_back(image->what);
  return others;
}

FailureGroup group_of(const Members& members, const std::vector<const Axes*>& good) {
  FailureGroup group;
  std::vector<const Axes*> axes;
  std::vector<const Axes*> of_axes;  // an exclude takes out these
  std::set<std::string> includes;
  for (const NightImage* image : members) {
    group.cells.push_back(image->cell);
    axes.push_back(&image->axes);
    if (image->include.empty())
      of_axes.push_back(&image->axes);
    else
      includes.insert(image->include);
    group.actor = std::max(group.actor, image->actor);
  }
  group.includes.assign(includes.begin(), includes.end());
  group.what = members.front()->what;
  group.also = other_words(members);
  group.shared = shared_by(axes, good);
  group.exclude = exclude_of(std::move(of_axes), good);
  return group;
}

TroubleCause cause_of_network(const Error& error) {
  if (failure_class_of(error) == FailureClass::policy) return TroubleCause::refused;
  const bool is_full = (error.message() + error.hint()).find("no space left") != std::string::npos;
  return is_full ? TroubleCause::registry : TroubleCause::network;
}

TroubleCause trouble_cause_of(const Error& error) {
  switch (error.code()) {
    case ExitCode::network:
      return cause_of_network(error);
    case ExitCode::locked:
      return TroubleCause::lock;
    case ExitCode::store:
      return TroubleCause::disk;
    case ExitCode::tool_missing:
    case ExitCode::timeout:
      return TroubleCause::tool;
    case ExitCode::usage:
    case ExitCode::input:
    case ExitCode::no_match:
      return TroubleCause::input;
    default:
      return TroubleCause::internal;
  }
}

// Its notes ("while publishing") follow in the same line.
std::string in_one_line(const Error& error) {
  std::string text = without_controls(error.format(""));
  for (std::size_t at = 0; (at = text.find('\n', at)) != std::string::npos;) {
    const std::size_t next = std::min(text.find_first_not_of(" \n", at), text.size());
    text.replace(at, next - at, next == text.size() ? "" : ", ");
  }
  return text;
}

struct Advice {
  Actor actor;
  std::string text;
};

Advice advice_on_passing(std::int64_t nights) {
  if (nights <= kNightsOfPatience) return {Actor::nobody, "the next night tries again"};
  return {Actor::site, fmt::format("find the cause: it has lasted for {} nights", nights)};
}

Advice advice_on(const NightTrouble& trouble, std::int64_t nights) {
  switch (trouble.cause) {
    case TroubleCause::network:
    case TroubleCause::lock:
      return advice_on_passing(nights);
    case TroubleCause::refused:
      return {Actor::site, trouble.subject.empty() ? "renew the login that kiln uses there"
                                                   : "renew the login of kiln at " + trouble.subject};
    case TroubleCause::registry:
      return {Actor::site, "mend the registry, or make room there"};
    case TroubleCause::tag:
      return {
          Actor::site,
          "find out which program moved it; `kiln publish --take-tags` moves it to the image of the index"};
    case TroubleCause::disk:
      return {Actor::site,
              "make room on the disk, or mend it: `kiln gc --delete` removes what no image needs"};
    case TroubleCause::tool:
      return {Actor::site, "`kiln doctor` shows what is missing on this machine"};
    case TroubleCause::input:
      return {Actor::recipe, "mend the matrix or the lockfile"};
    case TroubleCause::gain:
      break;  // has its advice
    case TroubleCause::forged:
      return {Actor::site, "find out which users can write there, and remove the record"};
    case TroubleCause::internal:
      break;
  }
  return {Actor::site, "report it as a fault of kiln"};
}

void give(NightTrouble& trouble, Advice advice) {
  trouble.actor = advice.actor;
  trouble.advice = std::move(advice.text);
}

}  // namespace

std::string signature_of(std::string_view what) {
  std::string signature;
  while (!what.empty() && signature.size() < kMostSignature) {
    const std::size_t end = std::min(what.find_first_of(" \n\t"), what.size());
    if (end > 0) signature += (signature.empty() ? "" : " ") + plain_word(what.substr(0, end));
    what.remove_prefix(std::min(end + 1, what.size()));
  }
  return signature;
}

std::vector<FailureGroup> group_failures(const std::vector<NightImage>& images) {
  Members failed;
  std::vector<const Axes*> good;
  for (const NightImage& image : images) {
    if (has_failed(image.verdict)) failed.push_back(&image);
    if (is_good(image.verdict)) good.push_back(&image.axes);
  }
  std::vector<FailureGroup> found;
  for (const Members& members : joined(failed)) found.push_back(group_of(members, good));
  std::ranges::stable_sort(found, [](const FailureGroup& a, const FailureGroup& b) {
    return a.cells.size() != b.cells.size() ? a.cells.size() > b.cells.size() : a.what < b.what;
  });
  return found;
}

NightTrouble trouble_of(const Error& error, const std::string& subject, std::string_view site_file) {
  NightTrouble trouble;
  trouble.cause = trouble_cause_of(error);
  trouble.subject = subject;
  trouble.what = in_one_line(error);
  trouble.code = error.code();
  if (trouble.cause == TroubleCause::input && !site_file.empty() && error.where().file == site_file)
    give(trouble, {Actor::site, "mend the site file"});
  return trouble;
}

void judge(NightTrouble& trouble, const std::vector<NightTrouble>& before, std::int64_t night) {
  const auto same = std::ranges::find_if(before, [&](const NightTrouble& one) {
    return one.cause == trouble.cause && one.subject == trouble.subject;
  });
  trouble.since = same == before.end() || same->since == 0 ? night : same->since;
  if (trouble.advice.empty()) give(trouble, advice_on(trouble, night - trouble.since + 1));
}

std::string identity_of(const NightTrouble& trouble) {
  return fmt::format("{} {}: {}", name_of(trouble.cause), trouble.subject, signature_of(trouble.what));
}

void add_trouble(NightReport& report, NightTrouble trouble) {
  const std::string identity = identity_of(trouble);
  const bool is_known = std::ranges::any_of(
      report.troubles, [&](const NightTrouble& one) { return identity_of(one) == identity; });
  if (!is_known) report.troubles.push_back(std::move(trouble));
}

}  // namespace kiln
