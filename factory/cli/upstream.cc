#include "factory/cli/upstream.h"

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "factory/base/text.h"
#include "factory/distribution/package_index.h"
#include "factory/os/temporary_folder.h"
#include "factory/plan/lock_update.h"
#include "factory/run/commit_history.h"

namespace kiln {
namespace {

// pip alone knows it, and says it in its help.
std::string default_index(Invocation& invocation) {
  const auto help =
      invocation.output_of({"env", "COLUMNS=1000", "LC_ALL=C", "python3", "-m", "pip", "install", "--help"},
                           std::chrono::minutes(1));
  return help ? default_index_in(*help) : "";
}

// pip_index(), with pip's own default where nothing names one; its `url` is "" where there is no pip. nullopt
// for no-index. Throws Error(interrupted), and as pip_index().
std::optional<PipIndex> index_of_pip(const Site& site, Invocation& invocation) {
  std::optional<PipIndex> index = pip_index(invocation.files, invocation.environment, site.pip_configuration);
  if (!index || !index->url.empty()) return index;
  index->url = default_index(invocation);
  index->from = "pip";
  return index;
}

constexpr std::chrono::seconds kPageTime = std::chrono::minutes(2);  // for a page of a package index

// Opened when the first package is asked for.
class OpenIndex {
 public:
  OpenIndex(const Site& site, Invocation& invocation) : site_(site), invocation_(invocation) {}

  PackageReleases releases(const std::string& package) {
    if (!http_) open();
    return ask_releases(*index_, package, *http_);
  }

 private:
  void open() {
    index_ = index_of_pip(site_, invocation_);
    if (!index_) throw Error(ExitCode::input, "pip is configured to use no index");
    if (index_->url.empty())
      throw Error(ExitCode::input, "no package index is configured on this machine",
                  "name it as for pip: PIP_INDEX_URL, or index-url in pip.conf");
    HttpSettings settings{invocation_.environment, site_.pull_limits.stall};
    const std::chrono::seconds wall = site_.pull_limits.wall;
    settings.wall = wall.count() == 0 ? kPageTime : std::min(wall, kPageTime);
    if (!index_->certificates.empty()) settings.environment["SSL_CERT_FILE"] = index_->certificates;
    http_ = open_http(std::move(settings));
  }

  const Site& site_;
  Invocation& invocation_;
  std::optional<PipIndex> index_;
  std::unique_ptr<Http> http_;
};

ProposalMemory remembered(Invocation& invocation, std::vector<UpstreamProblem>& problems) {
  const fs::path file = invocation.state().proposals();
  try {
    if (const auto text = invocation.files.read(file))
      return read_proposals(JsonDocument::parse(*text, file.string()));
  } catch (const Error& error) {
    problems.push_back({"proposals.json", error});
  }
  return {};
}

}  // namespace

PipSources pip_places(const Site& site, Invocation& invocation) {
  PipSources places{index_of_pip(site, invocation), {}};
  if (places.index && places.index->url.empty()) places.index.reset();
  const std::string links = value_or(invocation.environment, "PIP_FIND_LINKS");
  for (std::string_view word : split(links, ' ')) {
    if (word.starts_with("file://")) word.remove_prefix(std::string_view("file://").size());
    if (word.starts_with('/') && invocation.files.is_directory(word)) places.folders.emplace_back(word);
  }
  return places;
}

UpstreamNews ask_upstream(const Catalogue& catalogue, int most, Invocation& invocation) {
  if (most == 0) return {};
  std::vector<UpstreamProblem> problems;
  const ProposalMemory memory = remembered(invocation, problems);
  const Site site = invocation.site();
  const TemporaryFolder fetched;
  CommitHistory history(invocation.runner, invocation.child_environment(), fetched.path(), site.pull_limits);
  OpenIndex index(site, invocation);
  UpstreamNews news =
      newer_upstream(catalogue.recipes, lock_needs(catalogue.plan.resolution(), catalogue.recipes), memory,
                     most, invocation.clock.unix_seconds(),
                     {[&](const std::string& package) { return index.releases(package); },
                      [&](const std::string& repository) { return history.tags_of(repository); }});
  news.problems.insert(news.problems.begin(), problems.begin(), problems.end());
  return news;
}

void remember_proposals(const ProposalMemory& memory, Invocation& invocation) {
  invocation.files.write(invocation.state().proposals(), proposals_text(memory));
}

}  // namespace kiln
