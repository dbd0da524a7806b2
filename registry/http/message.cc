#include "registry/http/message.h"

#include <nlohmann/json.hpp>

#include "factory/base/json_text.h"

namespace kiln {

std::string_view ReceivedRequest::header(std::string_view lower_case_name) const {
  for (const auto& [name, value] : headers)
    if (name == lower_case_name) return value;
  return {};
}

std::string http_error_code(int status) {
  switch (status) {
    case 400:
      return "bad_request";
    case 401:
      return "unauthorized";
    case 404:
      return "not_found";
    case 405:
      return "method_not_allowed";
    case 409:
      return "conflict";
    case 411:
      return "length_required";
    case 413:
      return "content_too_large";
    case 414:
      return "uri_too_long";
    case 415:
      return "unsupported_media_type";
    case 422:
      return "unprocessable_content";
    case 429:
      return "too_many_requests";
    case 431:
      return "request_header_fields_too_large";
    case 501:
      return "not_implemented";
    case 503:
      return "service_unavailable";
    default:
      return "internal_error";
  }
}

HttpResponse http_error(int status, const std::string& message, const std::string& hint) {
  Json error{{"code", http_error_code(status)}, {"message", message}};
  if (!hint.empty()) error["hint"] = hint;
  HttpResponse response;
  response.status = status;
  response.body = printable_json({{"error", std::move(error)}}) + "\n";
  return response;
}

}  // namespace kiln
