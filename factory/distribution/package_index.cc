#include "factory/distribution/package_index.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <thread>

#include "factory/base/digest.h"
#include "factory/base/effects.h"
#include "factory/base/json.h"
#include "factory/base/text.h"
#include "factory/base/version.h"

namespace kiln {
namespace {

// The largest pages of public indexes have a few megabytes.
constexpr std::uint64_t kMostPage = 32u << 20;
constexpr JsonLimits kPageLimits{kMostPage, 16, 1u << 20, 2'000'000};

// PEP 503: without case, and - for each run of - _ .
std::string normalised(std::string_view name) {
  std::string text;
  for (char c : lower_case(name)) {
    const bool separator = c == '-' || c == '_' || c == '.';
    if (separator && text.ends_with('-')) continue;
    text += separator ? '-' : c;
  }
  return text;
}

// "2.6.0" of "torch-2.6.0-cp312-cp312-manylinux1_x86_64.whl" and "torch-2.6.0.tar.gz"; "" of other files.
std::string version_in(std::string_view file, const std::string& package) {
  constexpr std::array<std::string_view, 3> kSources = {".tar.gz", ".zip", ".tar.bz2"};
  if (file.ends_with(".whl")) {
    const std::vector<std::string_view> parts = split(file.substr(0, file.size() - 4), '-');
    if (parts.size() != 5 && parts.size() != 6) return "";
    return normalised(parts[0]) == package ? std::string(parts[1]) : "";
  }
  for (std::string_view ending : kSources) {
    if (!file.ends_with(ending)) continue;
    const std::string_view stem = file.substr(0, file.size() - ending.size());
    for (std::size_t at = stem.find('-'); at != std::string_view::npos; at = stem.find('-', at + 1))
      if (normalised(stem.substr(0, at)) == package) return std::string(stem.substr(at + 1));
  }
  return "";
}

bool is_ignored(std::string_view file) {
  constexpr std::array<std::string_view, 8> kOthers = {".egg", ".exe", ".msi", ".rpm",
                                                       ".deb", ".dmg", ".asc", ".metadata"};
  return std::ranges::any_of(kOthers, [&](std::string_view one) { return file.ends_with(one); });
}

// A version that is a name, too: it stands in recipes, tags and paths. Not 1!2.0 (an epoch): no recipe has
// one.
std::optional<Version> comparable(const std::string& text) {
  const bool plain =
      !text.empty() && text.size() <= 64 && is_digit(text.front()) && std::ranges::all_of(text, [](char c) {
        return is_letter_or_digit(c) || c == '.' || c == '-' || c == '_';
      });
  if (!plain) return std::nullopt;
  return Version(text);
}

// Collects the files of a page.
class ReleaseCollector {
 public:
  explicit ReleaseCollector(const std::string& package) : package_(normalised(package)) {}

  void add(std::string_view file, bool withdrawn, const std::string& date) {
    if (is_ignored(file)) return;
    std::string text = version_in(file, package_);
    text.erase(std::min(text.find('+'), text.size()));  // a build of the same release
    const std::optional<Version> version = comparable(text);
    if (!version) {
      ++odd_;
      return;
    }
    if (withdrawn) return;
    std::string& known = dates_.try_emplace(*version, date).first->second;
    if (!date.empty() && (known.empty() || date < known)) known = date;
  }

  PackageReleases releases() const {
    PackageReleases found;
    for (const auto& [version, date] : dates_) found.releases.push_back({version.text(), date});
    found.odd = odd_;
    return found;
  }

 private:
  std::string package_;
  std::map<Version, std::string> dates_;
  std::size_t odd_ = 0;
};

// "2026-11-20T10:00:00Z" of PEP 700's "2026-11-20T10:00:00.123456Z"; "" of anything else.
std::string plain_date(const Json& value) {
  if (!value.is_string()) return "";
  std::string text = value.get<std::string>();
  if (text.size() < 20 || !text.ends_with('Z')) return "";
  text = text.substr(0, 19) + "Z";
  const auto seconds = unix_seconds_of(text);
  return seconds && rfc3339(*seconds) == text ? text : "";
}

// PEP 592: false, true or the reason, which may be "".
bool is_withdrawn(const Json& file) {
  auto found = file.find("yanked");
  return found != file.end() && (found->is_string() || (found->is_boolean() && found->get<bool>()));
}

// What a page says of a file.
struct PageEntry {
  std::string_view file;
  bool withdrawn = false;
  std::string date;
  std::string url;     // as written
  std::string sha256;  // "" where the page does not say
};
using TakeEntry = std::function<void(const PageEntry&)>;

std::string text_at(const Json& object, const char* key) {
  auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

void read_json(std::string_view body, const std::string& package, const TakeEntry& take) {
  const JsonDocument document = JsonDocument::parse(body, "the page of " + package, kPageLimits);
  const Json& page = document.value();
  if (!page.is_object() || !page.contains("files") || !page["files"].is_array())
    throw Error(ExitCode::network, "the page of " + package + " lists no files");
  for (const Json& file : page["files"]) {
    if (!file.is_object() || !file.contains("filename") || !file["filename"].is_string())
      throw Error(ExitCode::network, "the page of " + package + " lists files without names");
    const Json hashes = file.value("hashes", Json());
    take({file["filename"].get_ref<const std::string&>(), is_withdrawn(file),
          plain_date(file.value("upload-time", Json())), text_at(file, "url"),
          hashes.is_object() ? text_at(hashes, "sha256") : ""});
  }
}

// "" without one.
std::string attribute_of(std::string_view attributes, std::string_view name) {
  std::size_t at = lower_case(attributes).find(std::string(name) + "=");
  if (at == std::string_view::npos) return "";
  at += name.size() + 1;
  if (at >= attributes.size() || (attributes[at] != '"' && attributes[at] != '\'')) return "";
  const std::size_t end = attributes.find(attributes[at], at + 1);
  if (end == std::string_view::npos) return "";
  std::string value(attributes.substr(at + 1, end - at - 1));
  for (std::size_t amp = 0; (amp = value.find("&amp;", amp)) != std::string::npos; ++amp)
    value.erase(amp + 1, 4);
  return value;
}

// The anchors of a page: the text is the file's name, data-yanked says that it was withdrawn, the fragment of
// its link is the hash.
void read_html(std::string_view body, const TakeEntry& take) {
  for (std::size_t at = 0; (at = body.find('<', at)) != std::string_view::npos; ++at) {
    const std::string name = lower_case(body.substr(at + 1, 2));
    if (name.size() != 2 || name[0] != 'a' || !contains(kWhiteSpace, name[1])) continue;
    const std::size_t end = body.find('>', at);
    const std::size_t close = end == std::string_view::npos ? end : body.find('<', end);
    if (close == std::string_view::npos) return;
    const std::string_view attributes = body.substr(at, end - at);
    std::string url = attribute_of(attributes, "href"), sha256;
    if (const std::size_t hash = url.find('#'); hash != std::string::npos) {
      constexpr std::string_view kHash = "#sha256=";
      if (std::string_view(url).substr(hash).starts_with(kHash)) sha256 = url.substr(hash + kHash.size(), 64);
      url.resize(hash);
    }
    take({trimmed(body.substr(end + 1, close - end - 1)), contains(attributes, "data-yanked"), "", url,
          sha256});
    at = end;
  }
}

void read_page(std::string_view body, const std::string& content_type, const std::string& package,
               const TakeEntry& take) {
  const std::string type =
      lower_case(trimmed(std::string_view(content_type).substr(0, content_type.find(';'))));
  try {
    if (type.ends_with("json"))
      read_json(body, package, take);
    else if (type.ends_with("html"))
      read_html(body, take);
    else
      throw Error(ExitCode::network, fmt::format("the page of {} is no list of files", package),
                  "an index answers with JSON (PEP 691) or HTML (PEP 503)");
  } catch (const Error& error) {
    throw Error(ExitCode::network, without_controls(error.message()), error.hint());
  }
}

HttpRequest page_request(const PipIndex& index, const std::string& package) {
  HttpRequest request{"GET", fmt::format("{}/{}/", index.url, normalised(package))};
  request.headers = {{"Accept",
                      "application/vnd.pypi.simple.v1+json, application/vnd.pypi.simple.v1+html;q=0.2, "
                      "text/html;q=0.1"}};
  if (!index.credentials.empty())
    request.headers.emplace_back("Authorization", "Basic " + base64_of(index.credentials));
  request.most = kMostPage;
  return request;
}

// nullopt: it may pass.
std::optional<HttpAnswer> ask_once(const HttpRequest& request, Http& http, const std::string& asking,
                                   std::string& why) {
  try {
    HttpAnswer answer = http.send(request);
    if (answer.status < 500 && answer.status != 429) return answer;
    why = fmt::format("status {}", answer.status);
  } catch (const HttpFailure& failure) {
    if (!failure.may_pass) throw Error(ExitCode::network, fmt::format("{}: {}", asking, failure.message()));
    why = failure.message();
  }
  return std::nullopt;
}

HttpAnswer ask_page(const PipIndex& index, const std::string& package, Http& http,
                    std::chrono::milliseconds pause) {
  const std::string asking = fmt::format("cannot ask {} for {}", index.url, package);
  const HttpRequest request = page_request(index, package);
  std::string why;
  std::optional<HttpAnswer> answer = ask_once(request, http, asking, why);
  if (!answer) {
    std::this_thread::sleep_for(pause);
    answer = ask_once(request, http, asking, why);
  }
  if (!answer) throw Error(ExitCode::network, fmt::format("{}: {}", asking, why), "try again later");
  if (answer->status == 404)
    throw Error(ExitCode::no_match, fmt::format("{} has no package {}", index.url, package));
  if (answer->status != 200)
    throw Error(ExitCode::network, fmt::format("{}: status {}", asking, answer->status),
                fmt::format("{} names this index", index.from));
  return *std::move(answer);
}

}  // namespace

std::string absolute_url(const std::string& page, const std::string& link) {
  const std::size_t scheme = page.find("://");
  if (link.empty() || contains(link, "://") || scheme == std::string::npos) return link;
  if (link.starts_with("//")) return page.substr(0, scheme + 1) + link;
  const std::size_t path = std::min(page.find('/', scheme + 3), page.size());
  if (link.starts_with('/')) return page.substr(0, path) + link;
  std::string folder = page.substr(0, std::max(page.rfind('/') + 1, path));
  std::string_view rest = link;
  while (rest.starts_with("../") || rest.starts_with("./")) {
    const bool up = rest.starts_with("../");
    rest.remove_prefix(up ? 3 : 2);
    if (up && folder.size() > path + 1) folder.resize(folder.rfind('/', folder.size() - 2) + 1);
  }
  return folder + std::string(rest);
}

std::vector<PackageFile> files_in(std::string_view body, const std::string& content_type,
                                  const std::string& package, const std::string& page) {
  std::vector<PackageFile> files;
  read_page(body, content_type, package, [&](const PageEntry& entry) {
    if (!is_ignored(entry.file))
      files.push_back({std::string(entry.file), absolute_url(page, entry.url), lower_case(entry.sha256)});
  });
  return files;
}

std::vector<PackageFile> ask_files(const PipIndex& index, const std::string& package, Http& http,
                                   std::chrono::milliseconds pause) {
  const HttpAnswer answer = ask_page(index, package, http, pause);
  try {
    return files_in(answer.body, answer.header("content-type"), package,
                    fmt::format("{}/{}/", index.url, normalised(package)));
  } catch (Error& error) {
    throw error.while_doing("asking " + index.url);
  }
}

PackageReleases releases_in(std::string_view body, const std::string& content_type,
                            const std::string& package) {
  ReleaseCollector collector(package);
  read_page(body, content_type, package,
            [&](const PageEntry& entry) { collector.add(entry.file, entry.withdrawn, entry.date); });
  return collector.releases();
}

PackageReleases ask_releases(const PipIndex& index, const std::string& package, Http& http,
                             std::chrono::milliseconds pause) {
  const HttpAnswer answer = ask_page(index, package, http, pause);
  try {
    return releases_in(answer.body, answer.header("content-type"), package);
  } catch (Error& error) {
    throw error.while_doing("asking " + index.url);
  }
}

}  // namespace kiln
