#include "factory/collect/retention.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "factory/base/date.h"
#include "factory/base/glob.h"

namespace kiln {
namespace {

// nullopt for what is no number: the name of an image.
std::optional<std::int64_t> snapshot_number(const std::string& word) {
  std::int64_t number = 0;
  const auto [end, problem] = std::from_chars(word.data(), word.data() + word.size(), number);
  if (problem != std::errc() || end != word.data() + word.size()) return std::nullopt;
  return number;
}

bool is_young(const Snapshot& snapshot, const Retention& retention, std::int64_t now) {
  const auto created = unix_seconds_of(snapshot.created);
  return !created || now - *created < retention.keep_for.count();
}

}  // namespace

std::map<std::int64_t, std::string> kept_snapshots(const std::vector<Snapshot>& snapshots,
                                                   const Retention& retention, std::int64_t now) {
  std::map<std::int64_t, std::string> kept;
  std::vector<std::int64_t> numbers;
  for (const Snapshot& snapshot : snapshots) {
    numbers.push_back(snapshot.number);
    if (snapshot.current) kept.emplace(snapshot.number, "current");
  }
  for (const std::string& word : retention.keep) {
    const auto number = snapshot_number(word);
    if (!number) continue;
    if (std::find(numbers.begin(), numbers.end(), *number) == numbers.end())
      throw Error(ExitCode::no_match, fmt::format("there is no snapshot {}, which is to be kept", *number),
                  "`kiln index snapshots` lists them; \"keep\" of the site file's \"gc\" names some, too");
    kept.emplace(*number, "kept by name");
  }
  std::sort(numbers.rbegin(), numbers.rend());
  const auto newest =
      std::min(numbers.size(), static_cast<std::size_t>(std::max(1, retention.keep_snapshots)));
  for (std::size_t i = 0; i < newest; ++i)
    kept.emplace(numbers[i], fmt::format("one of the newest {}", retention.keep_snapshots));
  for (const Snapshot& snapshot : snapshots)
    if (is_young(snapshot, retention, now))
      kept.emplace(snapshot.number, "younger than " + age_text(retention.keep_for));
  return kept;
}

bool is_kept_by_name(const ImageRecord& image, const Retention& retention) {
  return std::any_of(retention.keep.begin(), retention.keep.end(), [&](const std::string& word) {
    if (snapshot_number(word)) return false;
    if (word == image.manifest.text() || word == image.manifest.hex() || word == image.key) return true;
    return glob_matches(word, image.name()) ||
           glob_matches(word, image.repository + ":" + image.immutable_tag);
  });
}

std::string why_snapshots_go(const Retention& retention) {
  const std::string newest = retention.keep_snapshots == 1
                                 ? "not the newest"
                                 : fmt::format("not one of the newest {}", retention.keep_snapshots);
  return retention.keep_for.count() == 0
             ? newest
             : fmt::format("older than {}, and {}", age_text(retention.keep_for), newest);
}

std::string and_older(std::chrono::seconds age) {
  return age.count() == 0 ? "" : ", and it is older than " + age_text(age);
}

std::string age_text(std::chrono::seconds age) {
  const auto count = age.count();
  for (const auto& [unit, letter] : {std::pair(86400, 'd'), std::pair(3600, 'h'), std::pair(60, 'm')})
    if (count >= unit && count % unit == 0) return fmt::format("{}{}", count / unit, letter);
  return fmt::format("{}s", count);
}

}  // namespace kiln
