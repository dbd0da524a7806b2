// References to base images: their tags, and the table of data/images.json.
#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "factory/base/json.h"
#include "factory/base/text.h"
#include "factory/lint/checks.h"
#include "factory/oci/reference.h"

namespace kiln::lint {
namespace {

struct GoneImage {
  std::string image;
  std::string tag;  // a glob
  std::string why;
  std::string instead;
};

const std::vector<GoneImage>& gone_images() {
  static const std::vector<GoneImage> kGone = [] {
    const JsonDocument document = lint_data("images.json");
    std::vector<GoneImage> gone;
    for (const JsonNode& one : document.root().at("gone").items())
      gone.push_back({one.at("image").string(), one.at("tag").string(), one.at("why").string(),
                      one.at("instead").string()});
    return gone;
  }();
  return kGone;
}

}  // namespace

std::string hub_name(std::string_view reference) {
  std::string name = repository_name(reference);
  for (std::string_view front : {"docker.io/", "index.docker.io/", "library/"})
    if (name.starts_with(front)) name.erase(0, front.size());
  return name;
}

void check_base(std::string_view reference, const SourceLocation& where, Report& report) {
  const bool pinned = contains(reference, "@sha256:");
  std::string tag = tag_of(reference);
  if (tag.empty() && !pinned) tag = "latest";
  const std::string name = hub_name(reference);
  const auto& gone = gone_images();
  auto found = std::ranges::find_if(
      gone, [&](const GoneImage& one) { return one.image == name && glob_matches(one.tag, tag); });
  if (found != gone.end())
    report.add("KL019", where, fmt::format("'{}' cannot be pulled: {}", reference, found->why)).hint =
        found->instead;
  if (pinned) return;
  if (tag == "latest")
    report.add("KL015", where, fmt::format("'{}' names no fixed version", reference));
  else
    report.add("KL016", where, fmt::format("'{}' can be moved to another image", reference));
}

// Commits that no branch and no tag of their project has: the table of data/commits.json.

namespace {

struct ForeignCommit {
  std::string repository;
  std::string commit;
  std::string why;
  std::string instead;
};

const std::vector<ForeignCommit>& foreign_commits() {
  static const std::vector<ForeignCommit> kCommits = [] {
    const JsonDocument document = lint_data("commits.json");
    std::vector<ForeignCommit> commits;
    for (const JsonNode& one : document.root().at("foreign").items())
      commits.push_back({one.at("repository").string(), one.at("commit").string(), one.at("why").string(),
                         one.at("instead").string()});
    return commits;
  }();
  return kCommits;
}

// Whether a run of hex digits of `text` is the commit, or what git abbreviates it to.
bool names_commit(std::string_view text, std::string_view commit) {
  constexpr std::size_t kShortest = 7;
  const std::string lower = lower_case(text);
  for (std::size_t at = 0; at < lower.size();) {
    std::size_t end = at;
    while (end < lower.size() && is_letter_or_digit(lower[end])) ++end;
    const std::string_view word = std::string_view(lower).substr(at, end - at);
    if (word.size() >= kShortest && commit.starts_with(word)) return true;
    at = end + 1;
  }
  return false;
}

std::string foreign_text(const ForeignCommit& one) {
  return fmt::format("no branch and no tag of {} has the commit {}: {}", one.repository,
                     one.commit.substr(0, 12), one.why);
}

}  // namespace

void check_fork_commits(const WholeFile& whole, Report& report) {
  for (const ForeignCommit& one : foreign_commits()) {
    if (!whole.mentions(one.repository)) continue;
    for (const PlacedCommand& place : whole.commands())
      for (const ShellToken& word : place.command->words)
        if (assigned_name(word.text).empty() && names_commit(word.text, one.commit))
          add(report, "KL025", *place.unit, *place.command, word.span, foreign_text(one)).hint = one.instead;
    for (const Setting& setting : whole.settings)
      if (names_commit(setting.value, one.commit))
        report.add("KL025", *whole.file, setting.span, foreign_text(one)).hint = one.instead;
  }
}

void check_source_commit(std::string_view url, std::string_view commit, const SourceLocation& where,
                         Report& report) {
  for (const ForeignCommit& one : foreign_commits())
    if (contains(url, one.repository) && names_commit(commit, one.commit))
      report.add("KL025", where, foreign_text(one)).hint = one.instead;
}

}  // namespace kiln::lint
