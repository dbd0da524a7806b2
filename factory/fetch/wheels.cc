#include "factory/fetch/wheels.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>

#include "factory/base/digest.h"
#include "factory/base/read_whole.h"
#include "factory/base/text.h"
#include "factory/oci/registry_call.h"
#include "factory/source/pip_words.h"

namespace kiln {
namespace {

constexpr int kTries = 3;

std::string shown(const std::string& url) { return url.substr(0, url.find_first_of("?#")); }

// "https://index.example.org:8080" of a URL.
std::string_view origin_of_url(std::string_view url) {
  const std::size_t scheme = url.find("://");
  return scheme == std::string_view::npos ? url : url.substr(0, url.find('/', scheme + 3));
}

bool is_of(std::string_view file, const std::string& package) {
  for (std::size_t at = file.find('-'); at != std::string_view::npos; at = file.find('-', at + 1))
    if (normal_package_name(file.substr(0, at)) == package) return true;
  return false;
}

std::string sha256_of(const fs::path& file) {
  Hasher hasher;
  read_pieces(file, std::numeric_limits<std::int64_t>::max(),
              [&](std::string_view piece) { hasher.update(piece); });
  return hasher.finish().hex();
}

MirrorItem wheel_item(const std::string& name, const Digest& digest, std::uint64_t size) {
  return {MirrorKind::wheel, name, fmt::format("pip/{}/{}", digest.hex(), name), digest, size};
}

}  // namespace

void fetch_file(const std::string& url, const std::string& authorization, const Digest& expected, Http& http,
                const MirrorFolder& folder) {
  HttpRequest request{"GET", url};
  if (!authorization.empty()) request.headers.emplace_back("Authorization", authorization);
  const std::string fetching = "cannot fetch " + shown(url);
  for (int tried = 1;; ++tried) {
    try {
      folder.put(
          expected,
          [&](const std::function<void(std::string_view)>& sink) {
            request.take = [&](std::string_view piece) {
              sink(piece);
              return true;
            };
            const HttpAnswer answer = http.send(request);
            if (answer.status == 200) return;
            throw HttpFailure{fmt::format("status {}", answer.status),
                              answer.status >= 500 || answer.status == 429};
          },
          shown(url));
      return;
    } catch (const HttpFailure& failure) {
      if (!failure.may_pass || tried == kTries)
        throw Error(ExitCode::network,
                    fmt::format("{}: {}; tried {} times", fetching, failure.message(), tried));
    }
    wait_unless_interrupted(std::chrono::seconds(tried));
  }
}

const std::vector<PackageFile>& WheelFetcher::listed(const PipIndex& index, const std::string& package) {
  const auto found = pages_.find({index.url, package});
  if (found != pages_.end()) return found->second;
  return pages_.emplace(std::pair(index.url, package), ask_files(index, package, http_)).first->second;
}

std::vector<WheelFetcher::Found> WheelFetcher::candidates(const WheelNeed& need) {
  std::vector<Found> found;
  std::set<std::string> left = need.sha256;
  std::error_code problem;
  for (const fs::path& folder : places_.folders)
    for (fs::directory_iterator entry(folder, problem), end; !problem && entry != end;
         entry.increment(problem)) {
      const std::string name = entry->path().filename().string();
      if (!entry->is_regular_file() || !is_of(name, need.package)) continue;
      const std::string hash = sha256_of(entry->path());
      if (left.erase(hash) > 0) found.push_back({{name, "", hash}, entry->path(), ""});
    }
  std::vector<PipIndex> indexes;
  if (!need.index.empty()) indexes.push_back({need.index, "", "", "the requirements file"});
  if (places_.index) indexes.push_back(*places_.index);
  std::optional<Error> silent;
  for (const PipIndex& index : indexes) {
    if (left.empty()) break;
    try {
      for (const PackageFile& file : listed(index, need.package)) {
        if (left.erase(file.sha256) == 0) continue;
        const bool same = origin_of_url(file.url) == origin_of_url(index.url) && !index.credentials.empty();
        found.push_back({file, "", same ? "Basic " + base64_of(index.credentials) : ""});
      }
    } catch (const Error& error) {
      if (error.code() == ExitCode::interrupted) throw;
      silent = error;
    }
  }
  if (found.empty() && silent) throw Error(*silent);
  return found;
}

std::vector<MirrorItem> WheelFetcher::fetch(const WheelNeed& need, const Mirror& known) {
  std::vector<MirrorItem> items;
  for (const std::string& hash : need.sha256) {
    const MirrorItem* item = known.wheel(Digest::from_hex(hash));
    if (item != nullptr && folder_.is_linked(item->path, item->digest) && folder_.is_whole(item->digest))
      items.push_back(*item);
  }
  if (!items.empty()) {
    for (MirrorItem& item : items) item.cells.clear();
    return items;
  }
  for (const Found& one : candidates(need)) {
    if (!may_suit(one.file.name, need.architecture)) continue;
    const Digest digest = Digest::from_hex(one.file.sha256);
    if (!folder_.is_whole(digest)) {
      ++fetched_;
      if (one.local.empty())
        fetch_file(one.file.url, one.authorization, digest, http_, folder_);
      else
        folder_.put_file(one.local, digest);
    }
    const std::string name = file_name_of(one.file.name);
    MirrorItem item = wheel_item(name, digest, 0);
    folder_.link(item.path, digest);
    item.size = fs::file_size(folder_.path(item.path));
    items.push_back(std::move(item));
  }
  if (items.empty())
    throw Error(ExitCode::network, fmt::format("no package index has a file of {} with one of its {} hashes",
                                               need.package, need.sha256.size()));
  return items;
}

}  // namespace kiln
