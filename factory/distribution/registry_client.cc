#include "factory/distribution/registry_client.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <exception>
#include <nlohmann/json.hpp>

#include "factory/base/text.h"
#include "factory/distribution/registry_answer.h"
#include "factory/oci/backoff.h"

namespace kiln {
namespace {

// Debian's registry says 404 to whoever does not name the type that it has.
constexpr const char* kManifestTypes =
    "application/vnd.oci.image.manifest.v1+json, application/vnd.oci.image.index.v1+json, "
    "application/vnd.docker.distribution.manifest.v2+json, "
    "application/vnd.docker.distribution.manifest.list.v2+json";

constexpr std::uint64_t kMostManifest = 8u << 20;  // the specification wants registries to take 4 MiB

constexpr int kTriesOfATag = 2;  // after the first, before it is taken for a broken one

}  // namespace

// What is to be sent, and how its failure is told.
struct RegistryClient::Question {
  std::string repository;
  std::string what;  // "the manifest of 2.1-distro-haswell"
  HttpRequest request;
  bool of_a_tag = false;  // a tag is to be read: a 500 may be the tag's own
  std::string from{};     // another repository that is read
};

RegistryClient::RegistryClient(RegistryAccess access) : access_(std::move(access)) {}

std::string RegistryClient::url(const std::string& repository, const std::string& rest) const {
  return fmt::format("{}/v2/{}/{}", access_.address.url(), repository, rest);
}

// --- asking

bool RegistryClient::is_of_registry(const std::string& url) const {
  return url.starts_with(access_.address.url() + "/");
}

HttpAnswer RegistryClient::try_once(const Question& question) {
  HttpRequest request = question.request;
  // Uploads may go to a store elsewhere, whose address holds what lets us in: it is not told who asks.
  if (!is_of_registry(request.url)) return access_.http.send(request);
  auto known = authorization_.find(question.repository);
  const bool named = known != authorization_.end() && !known->second.empty();
  if (named) request.headers.emplace_back("Authorization", known->second);
  HttpAnswer answer = access_.http.send(request);
  if (answer.status != 401) return answer;
  log_in(question, answer);  // a token's time may be over
  request = question.request;
  request.headers.emplace_back("Authorization", authorization_.at(question.repository));
  return access_.http.send(request);
}

void RegistryClient::wait_before(int tries, const std::string& what, const std::string& retry_after,
                                 const Question& question) {
  const auto asked = seconds_until(retry_after, access_.clock.unix_seconds());
  const double delay = asked.value_or(backoff(tries));
  std::string why = fmt::format("{}: {}: {}", access_.address.host, question.what, what);
  if (tries > access_.retries)
    throw Error(ExitCode::network, fmt::format("{}; tried {} times", why, tries), "try again later");
  if (delay > kLongestWait)
    throw Error(ExitCode::network,
                fmt::format("{}, and it asks to be left alone for {:.0f} s (Retry-After), longer than the "
                            "{:.0f} s that kiln waits",
                            why, delay, kLongestWait),
                "try again later");
  if (access_.tell)
    access_.tell(fmt::format("{}; try {} of {} in {:.1f} s", why, tries + 1, access_.retries + 1, delay));
  access_.wait(std::chrono::milliseconds(static_cast<std::int64_t>(std::ceil(delay * 1000))));
}

template <typename Attempt>
HttpAnswer RegistryClient::persist(const Question& question, const Attempt& attempt) {
  for (int tries = 1;; ++tries) {
    try {
      HttpAnswer answer = attempt();
      if (!passes(answer)) return answer;
      if (question.of_a_tag && answer.status == 500 && tries > std::min(kTriesOfATag, access_.retries))
        return answer;
      wait_before(tries, said_by(answer), answer.header("retry-after"), question);
    } catch (const HttpFailure& failure) {
      if (!failure.may_pass) {
        throw Error(ExitCode::network,
                    fmt::format("{}: {}: {}", access_.address.host, question.what, failure.what));
      }
      wait_before(tries, failure.what, "", question);
    }
  }
}

HttpAnswer RegistryClient::ask(const Question& question) {
  return persist(question, [&] { return try_once(question); });
}

void RegistryClient::refuse(const Question& question, const HttpAnswer& answer) const {
  std::string hint;
  if (answer.status == 401) hint = fmt::format("log in: `skopeo login {}`", access_.address.host);
  if (answer.status == 403)
    hint = fmt::format("who may write to {} is decided there; `skopeo login {}` says who asks",
                       question.repository, access_.address.host);
  if (is_full(answer)) hint = "the registry has no space left";
  throw Error(
      ExitCode::network,
      fmt::format("{}/{}: {}: {}", access_.address.host, question.repository, question.what, said_by(answer)),
      hint);
}

// --- logins

void RegistryClient::log_in(const Question& question, const HttpAnswer& refusal) {
  const std::string& repository = question.repository;
  const std::optional<Credentials> who = access_.credentials ? access_.credentials(repository) : std::nullopt;
  const Challenge challenge = challenge_in(refusal);
  std::string& authorization = authorization_[repository];
  if (challenge.is_bearer)
    authorization = "Bearer " + token(question, challenge, who ? &*who : nullptr);
  else if (who && !who->user.empty())
    authorization = basic_authorization(*who);
  else
    throw Error(ExitCode::network,
                fmt::format("{} wants to know who we are, and no file says it", access_.address.host),
                fmt::format("log in: `skopeo login {}`", access_.address.host));
}

// distribution's token protocol: docs/spec/auth/token.md, and oauth.md for identity tokens.
std::string RegistryClient::token(const Question& refused, const Challenge& challenge,
                                  const Credentials* who) {
  Question question{refused.repository, "a token", {}};
  // Nobody is let to delete who does not have to.
  std::string scope = fmt::format("repository:{}:pull,push{}", refused.repository,
                                  refused.request.method == "DELETE" ? ",delete" : "");
  if (!refused.from.empty()) scope += fmt::format(" repository:{}:pull", refused.from);
  if (who != nullptr && !who->identity_token.empty()) {
    question.request = {"POST", challenge.realm, {{"Content-Type", "application/x-www-form-urlencoded"}}};
    question.request.body =
        fmt::format("grant_type=refresh_token&client_id=kiln&service={}&scope={}&refresh_token={}",
                    in_query(challenge.service), in_query(scope), in_query(who->identity_token));
  } else {
    const char first = challenge.realm.find('?') == std::string::npos ? '?' : '&';
    question.request = {"GET", fmt::format("{}{}service={}&scope={}", challenge.realm, first,
                                           in_query(challenge.service), in_query(scope))};
    if (who != nullptr) question.request.headers.emplace_back("Authorization", basic_authorization(*who));
  }
  if (access_.address.secure && !challenge.realm.starts_with("https://"))
    throw Error(ExitCode::network, fmt::format("{} sends us to {} for a token, which is not encrypted",
                                               access_.address.host, challenge.realm));
  const HttpAnswer answer = persist(question, [&] { return access_.http.send(question.request); });
  if (answer.status != 200) refuse(question, answer);
  return token_in(answer);
}

// --- manifests

// A registry that is in trouble says 500 to all, and to this again and again only for a tag that is broken.
HttpAnswer RegistryClient::read_manifest(const Question& question, const std::string& reference) {
  Question asked = question;
  asked.of_a_tag = reference.find(':') == std::string::npos;
  HttpAnswer answer = ask(asked);
  if (!asked.of_a_tag || answer.status != 500) return answer;
  const auto listed = tags(question.repository);
  if (!listed || !std::binary_search(listed->begin(), listed->end(), reference)) return ask(question);
  if (access_.tell)
    access_.tell(fmt::format("{}/{}:{}: the registry has the tag, and cannot read it: {}",
                             access_.address.host, question.repository, reference, said_by(answer)));
  throw BrokenTag{said_by(answer)};
}

std::optional<Digest> RegistryClient::resolve(const std::string& repository, const std::string& reference) {
  const Question question{repository,
                          "looking for " + reference,
                          {"HEAD", url(repository, "manifests/" + reference), {{"Accept", kManifestTypes}}}};
  const HttpAnswer answer = read_manifest(question, reference);
  if (answer.status == 404) return std::nullopt;
  if (answer.status != 200) refuse(question, answer);
  if (auto digest = digest_in(answer.header("docker-content-digest"))) return digest;
  const auto whole = manifest(repository, reference);  // the header is a SHOULD
  return whole ? std::optional(whole->digest) : std::nullopt;
}

std::optional<RemoteManifest> RegistryClient::manifest(const std::string& repository,
                                                       const std::string& reference) {
  Question question{repository,
                    "reading " + reference,
                    {"GET", url(repository, "manifests/" + reference), {{"Accept", kManifestTypes}}}};
  question.request.most = kMostManifest;
  HttpAnswer answer = read_manifest(question, reference);
  if (answer.status == 404) return std::nullopt;
  if (answer.status != 200) refuse(question, answer);
  RemoteManifest found{answer.header("content-type"), Digest::of(answer.body), std::move(answer.body)};
  const auto named = digest_in(reference);
  if (named && found.digest != *named)
    throw Error(ExitCode::network, fmt::format("{}/{}: what lies there as {} is {}", access_.address.host,
                                               repository, named->text(), found.digest.text()));
  return found;
}

bool RegistryClient::put_manifest(const std::string& repository, const std::string& reference,
                                  const std::string& media_type, const std::string& bytes) {
  Question question{repository,
                    "writing " + reference,
                    {"PUT", url(repository, "manifests/" + reference), {{"Content-Type", media_type}}}};
  question.request.body = bytes;
  return !write_manifest(question).header("oci-subject").empty();
}

bool RegistryClient::move_tag(const std::string& repository, const std::string& tag,
                              const std::optional<Digest>& from, const std::string& media_type,
                              const std::string& bytes) {
  Question question{repository,
                    "moving " + tag,
                    {"PUT", url(repository, "manifests/" + tag), {{"Content-Type", media_type}}}};
  question.request.headers.emplace_back(from ? "If-Match" : "If-None-Match",
                                        from ? fmt::format("\"{}\"", from->text()) : "*");
  question.request.body = bytes;
  return write_manifest(question).status != 412;
}

// 201, or 412 for a condition that does not hold. Throws what put_manifest does.
HttpAnswer RegistryClient::write_manifest(const Question& question) {
  HttpAnswer answer = ask(question);
  if (answer.status == 400 || answer.status == 404) {
    const std::string code = error_code_in(answer);
    if (code == "MANIFEST_BLOB_UNKNOWN" || code == "BLOB_UNKNOWN") throw MissingBlob{said_by(answer)};
  }
  if (answer.status != 201 && answer.status != 202 && answer.status != 412) refuse(question, answer);
  return answer;
}

RegistryClient::Deletion RegistryClient::delete_manifest(const std::string& repository,
                                                         const std::string& reference) {
  const Question question{
      repository, "deleting " + reference, {"DELETE", url(repository, "manifests/" + reference)}};
  const HttpAnswer answer = ask(question);
  if (answer.status == 202 || answer.status == 200 || answer.status == 204) return Deletion::done;
  if (answer.status == 404) return Deletion::absent;
  // distribution-spec, "Deleting tags": 400 or 405. Debian's registry takes a tag for a wrong digest.
  const bool is_tag = reference.find(':') == std::string::npos;
  if (answer.status == 405 || (is_tag && answer.status == 400)) return Deletion::unsupported;
  refuse(question, answer);
}

// --- blobs

std::optional<std::uint64_t> RegistryClient::blob_size(const std::string& repository, const Digest& digest) {
  const Question question{
      repository, "looking for " + digest.text(), {"HEAD", url(repository, "blobs/" + digest.text())}};
  const HttpAnswer answer = ask(question);
  if (answer.status == 404) return std::nullopt;
  if (answer.status != 200) refuse(question, answer);
  return number_in(answer.header("content-length"));
}

std::optional<std::string> RegistryClient::blob(const std::string& repository, const Digest& digest,
                                                std::uint64_t most) {
  std::string bytes;
  Question question{
      repository, "reading " + digest.text(), {"GET", url(repository, "blobs/" + digest.text())}};
  question.request.take = [&](std::string_view piece) {
    bytes += piece;
    return bytes.size() <= most;
  };
  const HttpAnswer answer = persist(question, [&] {
    bytes.clear();
    return try_once(question);
  });
  if (answer.status == 404) return std::nullopt;
  if (answer.status != 200) refuse(question, answer);
  if (bytes.size() > most)
    throw Error(ExitCode::store, fmt::format("{} has more than {} bytes there", digest.text(), most));
  if (Digest::of(bytes) != digest)
    throw Error(ExitCode::store, fmt::format("{} does not have its bytes there", digest.text()));
  return bytes;
}

bool RegistryClient::fetch_blob(const std::string& repository, const Descriptor& blob,
                                const BlobStore& store) {
  std::optional<BlobStore::Writer> writer;
  std::uint64_t size = 0;
  std::exception_ptr problem;  // of the disk: libcurl cannot carry it
  Question question{
      repository, "fetching " + blob.digest.text(), {"GET", url(repository, "blobs/" + blob.digest.text())}};
  question.request.take = [&](std::string_view piece) {
    size += piece.size();
    if (size > blob.size) return false;
    try {
      writer->write(piece.data(), piece.size());
    } catch (...) {
      problem = std::current_exception();
    }
    return problem == nullptr;
  };
  const HttpAnswer answer = persist(question, [&] {
    writer.reset();
    writer.emplace(store.writer());
    size = 0;
    return try_once(question);
  });
  if (problem) std::rethrow_exception(problem);
  if (answer.status == 404) return false;
  if (answer.status != 200) refuse(question, answer);
  if (size != blob.size)
    throw Error(ExitCode::store,
                fmt::format("{} has {}{} of {} bytes there", blob.digest.text(),
                            size > blob.size ? "more than " : "", std::min(size, blob.size), blob.size));
  writer->commit(blob.media_type, blob.digest);
  return true;
}

bool RegistryClient::mount_blob(const std::string& repository, const Digest& digest,
                                const std::string& from) {
  const Question question{repository,
                          fmt::format("mounting {} of {}", digest.text(), from),
                          {"POST", url(repository, fmt::format("blobs/uploads/?mount={}&from={}",
                                                               digest.text(), in_query(from)))},
                          false,
                          from};
  const HttpAnswer answer = ask(question);
  if (answer.status == 202) {  // an upload began in its place, which nobody needs
    Question leave{repository, "leaving an upload", {"DELETE", absolute(answer.header("location"))}};
    (void)try_once(leave);
    return false;
  }
  return answer.status == 201;
}

std::string RegistryClient::absolute(const std::string& location) const {
  if (location.find("://") != std::string::npos) return location;
  return access_.address.url() + (location.starts_with('/') ? "" : "/") + location;
}

// Begun again from its start where it breaks: what a broken one has left is not to be trusted.
void RegistryClient::send_blob(const std::string& repository, const Digest& digest, HttpRequest body) {
  Question question{repository, "sending " + digest.text(), {"POST", url(repository, "blobs/uploads/")}};
  body.method = "PUT";
  body.headers.emplace_back("Content-Type", "application/octet-stream");
  const HttpAnswer answer = persist(question, [&] {
    HttpAnswer begun = try_once(question);
    const std::string location = begun.header("location");
    if (begun.status != 202 || location.empty()) return begun;
    body.url = absolute(location);
    body.url += (body.url.find('?') == std::string::npos ? "?digest=" : "&digest=") + in_query(digest.text());
    return try_once({repository, question.what, body});
  });
  if (error_code_in(answer) == "DIGEST_INVALID") throw WrongDigest{said_by(answer)};
  if (answer.status != 201 && answer.status != 204) refuse(question, answer);
}

void RegistryClient::put_blob(const std::string& repository, const Descriptor& blob, const fs::path& file) {
  send_blob(repository, blob.digest, {"PUT", "", {}, "", file});
}

void RegistryClient::put_blob(const std::string& repository, const std::string& bytes) {
  send_blob(repository, Digest::of(bytes), {"PUT", "", {}, bytes});
}

// --- lists

std::optional<std::vector<std::string>> RegistryClient::tags(const std::string& repository) {
  std::vector<std::string> found;
  std::string next = url(repository, "tags/list");
  for (int page = 0; !next.empty() && page < kMostPages; ++page) {
    const Question question{repository, "reading its tags", {"GET", next, {}, "", "", 64u << 20}};
    const HttpAnswer answer = ask(question);
    if (answer.status == 404) return std::nullopt;
    if (answer.status != 200) refuse(question, answer);
    for (std::string& tag : tags_in(answer.body, next)) found.push_back(std::move(tag));
    next = next_page(answer);
    if (!next.empty()) next = absolute(next);
    if (!next.empty() && !is_of_registry(next))
      throw Error(ExitCode::network,
                  fmt::format("{}: its list of tags goes on at {}", url(repository, ""), next));
  }
  std::sort(found.begin(), found.end());
  return found;
}

}  // namespace kiln
