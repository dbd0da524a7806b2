// Errors as responses: one table (docs/query.md, "Status codes").
#pragma once

#include "factory/base/error.h"
#include "factory/base/json.h"
#include "registry/http/message.h"

namespace kiln {

// Whose words and status codes.
enum class ErrorStyle {
  own,  // {"error": {"code", "message", "where", "hint"}}; what is wrong in a request is 400
  peer  // "detail" beside it, as FastAPI has it; what is wrong in a body is 422
};

int status_of(const Error& error, ErrorStyle style);
Json error_json(const Error& error, int status);
// With Retry-After where the same request may be answered later.
HttpResponse error_response(const Error& error, ErrorStyle style);
HttpResponse nothing_here(ErrorStyle style);  // 404
// Another response of this style, for what no Error says.
HttpResponse plain_error(int status, const std::string& message, const std::string& hint, ErrorStyle style);

}  // namespace kiln
