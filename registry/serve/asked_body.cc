#include "registry/serve/asked_body.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "factory/base/json.h"

namespace kiln {
namespace {

std::string host_of_body(const JsonNode& host) {
  if (host.is_string()) return host_name(host.string());
  if (!host.is_object()) host.fail("expected a description of a host, or a name");
  return host.value().dump();
}

// Where a line begins, and then the column in bytes, of a text that has the place.
std::size_t offset_of(std::string_view text, const SourceLocation& where) {
  std::size_t begin = 0;
  for (int line = 1; line < where.line; ++line) begin = text.find('\n', begin) + 1;
  return begin + static_cast<std::size_t>(where.column - 1);
}

// Behind the object or array that begins there. REQUIRES: the text is valid JSON.
std::size_t end_of_container(std::string_view text, std::size_t begin) {
  int depth = 0;
  bool quoted = false;
  for (std::size_t i = begin; i < text.size(); ++i) {
    if (quoted) {
      if (text[i] == '\\')
        ++i;
      else if (text[i] == '"')
        quoted = false;
    } else if (text[i] == '"') {
      quoted = true;
    } else if (text[i] == '{' || text[i] == '[') {
      ++depth;
    } else if ((text[i] == '}' || text[i] == ']') && --depth == 0) {
      return i + 1;
    }
  }
  return text.size();
}

// The body with blanks for all but this member, so that places in it are the body's.
std::string only_member(std::string body, const JsonNode& member) {
  if (!member.is_object()) member.fail("expected the document, an object");
  const std::size_t begin = offset_of(body, member.where());
  const std::size_t end = end_of_container(body, begin);
  for (std::size_t i = 0; i < body.size(); ++i)
    if ((i < begin || i >= end) && body[i] != '\n') body[i] = ' ';
  return body;
}

}  // namespace

std::string host_name(const std::string& name) {
  if (name == "here" || name.empty() || name.front() == '{')
    throw Error(ExitCode::usage, fmt::format("'{}' names no host", name),
                "an archspec name, a target, a composition such as zen4,nvidia:sm_90, or any");
  return name;
}

AskedBody read_body(const std::string& body) {
  const JsonNode root = JsonDocument::parse(body, "document").root();
  const auto dsl = root.is_object() ? root.find("dsl") : std::nullopt;
  if (!dsl) return {body};
  root.allow_only({"dsl", "host"});
  AskedBody asked{only_member(body, *dsl), "", true};
  if (const auto host = root.find("host")) asked.host = host_of_body(*host);
  return asked;
}

Error in_body(const Error& error, bool wrapped) {
  const SourceLocation& where = error.where();
  if (!wrapped || where.file.empty()) return error;
  SourceLocation place{"document", where.line, where.column, "/dsl" + where.pointer};
  if (where.file == "host") place = {"document", 0, 0, "/host" + where.pointer};
  return {error.code(), place, error.message(), error.hint()};
}

}  // namespace kiln
