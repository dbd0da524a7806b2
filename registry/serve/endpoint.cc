#include "registry/serve/endpoint.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <utility>

#include "factory/base/json_text.h"
#include "factory/base/text.h"

namespace kiln {
namespace {

Error no_index_yet() { return {ExitCode::locked, "there is no index yet: nothing was published"}; }

}  // namespace

const std::string* QueryParameters::find(std::string_view name) const {
  for (const auto& [key, value] : *query_)
    if (key == name) return &value;
  return nullptr;
}

std::int64_t QueryParameters::number(std::string_view name, std::int64_t otherwise, std::int64_t least,
                                     std::int64_t most) const {
  const std::string* text = find(name);
  if (text == nullptr) return otherwise;
  const auto number = as_number<std::int64_t>(*text);
  if (!number || *number < least || *number > most)
    throw Error(ExitCode::usage, fmt::format("expected a number from {} to {} for '{}'", least, most, name));
  return *number;
}

bool QueryParameters::flag(std::string_view name) const {
  const std::string* text = find(name);
  if (text == nullptr) return false;
  if (text->empty() || *text == "1" || *text == "true") return true;
  if (*text == "0" || *text == "false") return false;
  throw Error(ExitCode::usage, fmt::format("expected true or false for '{}'", name));
}

std::string QueryParameters::one_of(std::string_view name, const std::vector<std::string>& words) const {
  const std::string* text = find(name);
  if (text == nullptr) return "";
  if (contains(words, *text)) return *text;
  throw Error(ExitCode::usage, fmt::format("expected {} for '{}'", fmt::join(words, ", "), name));
}

std::optional<std::int64_t> QueryParameters::snapshot() const {
  if (find("snapshot") == nullptr) return std::nullopt;
  return number("snapshot", 0, 1, 1'000'000'000);
}

EndpointAnswer json_answer(const Json& json) {
  EndpointAnswer answer;
  answer.response.body = printable_json(json) + "\n";
  return answer;
}

ChooserReply choose(const EndpointContext& context, const ChooserQuestion& question) {
  ChooserReply reply = context.chooser.choose(question);
  if (reply.code == ExitCode::store && context.chooser.identity() == IndexIdentity{}) throw no_index_yet();
  return reply;
}

JobAnswer job_of(const EndpointContext& context, const std::string& document, const JobQuestion& question) {
  const ChooserPaths& paths = context.chooser.paths();
  const auto& snapshot = question.terms.snapshot;
  const auto site =
      snapshot ? context.site.of_snapshot(context.chooser, *snapshot) : context.site.of_now(context.chooser);
  return answer_job(JsonDocument::parse(document, "document"), question, *site, context.chooser.cpus(),
                    {paths.state, paths.sif_folder}, [&](ChooserQuestion asked) {
                      asked.document = document;
                      return choose(context, asked);
                    });
}

void use_index(const EndpointContext& context, const std::function<void(const Index& index)>& use) {
  if (context.chooser.with_index(use)) return;
  throw no_index_yet();
}

namespace {

std::shared_ptr<const DeploySite> site_with(std::vector<SiteDocument> documents, ImageChooser& chooser,
                                            std::optional<std::int64_t> snapshot) {
  chooser.with_index([&](const Index& index) {
    for (SiteDocument& document : index.site_documents(snapshot)) documents.push_back(std::move(document));
  });
  return std::make_shared<const DeploySite>(std::move(documents));
}

}  // namespace

SiteCopy::SiteCopy(std::vector<SiteDocument> files)
    : files_(std::move(files)), site_(std::make_shared<const DeploySite>(files_)) {}

std::shared_ptr<const DeploySite> SiteCopy::of_now(ImageChooser& chooser) {
  // Before the documents are read: those of a newer index are then read again, and not the other way round.
  const IndexIdentity now = chooser.identity();
  {
    const std::lock_guard held(lock_);
    if (index_ == now) return site_;
  }
  auto site = site_with(files_, chooser, std::nullopt);
  const std::lock_guard held(lock_);
  index_ = now;
  site_ = site;
  return site;
}

std::shared_ptr<const DeploySite> SiteCopy::of_snapshot(ImageChooser& chooser, std::int64_t snapshot) const {
  return site_with(files_, chooser, snapshot);
}

namespace {

constexpr const char* kRetryAfter = "5";  // seconds

// A token of a JSON pointer (RFC 6901, section 4).
std::string unescaped(std::string_view token) {
  std::string text;
  for (std::size_t i = 0; i < token.size(); ++i) {
    const bool is_escape = token[i] == '~' && i + 1 < token.size();
    text += !is_escape ? token[i] : token[++i] == '1' ? '/' : '~';
  }
  return text;
}

// What is wrong with a body, as FastAPI says it: where it stands (["body", "target", "acc_type"]), and why.
Json detail_of(const Json& error) {
  Json place = Json::array({"body"});
  const std::string pointer = error.contains("where") ? error["where"].value("pointer", "") : "";
  const std::vector<std::string_view> tokens = split(pointer, '/');
  for (std::size_t i = 1; i < tokens.size(); ++i) {  // a pointer begins with a slash
    const bool is_index =
        !tokens[i].empty() && tokens[i].size() < 10 && std::ranges::all_of(tokens[i], is_digit);
    place.push_back(is_index ? Json(std::stoi(std::string(tokens[i]))) : Json(unescaped(tokens[i])));
  }
  return {{"loc", std::move(place)}, {"msg", error["message"]}, {"type", "value_error"}};
}

HttpResponse response_of(Json error, int status, ErrorStyle style) {
  HttpResponse response;
  response.status = status;
  Json json;
  if (style == ErrorStyle::peer)
    json["detail"] = status == 422 ? Json::array({detail_of(error)}) : error["message"];
  json["error"] = std::move(error);
  response.body = printable_json(json) + "\n";
  return response;
}

}  // namespace

int status_of(const Error& error, ErrorStyle style) {
  switch (error.code()) {
    case ExitCode::input:
    case ExitCode::usage:
      return style == ErrorStyle::peer ? 422 : 400;
    case ExitCode::no_match:
      return 404;
    case ExitCode::locked:
    case ExitCode::interrupted:
      return 503;
    default:
      return 500;
  }
}

Json error_json(const Error& error, int status) {
  Json json{{"code", http_error_code(status)}, {"message", error.message()}};
  // Hints about the command line help nobody who waits.
  if (!error.hint().empty() && status != 503) json["hint"] = error.hint();
  const SourceLocation& where = error.where();
  if (where == SourceLocation{}) return json;
  Json place = Json::object();
  if (where.line > 0) place = {{"line", where.line}, {"column", where.column}};
  if (!where.file.empty()) place["file"] = where.file;
  if (!where.pointer.empty()) place["pointer"] = where.pointer;
  json["where"] = std::move(place);
  return json;
}

HttpResponse error_response(const Error& error, ErrorStyle style) {
  const int status = status_of(error, style);
  HttpResponse response = response_of(error_json(error, status), status, style);
  if (status == 503) response.headers.emplace_back("Retry-After", kRetryAfter);
  return response;
}

HttpResponse nothing_here(ErrorStyle style) {
  return plain_error(404, "there is nothing at this path", "/openapi.json lists the requests", style);
}

HttpResponse plain_error(int status, const std::string& message, const std::string& hint, ErrorStyle style) {
  Json error{{"code", http_error_code(status)}, {"message", message}};
  if (!hint.empty()) error["hint"] = hint;
  return response_of(std::move(error), status, style);
}

namespace {

// The index and the request alone decide these answers.
constexpr Route own(std::string_view method, std::string_view path, std::string_view name, Endpoint endpoint,
                    std::string_view parameters = {}, bool whole = false) {
  return {method, path, name, endpoint, parameters, true, false, ErrorStyle::own, whole};
}
constexpr Route peer(std::string_view method, std::string_view path, std::string_view name, Endpoint endpoint,
                     bool whole = false) {
  return {method, path, name, endpoint, {}, true, false, ErrorStyle::peer, whole};
}
constexpr Route peer_write(std::string_view method, std::string_view path, std::string_view name,
                           Endpoint endpoint) {
  return {method, path, name, endpoint, {}, false, true, ErrorStyle::peer};
}

constexpr bool kWhole = true;
constexpr std::array kRoutes = {
    own("POST", "/v1/select", "select", answer_select,
        "host format snapshot limit allow_failing lenient explain"),
    own("POST", "/v1/explain", "explain", answer_explain, "host format snapshot limit allow_failing lenient"),
    own("POST", "/v1/job", "job", answer_job_script,
        "host infrastructure scheduler runtime snapshot allow_failing lenient"),
    own("GET", "/v1/images", "images", answer_images, "match snapshot limit offset", kWhole),
    own("GET", "/v1/images/{repository}/{tag}", "image", answer_image, "snapshot", kWhole),
    own("GET", "/v1/snapshots", "snapshots", answer_snapshots),
    Route{"GET", "/v1/demand", "demand", answer_demand, "unmet limit"},
    Route{"GET", "/healthz", "healthz", answer_health},
    Route{"GET", "/metrics", "metrics", nullptr},
    Route{"GET", "/openapi.json", "openapi", answer_openapi},
    peer("POST", "/get_image", "get_image", answer_get_image),
    peer("GET", "/container_mappings", "container_mappings", answer_mappings, kWhole),
    peer_write("POST", "/container_mappings", "new_container_mapping", answer_new_mapping),
    peer("GET", "/container_mappings/{opt_dsl_code}", "container_mapping", answer_mapping, kWhole),
    peer("POST", "/optimise", "optimise", answer_optimise),
    peer("POST", "/get_build", "get_build", answer_get_build),
    peer("POST", "/get_optimisation", "get_optimisation", answer_get_optimisation),
    peer("GET", "/infrastructures", "infrastructures", answer_site_documents),
    peer_write("POST", "/infrastructures", "new_infrastructure", answer_new_site_document),
    peer("GET", "/infrastructures/{id}", "infrastructure", answer_site_document),
    peer_write("DELETE", "/infrastructures/{id}", "no_infrastructure", answer_no_site_document),
    peer("GET", "/scripts", "scripts", answer_site_documents),
    peer_write("POST", "/scripts", "new_script", answer_new_site_document),
    peer("GET", "/scripts/{id}", "script", answer_site_document),
    peer_write("DELETE", "/scripts/{id}", "no_script", answer_no_site_document),
    peer("GET", "/scaling_models", "scaling_models", answer_site_documents),
    peer_write("POST", "/scaling_models", "new_scaling_model", answer_new_site_document),
    peer("GET", "/scaling_models/{id}", "scaling_model", answer_site_document),
    peer_write("DELETE", "/scaling_models/{id}", "no_scaling_model", answer_no_site_document),
};

// For people, and so in no /openapi.json.
constexpr Route kPageRoute{"GET", "", "page", answer_page};

bool is_name(std::string_view segment) { return segment.starts_with('{'); }

// Without the first segment of a path, and that.
std::string_view next_segment(std::string_view& path) {
  path.remove_prefix(1);
  const std::string_view segment = path.substr(0, path.find('/'));
  path.remove_prefix(segment.size());
  return segment;
}

bool match(std::string_view path, const std::vector<std::string>& segments, std::vector<std::string>& names) {
  names.clear();
  for (const std::string& segment : segments) {
    if (path.empty()) return false;
    const std::string_view wanted = next_segment(path);
    if (is_name(wanted))
      names.push_back(segment);
    else if (wanted != segment)
      return false;
  }
  return path.empty();
}

}  // namespace

std::span<const Route> all_routes() { return kRoutes; }

RouteMatch find_route(const ReceivedRequest& request) {
  RouteMatch found;
  const auto& segments = request.target.segments;
  const std::string_view method = request.method == "HEAD" ? "GET" : std::string_view(request.method);
  for (const Route& route : all_routes()) {
    if (!match(route.path, segments, found.names)) continue;
    found.style = route.style;
    if (route.method == method) {
      found.route = &route;
      return found;
    }
    found.allow += found.allow.empty() ? "" : ", ";
    found.allow += route.method == "GET" ? "GET, HEAD" : route.method;
  }
  if (found.allow.empty() && method == "GET") found.route = &kPageRoute;
  return found;
}

void check_parameters(const Route& route, const ReceivedRequest& request) {
  const bool takes_any = route.style == ErrorStyle::peer || route.path.empty();
  if (takes_any || request.target.query.empty()) return;
  std::vector<std::string> known;
  for (std::string_view name : split(route.parameters, ' '))
    if (!name.empty()) known.emplace_back(name);
  for (const auto& [name, value] : request.target.query)
    if (!contains(known, name))
      throw Error(ExitCode::usage, fmt::format("unknown parameter '{}'", name), did_you_mean(name, known));
}

}  // namespace kiln
