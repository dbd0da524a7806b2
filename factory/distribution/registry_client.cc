#include "factory/distribution/registry_client.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "factory/base/text.h"
#include "factory/distribution/registry_answer.h"
#include "factory/oci/registry_call.h"

namespace kiln {
namespace {

constexpr int kMostHops = 5;

// 400 and 415 for what it holds or for its type; registries have no code of their own for that.
bool is_no_such_manifest(const HttpAnswer& answer) {
  const std::string code = error_code_in(answer);
  return answer.status == 405 || answer.status == 415 || answer.status == 422 || answer.status == 501 ||
         code == "UNSUPPORTED" || code == "MANIFEST_INVALID" || (answer.status == 400 && code.empty());
}

}  // namespace

RegistryClient::RegistryClient(RegistryAccess access) : access_(std::move(access)) {}

std::string RegistryClient::url(const std::string& repository, const std::string& rest) const {
  return fmt::format("{}/v2/{}/{}", access_.address.url(), repository, rest);
}

// --- asking

bool RegistryClient::is_of_registry(const std::string& url) const {
  return is_same_origin(url, access_.address.url());
}

// The one way out. What the registry names elsewhere (a token server, a store) may be no address of this
// machine, unless the registry is.
HttpAnswer RegistryClient::send(HttpRequest request) {
  const bool is_own = is_of_registry(request.url);
  const bool may_be_local = is_own || is_local_ || is_local_host(host_of_url(access_.address.url()));
  request.is_foreign = !may_be_local;
  if (request.is_foreign && is_local_host(host_of_url(request.url)))
    throw HttpFailure{fmt::format("the registry sends us to {}, an address of this machine or its link",
                                  host_of_url(request.url)),
                      false};
  HttpAnswer answer = access_.http.send(request);
  if (is_own) is_local_ = answer.is_local;
  return answer;
}

// GET and HEAD are led on by Http; what is written, only where a registry says that it is to be written again
// there (307, 308), and without our name at another host.
HttpAnswer RegistryClient::send_on(HttpRequest request) {
  HttpAnswer answer = send(request);
  for (int hops = 0; hops < kMostHops && (answer.status == 307 || answer.status == 308); ++hops) {
    const std::string location = answer.header("location");
    if (location.empty() || request.method == "GET" || request.method == "HEAD") break;
    request.url = resolved_url(request.url, location);
    if (!is_of_registry(request.url))
      std::erase_if(request.headers, [](const auto& header) { return header.first == "Authorization"; });
    answer = send(request);
  }
  return answer;
}

HttpAnswer RegistryClient::try_once(const Question& question) {
  HttpRequest request = question.request;
  // Uploads may go to a store elsewhere, whose address holds what lets us in: it is not told who asks.
  if (!is_of_registry(request.url)) return send_on(std::move(request));
  std::string who = authorization(question.repository);
  if (!who.empty()) request.headers.emplace_back("Authorization", who);
  HttpAnswer answer = send_on(std::move(request));
  // A token's time may be over. What another thread has by now need not be for this request.
  for (bool is_own = false; answer.status == 401 && !is_own;) {
    {
      const std::lock_guard one_at_a_time(login_);
      const std::string now = authorization(question.repository);
      is_own = now.empty() || now == who;
      who = is_own ? log_in(question, answer) : now;
    }
    request = question.request;
    request.headers.emplace_back("Authorization", who);
    answer = send_on(std::move(request));
  }
  return answer;
}

std::string RegistryClient::authorization(const std::string& repository) const {
  const std::lock_guard lock(mutex_);
  return value_or(authorization_, repository);
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
                fmt::format("{}, and it asks kiln to wait {:.0f} s (Retry-After), longer than the "
                            "{:.0f} s that kiln waits",
                            why, delay, kLongestWait),
                "try again later");
  if (access_.tell)
    access_.tell(fmt::format("{}; try {} of {} in {:.1f} s", why, tries + 1, access_.retries + 1, delay));
  access_.wait(std::chrono::milliseconds(static_cast<std::int64_t>(std::ceil(delay * 1000))));
}

HttpAnswer RegistryClient::ask(const Question& question) {
  return persist(question, [&] { return try_once(question); });
}

std::string RegistryClient::refusal(const Question& question, const HttpAnswer& answer) const {
  return fmt::format("{}/{}: {}: {}", access_.address.host, question.repository, question.what,
                     said_by(answer));
}

void RegistryClient::refuse(const Question& question, const HttpAnswer& answer) const {
  std::string hint;
  if (answer.status == 401) hint = fmt::format("log in: `skopeo login {}`", access_.address.host);
  if (answer.status == 403)
    hint = fmt::format("the registry decides who may write to {}; to use another user, run `skopeo login {}`",
                       question.repository, access_.address.host);
  if (is_full(answer)) hint = "the registry has no space left";
  throw Error(ExitCode::network, refusal(question, answer), hint);
}

// --- logins

// What is sent with all that is asked of its repository from now on.
std::string RegistryClient::log_in(const Question& question, const HttpAnswer& refusal) {
  const std::string& repository = question.repository;
  const std::optional<Credentials> who = access_.credentials ? access_.credentials(repository) : std::nullopt;
  const Challenge challenge = challenge_in(refusal);
  std::string authorization;
  if (challenge.is_bearer)
    authorization = "Bearer " + token(question, challenge, who ? &*who : nullptr);
  else if (who && !who->user.empty())
    authorization = basic_authorization(*who);
  else
    throw Error(ExitCode::network,
                fmt::format("{} asks for a login, and no file has one for it", access_.address.host),
                fmt::format("log in: `skopeo login {}`", access_.address.host));
  const std::lock_guard lock(mutex_);
  authorization_[repository] = authorization;
  return authorization;
}

// distribution's token protocol: docs/spec/auth/token.md, and oauth.md for identity tokens.
std::string RegistryClient::token(const Question& refused, const Challenge& challenge,
                                  const Credentials* who) {
  Question question{refused.repository, "a token", {}};
  if (challenge.realm.empty())
    throw Error(ExitCode::network,
                fmt::format("{} requests a token, but names no server for it", access_.address.host));
  const std::string realm = resolved_url(refused.request.url, challenge.realm);
  // Request the right to delete only for a DELETE.
  std::string scope = fmt::format("repository:{}:pull,push{}", refused.repository,
                                  refused.request.method == "DELETE" ? ",delete" : "");
  if (!refused.from.empty()) scope += fmt::format(" repository:{}:pull", refused.from);
  if (who != nullptr && !who->identity_token.empty()) {
    question.request = {"POST", realm, {{"Content-Type", "application/x-www-form-urlencoded"}}};
    question.request.body =
        fmt::format("grant_type=refresh_token&client_id=kiln&service={}&scope={}&refresh_token={}",
                    in_query(challenge.service), in_query(scope), in_query(who->identity_token));
  } else {
    const char first = contains(realm, '?') ? '&' : '?';
    question.request = {"GET", fmt::format("{}{}service={}&scope={}", realm, first,
                                           in_query(challenge.service), in_query(scope))};
    if (who != nullptr) question.request.headers.emplace_back("Authorization", basic_authorization(*who));
  }
  if (access_.address.secure && !lower_case(realm).starts_with("https://"))
    throw Error(ExitCode::network, fmt::format("{} names the token server {}, whose address is not encrypted",
                                               access_.address.host, realm));
  const HttpAnswer answer = persist(question, [&] { return send(question.request); });
  if (answer.status != 200) refuse(question, answer);
  return token_in(answer);
}

// --- manifests

// A registry that is in trouble says 500 to all, and to this again and again only for a tag that is broken.
HttpAnswer RegistryClient::read_manifest(const Question& question, const std::string& reference) {
  Question asked = question;
  asked.of_a_link = !contains(reference, ':');
  HttpAnswer answer = ask(asked);
  if (!asked.of_a_link || answer.status != 500) return answer;
  const auto listed = tags(question.repository);
  if (!listed || !std::ranges::binary_search(*listed, reference)) return ask(question);
  if (access_.tell)
    access_.tell(fmt::format("{}/{}:{}: the registry has the tag, and cannot read it: {}",
                             access_.address.host, question.repository, reference, said_by(answer)));
  throw BrokenTag{refusal(asked, answer)};
}

std::optional<Digest> RegistryClient::resolve(const std::string& repository, const std::string& reference) {
  const Question question{repository,
                          "looking for " + reference,
                          {"HEAD", url(repository, "manifests/" + reference), {{"Accept", kManifestTypes}}}};
  const HttpAnswer answer = read_manifest(question, reference);
  if (answer.status == 404) return std::nullopt;
  if (answer.status == 401 || answer.status == 403) refuse(question, answer);
  if (answer.status == 200)
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
  const std::string type = answer.header("content-type");
  RemoteManifest found{type.substr(0, type.find_first_of("; ")), Digest::of(answer.body),
                       std::move(answer.body)};
  const auto named = digest_in(reference);
  if (named && found.digest != *named)
    throw Error(ExitCode::network,
                fmt::format("{}/{}: asked for the manifest {}, got {}", access_.address.host, repository,
                            named->text(), found.digest.text()));
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
  try {
    return write_manifest(question).status != 412;
  } catch (const RefusedManifest&) {
    question.request.headers.pop_back();  // it may not know the condition, and refuses what it does not know
    return write_manifest(question).status != 412;
  }
}

// A success, or 412 for a condition that does not hold. Throws what put_manifest does.
HttpAnswer RegistryClient::write_manifest(const Question& question) {
  HttpAnswer answer = ask(question);
  if (answer.status == 400 || answer.status == 404) {
    const std::string code = error_code_in(answer);
    if (has_empty_link(answer) || code == "MANIFEST_BLOB_UNKNOWN" || code == "BLOB_UNKNOWN")
      throw MissingBlob{refusal(question, answer)};
  }
  if (is_no_such_manifest(answer)) throw RefusedManifest{refusal(question, answer)};
  if (!succeeded(answer) && answer.status != 412) refuse(question, answer);
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
  const bool is_tag = !contains(reference, ':');
  if (answer.status == 405 || (is_tag && answer.status == 400)) return Deletion::unsupported;
  refuse(question, answer);
}

// --- lists

std::optional<std::vector<std::string>> RegistryClient::tags(const std::string& repository) {
  std::set<std::string> found, asked;
  std::string next = url(repository, "tags/list");
  // A registry that leads in a circle, or does not know where a page begins, has an end as well.
  while (!next.empty() && asked.insert(next).second && asked.size() <= kMostPages) {
    const Question question{repository, "reading its tags", {"GET", next, {}, "", "", 64u << 20}};
    const HttpAnswer answer = ask(question);
    if (answer.status == 404) return std::nullopt;
    if (answer.status != 200) refuse(question, answer);
    std::vector<std::string> page = tags_in(answer.body, next);
    const std::size_t before = found.size();
    found.insert(page.begin(), page.end());
    if (!page.empty() && found.size() == before) break;
    const std::string link = next_page(answer);
    next = link.empty() ? "" : resolved_url(next, link);
    if (!next.empty() && !is_of_registry(next))
      throw Error(ExitCode::network,
                  fmt::format("{}: its list of tags continues at {}", url(repository, ""), next));
  }
  return std::vector<std::string>(found.begin(), found.end());
}

}  // namespace kiln
