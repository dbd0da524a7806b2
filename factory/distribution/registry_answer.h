// Requests of RegistryClient and answers of registries: errors, challenges, lists. Only for the files of
// RegistryClient.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "factory/base/digest.h"
#include "factory/distribution/credentials.h"
#include "factory/distribution/http.h"
#include "factory/distribution/registry_client.h"

namespace kiln {

inline constexpr std::size_t kMostPages = 10'000;  // of a list, before its registry is taken for a mad one

// 429, 5xx but for a full disk, and a blob whose link is empty: it may go well at another time.
bool passes(const HttpAnswer& answer);
// A manifest was refused because one of its blobs has an empty link. docker-registry before 3.1 empties the
// link and then writes it (PutContent of its file-system driver). So the link is empty for a moment while
// another program sends the same blob, and stays empty if the registry was killed then.
bool has_empty_link(const HttpAnswer& answer);
bool is_full(const HttpAnswer& answer);
// "403 DENIED: requested access to the resource is denied", in one line; bodies may be anything.
std::string said_by(const HttpAnswer& answer);
std::string error_code_in(const HttpAnswer& answer);  // the first; "" for a body without one

// The login that a 401 requests.
struct Challenge {
  bool is_bearer = false;  // else Basic
  std::string realm, service;
};
Challenge challenge_in(const HttpAnswer& answer);
std::string basic_authorization(const Credentials& who);
// Throws Error(network) if the token is missing, or has characters that a header cannot contain.
std::string token_in(const HttpAnswer& answer);
std::string in_query(std::string_view text);  // percent-encoded, RFC 3986

std::optional<Digest> digest_in(const std::string& text);  // nullopt: an unknown algorithm or no digest
std::string next_page(const HttpAnswer& answer);           // of its Link headers, as written; "" for none
// Throws Error(network): it is no list of tags.
std::vector<std::string> tags_in(const std::string& body, const std::string& url);

// Debian's registry says 404 to a request that does not name the type that it has.
inline constexpr const char* kManifestTypes =
    "application/vnd.oci.image.manifest.v1+json, application/vnd.oci.image.index.v1+json, "
    "application/vnd.docker.distribution.manifest.v2+json, "
    "application/vnd.docker.distribution.manifest.list.v2+json";

inline constexpr std::uint64_t kMostManifest = 8u << 20;  // specified: at least 4 MiB

inline constexpr int kTriesOfALink = 2;  // after the first, before it is taken for a broken one

// Registries answer 200 as well where the specification says 201.
inline bool succeeded(const HttpAnswer& answer) { return answer.status / 100 == 2; }

inline bool knows_no_head(const HttpAnswer& answer) { return answer.status == 405 || answer.status == 501; }

// A request, and the words for its failure.
struct RegistryClient::Question {
  std::string repository;
  std::string what;  // "the manifest of 2.1-distro-haswell"
  HttpRequest request;
  bool of_a_link = false;  // a tag or a blob is looked for: a 500 may be about its link alone
  std::string from{};      // another repository that is read
};

template <typename Attempt>
HttpAnswer RegistryClient::persist(const Question& question, const Attempt& attempt) {
  for (int tries = 1;; ++tries) {
    try {
      HttpAnswer answer = attempt();
      if (!passes(answer)) return answer;
      const bool is_of_link = (question.of_a_link && answer.status == 500) || has_empty_link(answer);
      if (is_of_link && tries > std::min(kTriesOfALink, access_.retries)) return answer;
      wait_before(tries, said_by(answer), answer.header("retry-after"), question);
    } catch (const HttpFailure& failure) {
      if (!failure.may_pass) {
        throw Error(ExitCode::network,
                    fmt::format("{}: {}: {}", access_.address.host, question.what, failure.message()));
      }
      wait_before(tries, failure.message(), "", question);
    }
  }
}

}  // namespace kiln
