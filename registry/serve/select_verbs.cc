#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "factory/base/json_text.h"
#include "registry/serve/error_response.h"
#include "registry/serve/verbs.h"

namespace kiln {
namespace {

// The document and the host of a body: the DSL itself, or {"dsl": …, "host": …}.
struct AskedBody {
  std::string document;
  std::string host{};
  bool wrapped = false;  // the document is a part of the body
};

// This machine is nobody's host who asks from elsewhere, and no host is read from a file.
std::string host_name(const std::string& name) {
  if (name == "here" || name.empty() || name.front() == '{')
    throw Error(ExitCode::usage, fmt::format("'{}' names no host", name),
                "an archspec name, a target, a composition such as zen4,nvidia:sm_90, or any");
  return name;
}

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

AskedBody read_body(const std::string& body) {
  const JsonNode root = JsonDocument::parse(body, "document").root();
  const auto dsl = root.is_object() ? root.find("dsl") : std::nullopt;
  if (!dsl) return {body};
  root.allow_only({"dsl", "host"});
  AskedBody asked{only_member(body, *dsl), "", true};
  if (const auto host = root.find("host")) asked.host = host_of_body(*host);
  return asked;
}

// The host of a body was written again: its lines and columns are those of nobody's text.
Error in_body(const Error& error, bool wrapped) {
  const SourceLocation& where = error.where();
  if (!wrapped || where.file.empty()) return error;
  SourceLocation place{"document", where.line, where.column, "/dsl" + where.pointer};
  if (where.file == "host") place = {"document", 0, 0, "/host" + where.pointer};
  return {error.code(), place, error.message(), error.hint()};
}

VerbAnswer no_match_answer(const ChooserReply& reply, bool text) {
  VerbAnswer answer;
  answer.response.status = 404;
  if (text) {
    answer.response.body = reply.text + reply.error->format() + "\n";
    answer.response.type = "text/plain; charset=utf-8";
    return answer;
  }
  Json json = reply.answer;
  json["error"] = error_json(*reply.error, answer.response.status);
  answer.response.body = printable_json(json) + "\n";
  return answer;
}

VerbAnswer answer_of(const ChooserReply& reply, bool text) {
  if (!text) return json_answer(reply.answer);
  VerbAnswer answer;
  answer.response.body = reply.text;
  answer.response.type = "text/plain; charset=utf-8";
  return answer;
}

VerbAnswer select(const VerbCall& call, const VerbPlace& place, bool text) {
  const QueryParameters query(call.request);
  const AskedBody asked = read_body(call.request.body);
  ChooserQuestion question;
  question.document = asked.document;
  question.unsaid = UnsaidHost::any;
  question.host = asked.host;
  question.terms.format = query.one_of("format", {"tag", "digest", "oci", "sif"});
  question.terms.snapshot = query.snapshot();
  question.terms.allow_failing = query.flag("allow_failing");
  question.terms.lenient = query.flag("lenient");
  question.limit = static_cast<std::size_t>(query.number("limit", 20, 0, 1'000'000'000));
  if (const std::string* host = query.find("host")) {
    if (!asked.host.empty()) throw Error(ExitCode::usage, "the host stands in the body and in the query");
    question.host = host_name(*host);
  }
  ChooserReply reply = choose(place, question);
  const bool missed = reply.code == ExitCode::no_match && !reply.answer.is_null();
  if (reply.error && !missed) throw in_body(*reply.error, asked.wrapped);
  VerbAnswer answer = missed ? no_match_answer(reply, text) : answer_of(reply, text);
  answer.demand = std::move(reply.demand);
  return answer;
}

}  // namespace

VerbAnswer answer_select(const VerbCall& call, const VerbPlace& place) {
  return select(call, place, !QueryParameters(call.request).one_of("explain", {"text"}).empty());
}

VerbAnswer answer_explain(const VerbCall& call, const VerbPlace& place) { return select(call, place, true); }

}  // namespace kiln
