#include "registry/serve/service.h"

#include <fmt/format.h>
#include <malloc.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "factory/base/error.h"
#include "factory/base/text.h"
#include "factory/os/process_memory.h"

namespace kiln {
namespace {

constexpr std::string_view kBearer = "bearer ";
constexpr std::chrono::milliseconds kWrongTokenDelay{1000};
constexpr std::chrono::milliseconds kWholePatience{100};
constexpr double kGlance = 0.001;  // seconds for which a look at the index's file is good

bool is_json(std::string_view type) {
  const std::string media = lower_case(trimmed(type.substr(0, type.find(';'))));
  return media.empty() || media == "application/json" || media.ends_with("+json");
}

bool is_coded(const ReceivedRequest& request) {
  const std::string coding = lower_case(request.header("content-encoding"));
  return !coding.empty() && coding != "identity";
}

// RFC 9110, section 15.5.16: the header says which codings are taken.
HttpResponse refuse_coding(const ReceivedRequest& request, ErrorStyle style) {
  HttpResponse response = plain_error(
      415, fmt::format("the body has the Content-Encoding '{}'", request.header("content-encoding")),
      "send it as it is", style);
  response.headers.emplace_back("Accept-Encoding", "identity");
  return response;
}

// RFC 9110, section 13.1.2: a list of tags, weak or not.
bool names_tag(std::string_view list, std::string_view tag) {
  if (list.empty()) return false;
  for (std::string_view one : split(list, ',')) {
    one = trimmed(one);
    if (one.starts_with("W/")) one.remove_prefix(2);
    if (one == tag) return true;
  }
  return false;
}

// All of a request that an answer depends on.
std::string cache_key(const ReceivedRequest& request) {
  std::string key;
  key.reserve(request.raw_target.size() + request.body.size() + 8);
  key += request.method == "POST" ? 'P' : 'G';
  key += request.raw_target;
  key += '\n';
  return key += request.body;
}

std::string tag_text(const IndexIdentity& index, std::int64_t snapshot) {
  const std::string file =
      fmt::format("{} {} {} {}", index.device, index.inode, index.size, index.changed_ns);
  return fmt::format("\"{}-{}\"", snapshot, Digest::of(file).hex().substr(0, 12));
}

bool may_be_kept(int status) { return status < 500; }

void add_common_headers(HttpResponse& response) {
  response.headers.emplace_back("X-Content-Type-Options", "nosniff");
  for (const auto& [name, value] : response.headers)
    if (name == "Cache-Control") return;
  response.headers.emplace_back("Cache-Control", "no-store");
}

}  // namespace

Service::Service(ServeSettings settings, MappingWriter write, const Clock& clock, PageMaker pages)
    : write_(std::move(write)),
      pages_(std::move(pages)),
      clock_(clock),
      held_(std::make_unique<Held>(std::move(settings))) {}

void Service::change(ServeSettings settings) {
  auto next = std::make_unique<Held>(std::move(settings));
  const std::lock_guard turn(turn_);
  change_waits_ = true;
  const std::unique_lock alone(changing_);
  change_waits_ = false;
  held_ = std::move(next);
  cache_.clear();
  const std::lock_guard held(tag_lock_);
  glanced_ = -1;
  tag_ = {};
}

std::shared_lock<std::shared_mutex> Service::together() {
  // Readers alone, one after the other, would keep a change waiting for ever.
  if (change_waits_) const std::lock_guard after_it(turn_);
  return std::shared_lock(changing_);
}

std::string Service::today() const { return rfc3339(clock_.unix_seconds()).substr(0, 10); }

void Service::write_demand() {
  const auto unchanged = together();
  demand_.write(held_->chooser.paths().state, today());
}

HttpResponse Service::answer(const ReceivedRequest& request) {
  const auto unchanged = together();
  const double begin = clock_.monotonic_seconds();
  const RouteMatch match = find_route(request);
  HttpResponse response;
  try {
    response = routed(request, match);
  } catch (const std::exception& exception) {
    response = error_response(unexpected_error(exception), match.style);
  }
  const bool is_read = request.method == "GET" || request.method == "HEAD";
  if (is_read && response.status == 200 && trimmed(request.header("if-none-match")) == "*")
    response.status = 304;
  add_common_headers(response);
  const bool is_nothing = match.route == nullptr || (match.route->name == "page" && response.status == 404);
  metrics_.count(is_nothing ? "none" : match.route->name, response.status,
                 clock_.monotonic_seconds() - begin);
  return response;
}

HttpResponse Service::routed(const ReceivedRequest& request, const RouteMatch& match) {
  if (match.route == nullptr && match.allow.empty()) return nothing_here(match.style);
  if (match.route == nullptr) {
    HttpResponse response =
        plain_error(405, request.method + " is not for this path", "it takes " + match.allow, match.style);
    response.headers.emplace_back("Allow", match.allow);
    return response;
  }
  if (match.route->method == "POST" && !is_json(request.header("content-type")))
    return plain_error(415, "the body must be JSON", "Content-Type: application/json", match.style);
  if (is_coded(request)) return refuse_coding(request, match.style);
  check_parameters(*match.route, request);
  if (match.route->writes)
    if (auto refused = refuse_writer(request)) return *std::move(refused);
  if (match.route->endpoint == nullptr) return metrics_response();
  return match.route->cached ? from_index(request, match) : from_endpoint(request, match);
}

std::optional<HttpResponse> Service::refuse_writer(const ReceivedRequest& request) {
  const std::string_view sent = request.header("authorization");
  const bool is_bearer = lower_case(sent.substr(0, kBearer.size())) == kBearer;
  if (is_bearer && held_->tokens.knows(trimmed(sent.substr(kBearer.size())))) return std::nullopt;
  HttpResponse response =
      plain_error(401, sent.empty() ? "writing requires a token" : "unknown token",
                  "Authorization: Bearer …; `kiln serve token` makes one", ErrorStyle::peer);
  if (!sent.empty()) {
    metrics_.count_wrong_token();
    if (wrong_tokens_.count(request.address, clock_.monotonic_seconds())) {
      response = plain_error(429, "too many wrong tokens from this address", "", ErrorStyle::peer);
      response.headers.emplace_back("Retry-After", std::to_string(WrongTokens::kWhile.count()));
      response.close = true;
    }
    response.delay = kWrongTokenDelay;
  }
  if (response.status == 401)
    response.headers.emplace_back("WWW-Authenticate", sent.empty()
                                                          ? R"(Bearer realm="kiln")"
                                                          : R"(Bearer realm="kiln", error="invalid_token")");
  return response;
}

HttpResponse Service::metrics_response() {
  ServeGauges gauges;
  if (counts_) gauges.http = counts_();
  gauges.snapshot = current_tag().snapshot;
  gauges.demand_waiting = demand_.size();
  gauges.cache_bytes = cache_.bytes();
  gauges.memory = memory_of_tree({::getpid(), true});
  gauges.tokens = held_->tokens.size();
  const std::string more = more_metrics_ ? more_metrics_() : "";
  return {200, metrics_.text(gauges) + more, "text/plain; version=0.0.4; charset=utf-8"};
}

EndpointAnswer Service::made(const ReceivedRequest& request, const RouteMatch& match) {
  const EndpointCall call{request, match.names, today()};
  const EndpointContext context{held_->chooser, demand_, write_, pages_, held_->site, write_site_};
  try {
    return match.route->endpoint(call, context);
  } catch (const std::exception& exception) {
    return {error_response(unexpected_error(exception), match.style)};
  }
}

HttpResponse Service::from_endpoint(const ReceivedRequest& request, const RouteMatch& match) {
  EndpointAnswer answer = made(request, match);
  if (match.route->writes) {  // whoever wrote sees it
    const std::lock_guard held(tag_lock_);
    glanced_ = -1;
  }
  return std::move(answer.response);
}

// Of the state before the answer is made: what is made of a newer one is then asked for again, and not the
// other way round.
Service::Tag Service::current_tag() {
  const double now = clock_.monotonic_seconds();
  {
    const std::shared_lock held(tag_lock_);
    if (glanced_ >= 0 && now - glanced_ < kGlance) return tag_;
  }
  Tag tag{held_->chooser.identity()};
  {
    const std::shared_lock held(tag_lock_);
    if (tag_.index == tag.index) tag = tag_;
  }
  if (tag.text.empty()) {
    held_->chooser.with_index([&](const Index& open) { tag.snapshot = open.current(); });
    tag.text = tag_text(tag.index, tag.snapshot);
  }
  const std::unique_lock alone(tag_lock_);
  if (now >= glanced_) {  // else somebody looked later, and was done before
    glanced_ = now;
    tag_ = tag;
  }
  return tag;
}

HttpResponse Service::from_index(const ReceivedRequest& request, const RouteMatch& match) {
  Tag tag = current_tag();
  EndpointAnswer answer = kept_or_made(request, match, tag);
  if (answer.demand) demand_.add(*answer.demand);
  HttpResponse& response = answer.response;
  response.headers.reserve(response.headers.size() + 4);
  if (response.status == 200) {
    if (request.method != "POST") {
      response.headers.emplace_back("Cache-Control", "no-cache");
      // The body stays: of it the transport sends the length, and no more.
      if (names_tag(request.header("if-none-match"), tag.text)) response.status = 304;
    }
    response.headers.emplace_back("ETag", std::move(tag.text));
  }
  response.headers.emplace_back("Kiln-Snapshot", std::to_string(tag.snapshot));
  return std::move(response);
}

// Several at once would take the memory of several, and all threads from those who ask for less.
EndpointAnswer Service::made_alone(const ReceivedRequest& request, const RouteMatch& match, const Tag& tag,
                                   const std::string& key) {
  const std::unique_lock alone(whole_, kWholePatience);
  if (!alone.owns_lock()) {
    HttpResponse busy = plain_error(503, "another request reads the whole index", "", match.style);
    busy.headers.emplace_back("Retry-After", "1");
    return {std::move(busy)};
  }
  if (auto kept = cache_.find(tag.index, key)) return *std::move(kept);  // made while we waited
  EndpointAnswer answer = made(request, match);
  ::malloc_trim(0);
  return answer;
}

EndpointAnswer Service::kept_or_made(const ReceivedRequest& request, const RouteMatch& match,
                                     const Tag& tag) {
  const std::string key = cache_key(request);
  auto kept = cache_.find(tag.index, key);
  metrics_.count_cache(kept.has_value());
  if (kept) return *std::move(kept);
  EndpointAnswer answer = match.route->whole ? made_alone(request, match, tag, key) : made(request, match);
  if (may_be_kept(answer.response.status)) cache_.put(tag.index, key, answer);
  return answer;
}

}  // namespace kiln
