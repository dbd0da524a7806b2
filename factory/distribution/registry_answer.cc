#include "factory/distribution/registry_answer.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <ctime>
#include <nlohmann/json.hpp>

#include "factory/base/error.h"
#include "factory/base/json.h"
#include "factory/base/text.h"
#include "factory/distribution/base64.h"

namespace kiln {
namespace {

constexpr std::size_t kMostSaid = 300;  // bytes of what a registry says that are shown

// The first of its errors, distribution-spec "Error Codes".
struct Said {
  std::string code, message;
};

Said first_error(const std::string& body) {
  const Json document = Json::parse(body, nullptr, false);
  if (!document.is_object() || !document.contains("errors")) return {};
  const Json& errors = document["errors"];
  if (!errors.is_array() || errors.empty() || !errors[0].is_object()) return {};
  auto text = [&](const char* key) {
    auto found = errors[0].find(key);
    return found != errors[0].end() && found->is_string() ? found->get<std::string>() : std::string();
  };
  return {text("code"), text("message")};
}

std::string in_one_line(std::string text) {
  for (char& c : text)
    if (is_control(c)) c = ' ';
  if (text.size() > kMostSaid) text = text.substr(0, kMostSaid) + "…";
  return text;
}

const char* phrase(int status) {
  switch (status) {
    case 400:
      return "Bad Request";
    case 401:
      return "Unauthorized";
    case 403:
      return "Forbidden";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 413:
      return "Content Too Large";
    case 416:
      return "Range Not Satisfiable";
    case 429:
      return "Too Many Requests";
    case 500:
      return "Internal Server Error";
    case 502:
      return "Bad Gateway";
    case 503:
      return "Service Unavailable";
    case 504:
      return "Gateway Timeout";
    case 507:
      return "Insufficient Storage";
    default:
      return "";
  }
}

// The value of `name="…"` in a challenge.
std::string parameter(std::string_view challenge, std::string_view name) {
  std::size_t at = 0;
  while ((at = challenge.find(name, at)) != std::string_view::npos) {
    const std::size_t end = at + name.size();
    const bool starts = at == 0 || challenge[at - 1] == ' ' || challenge[at - 1] == ',';
    at = end;
    if (!starts || !challenge.substr(end).starts_with("=\"")) continue;
    const std::size_t close = challenge.find('"', end + 2);
    if (close != std::string_view::npos) return std::string(challenge.substr(end + 2, close - end - 2));
  }
  return "";
}

Json document_in(const std::string& body, const std::string& url) {
  Json document = Json::parse(body, nullptr, false);
  if (!document.is_object())
    throw Error(ExitCode::network, fmt::format("{}: the answer is no JSON object", url));
  return document;
}

}  // namespace

bool is_full(const HttpAnswer& answer) {
  return answer.status == 507 ||
         (answer.status >= 500 && answer.body.find("no space left on device") != std::string::npos);
}

bool passes(const HttpAnswer& answer) {
  return answer.status == 429 || (answer.status >= 500 && answer.status != 501 && !is_full(answer));
}

std::string said_by(const HttpAnswer& answer) {
  const Said said = first_error(answer.body);
  std::string text =
      fmt::format("{} {}", answer.status, said.code.empty() ? phrase(answer.status) : said.code);
  if (!said.message.empty()) text += ": " + said.message;
  return in_one_line(std::string(trimmed(text)));
}

std::string error_code_in(const HttpAnswer& answer) { return first_error(answer.body).code; }

std::optional<double> seconds_until(const std::string& retry_after, std::int64_t now) {
  if (retry_after.empty()) return std::nullopt;
  if (const auto seconds = number_in(retry_after)) return static_cast<double>(*seconds);
  std::tm date{};
  if (::strptime(retry_after.c_str(), "%a, %d %b %Y %H:%M:%S GMT", &date) == nullptr) return std::nullopt;
  return static_cast<double>(std::max<std::int64_t>(0, ::timegm(&date) - now));
}

Challenge challenge_in(const HttpAnswer& answer) {
  for (auto [at, end] = answer.headers.equal_range("www-authenticate"); at != end; ++at)
    if (lower_case(at->second).starts_with("bearer "))
      return {true, parameter(at->second, "realm"), parameter(at->second, "service")};
  return {};
}

std::string basic_authorization(const Credentials& who) {
  return "Basic " + base64_of(who.user + ":" + who.password);
}

std::string token_in(const HttpAnswer& answer) {
  const Json document = Json::parse(answer.body, nullptr, false);
  if (document.is_object())
    for (const char* key : {"token", "access_token"})
      if (auto found = document.find(key); found != document.end() && found->is_string())
        return found->get<std::string>();
  throw Error(ExitCode::network, "the registry's token server gave no token");
}

std::string in_query(std::string_view text) {
  std::string out;
  for (char c : text) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '-' || c == '.' || c == '_' || c == '~';
    if (plain)
      out += c;
    else
      out += fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return out;
}

std::optional<Digest> digest_in(const std::string& text) {
  constexpr std::string_view kName = "sha256:";
  if (!text.starts_with(kName) || text.size() != kName.size() + 64 ||
      text.find_first_not_of("0123456789abcdef", kName.size()) != std::string::npos)
    return std::nullopt;
  return Digest::parse(text);
}

std::optional<std::uint64_t> number_in(const std::string& text) {
  std::uint64_t number = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
  return problem == std::errc() && end == text.data() + text.size() && !text.empty() ? std::optional(number)
                                                                                     : std::nullopt;
}

// `<URL>; rel="next"` (RFC 5988).
std::string next_page(const HttpAnswer& answer) {
  const std::string link = answer.header("link");
  const std::size_t open = link.find('<'), close = link.find('>');
  if (open == std::string::npos || close == std::string::npos || close < open) return "";
  return link.find("next", close) == std::string::npos ? "" : link.substr(open + 1, close - open - 1);
}

std::vector<std::string> tags_in(const std::string& body, const std::string& url) {
  const Json document = document_in(body, url);
  std::vector<std::string> tags;
  auto found = document.find("tags");  // null where there are none
  if (found == document.end() || !found->is_array()) return tags;
  for (const Json& tag : *found)
    if (tag.is_string()) tags.push_back(tag.get<std::string>());
  return tags;
}

}  // namespace kiln
