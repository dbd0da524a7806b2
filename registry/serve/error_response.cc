#include "registry/serve/error_response.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "factory/base/json_text.h"
#include "factory/base/text.h"

namespace kiln {
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
  return plain_error(404, "there is nothing at this path", "/openapi.json says what there is", style);
}

HttpResponse plain_error(int status, const std::string& message, const std::string& hint, ErrorStyle style) {
  Json error{{"code", http_error_code(status)}, {"message", message}};
  if (!hint.empty()) error["hint"] = hint;
  return response_of(std::move(error), status, style);
}

}  // namespace kiln
