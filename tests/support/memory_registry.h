// A registry's manifests and tags in memory, behind the requests that RegistryClient makes for them.
#pragma once

#include <fmt/format.h>

#include <functional>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "factory/base/digest.h"
#include "factory/base/json.h"
#include "factory/base/read_whole.h"
#include "factory/base/text.h"
#include "factory/distribution/http.h"

namespace kiln::testing {

class MemoryRegistry final : public Http {
 public:
  struct Repository {
    std::map<std::string, std::pair<std::string, std::string>> manifests;  // by digest: type, bytes
    std::map<std::string, std::string> tags;                               // digests
    std::map<std::string, std::string> blobs;                              // bytes by digest
  };

  // Its digest.
  Digest put(const std::string& repository, const std::string& bytes, const std::string& tag = "",
             const std::string& type = "application/vnd.oci.image.manifest.v1+json") {
    const Digest digest = Digest::of(bytes);
    repositories[repository].manifests[digest.text()] = {type, bytes};
    if (!tag.empty()) repositories[repository].tags[tag] = digest.text();
    return digest;
  }
  bool has(const std::string& repository, const Digest& digest) const {
    auto found = repositories.find(repository);
    return found != repositories.end() && found->second.manifests.contains(digest.text());
  }
  std::set<std::string> tags_of(const std::string& repository) const {
    std::set<std::string> tags;
    if (auto found = repositories.find(repository); found != repositories.end())
      for (const auto& [tag, digest] : found->second.tags) tags.insert(tag);
    return tags;
  }

  HttpAnswer send(const HttpRequest& request) override {
    const std::lock_guard lock(mutex_);
    requests.push_back(request.method + " " + request.url.substr(request.url.find("/v2/") + 4));
    if (before) before(requests.back());
    if (instead)
      if (auto answer = instead(request)) return *answer;
    const std::string path = requests.back().substr(request.method.size() + 1);
    if (const std::size_t list = path.find("/tags/list"); list != path.npos)
      return tags(path.substr(0, list));
    if (const std::size_t blobs = path.find("/blobs/"); blobs != path.npos)
      return blob(request, path.substr(0, blobs), path.substr(blobs + 7));
    const std::size_t manifests = path.find("/manifests/");
    const std::string repository = path.substr(0, manifests);
    const std::string reference = path.substr(manifests + 11);
    if (request.method == "PUT") {
      if (checks_blobs && lacks_part(repository, request.body))
        return {404, {}, R"({"errors":[{"code":"MANIFEST_BLOB_UNKNOWN","message":""}]})"};
      put(repository, request.body, reference.find(':') == reference.npos ? reference : "",
          request.headers.front().second);
      return {201, {}, ""};
    }
    if (request.method == "DELETE") return remove(repository, reference);
    return manifest(repository, reference, request.method == "HEAD");
  }

  std::map<std::string, Repository> repositories;
  std::set<std::string> broken;  // tags that it has and cannot read
  bool deletes = true, deletes_tags = true;
  bool checks_blobs = false;                                 // a manifest is refused without what it names
  std::vector<std::string> requests;                         // "DELETE ai/hello/manifests/sha256:…"
  std::function<void(const std::string& request)> before{};  // each
  std::function<std::optional<HttpAnswer>(const HttpRequest& request)> instead{};  // of its own answer

 private:
  bool lacks_part(const std::string& repository, const std::string& manifest) const {
    const Repository& of = repositories.at(repository);
    const Json read = Json::parse(manifest);
    auto lacks = [&](const Json& part) { return !of.blobs.contains(part.at("digest").get<std::string>()); };
    if (read.contains("config") && lacks(read.at("config"))) return true;
    for (const Json& layer : read.value("layers", Json::array()))
      if (lacks(layer)) return true;
    for (const Json& part : read.value("manifests", Json::array()))
      if (!of.manifests.contains(part.at("digest").get<std::string>())) return true;
    return false;
  }

  HttpAnswer tags(const std::string& repository) const {
    if (!repositories.contains(repository)) return {404, {}, ""};
    Json list = Json::array();
    for (const std::string& tag : tags_of(repository)) list.push_back(tag);
    return {200, {}, Json{{"tags", list}}.dump()};
  }

  // `rest`: "sha256:…", "uploads/" or "uploads/1?digest=sha256%3A…".
  HttpAnswer blob(const HttpRequest& request, const std::string& repository, const std::string& rest) {
    auto& blobs = repositories[repository].blobs;
    if (request.method == "POST")
      return {202, {{"location", fmt::format("/v2/{}/blobs/uploads/1", repository)}}, ""};
    if (request.method == "PUT") {
      const std::string hex = rest.substr(rest.size() - 64);
      const std::string bytes =
          request.file.empty() ? request.body : read_whole(request.file, 1u << 20).value();
      if (Digest::of(bytes).hex() != hex)
        return {400, {}, R"({"errors":[{"code":"DIGEST_INVALID","message":""}]})"};
      blobs["sha256:" + hex] = bytes;
      return {201, {}, ""};
    }
    auto found = blobs.find(rest);
    if (found == blobs.end()) return {404, {}, ""};
    if (request.take) (void)request.take(found->second);
    return {200, {{"content-length", std::to_string(found->second.size())}}, ""};
  }

  HttpAnswer manifest(const std::string& repository, const std::string& reference, bool head) const {
    auto found = repositories.find(repository);
    if (found == repositories.end()) return {404, {}, ""};
    if (broken.contains(reference)) return {500, {}, ""};
    auto tag = found->second.tags.find(reference);
    auto one = found->second.manifests.find(tag == found->second.tags.end() ? reference : tag->second);
    if (one == found->second.manifests.end()) return {404, {}, ""};
    return {200,
            {{"docker-content-digest", one->first}, {"content-type", one->second.first}},
            head ? "" : one->second.second};
  }

  HttpAnswer remove(const std::string& repository, const std::string& reference) {
    Repository& of = repositories[repository];
    if (!deletes) return {405, {}, ""};
    if (reference.find(':') == reference.npos) {
      if (!deletes_tags) return {400, {}, ""};
      return {of.tags.erase(reference) == 1 ? 202 : 404, {}, ""};
    }
    if (of.manifests.erase(reference) == 0) return {404, {}, ""};
    std::erase_if(of.tags, [&](const auto& tag) { return tag.second == reference; });
    return {202, {}, ""};
  }

  std::mutex mutex_;  // several threads may ask
};

}  // namespace kiln::testing
