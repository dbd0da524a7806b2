// The endpoints that answer a document: /v1/select, /v1/explain and /v1/job.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "factory/base/json.h"
#include "factory/base/json_text.h"
#include "registry/serve/endpoint.h"

namespace kiln {
namespace {

// What a client elsewhere may name as its host: neither this machine nor a file.
std::string host_name(const std::string& name) {
  if (name == "here" || name.empty() || name.front() == '{')
    throw Error(
        ExitCode::usage, fmt::format("invalid host '{}'", name),
        "name a microarchitecture of archspec, a target, a composition such as zen4,nvidia:sm_90, or any");
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

// A question over HTTP. Its body is the DSL itself, or {"dsl": …, "host": …}.
struct AskedQuestion {
  std::string document;
  std::string host{};    // "" = neither the body nor the query names one
  bool wrapped = false;  // the document is a part of the body
  QuestionTerms terms{};
};

AskedQuestion read_asked(const EndpointCall& call) {
  const std::string& body = call.request.body;
  const JsonNode root = JsonDocument::parse(body, "document").root();
  const auto dsl = root.is_object() ? root.find("dsl") : std::nullopt;
  AskedQuestion asked{dsl ? only_member(body, *dsl) : body, "", dsl.has_value()};
  if (dsl) root.allow_only({"dsl", "host"});
  if (const auto host = dsl ? root.find("host") : std::nullopt) asked.host = host_of_body(*host);
  const QueryParameters query(call.request);
  asked.terms.snapshot = query.snapshot();
  asked.terms.allow_failing = query.flag("allow_failing");
  asked.terms.lenient = query.flag("lenient");
  if (const std::string* host = query.find("host")) {
    if (!asked.host.empty())
      throw Error(ExitCode::usage, "both the body and the query name a host", "remove one of them");
    asked.host = host_name(*host);
  }
  return asked;
}

// The error with its place in the whole body. The body's host was written again, so its line and column are
// those of no text of the client.
Error in_body(const Error& error, bool wrapped) {
  const SourceLocation& where = error.where();
  if (!wrapped || where.file.empty()) return error;
  SourceLocation place{"document", where.line, where.column, "/dsl" + where.pointer};
  if (where.file == "host") place = {"document", 0, 0, "/host" + where.pointer};
  return {error.code(), place, error.message(), error.hint()};
}

// `missed`: no image matches, which has an explanation as well.
EndpointAnswer answer_of(const ChooserReply& reply, bool missed, bool text) {
  EndpointAnswer answer = json_answer(reply.answer);
  HttpResponse& response = answer.response;
  if (missed) {
    response.status = 404;
    Json json = reply.answer;
    json["error"] = error_json(*reply.error, response.status);
    response.body = printable_json(json) + "\n";
  }
  if (text) {
    response.body = reply.text + (missed ? reply.error->format() + "\n" : "");
    response.type = "text/plain; charset=utf-8";
  }
  return answer;
}

EndpointAnswer select(const EndpointCall& call, const EndpointContext& context, bool text) {
  const QueryParameters query(call.request);
  const AskedQuestion asked = read_asked(call);
  ChooserQuestion question;
  question.document = asked.document;
  question.unsaid = UnsaidHost::any;
  question.host = asked.host;
  question.terms = asked.terms;
  question.terms.format = query.one_of("format", {"tag", "digest", "oci", "sif"});
  question.limit = static_cast<std::size_t>(query.number("limit", 20, 0, 1'000'000'000));
  ChooserReply reply = choose(context, question);
  const bool missed = reply.code == ExitCode::no_match && !reply.answer.is_null();
  if (reply.error && !missed) throw in_body(*reply.error, asked.wrapped);
  EndpointAnswer answer = answer_of(reply, missed, text);
  answer.demand = std::move(reply.demand);
  return answer;
}

}  // namespace

EndpointAnswer answer_select(const EndpointCall& call, const EndpointContext& context) {
  return select(call, context, !QueryParameters(call.request).one_of("explain", {"text"}).empty());
}

EndpointAnswer answer_explain(const EndpointCall& call, const EndpointContext& context) {
  return select(call, context, true);
}

EndpointAnswer answer_job_script(const EndpointCall& call, const EndpointContext& context) {
  const QueryParameters query(call.request);
  const AskedQuestion asked = read_asked(call);
  JobQuestion question;
  question.host = asked.host;
  question.terms = asked.terms;
  if (const std::string* name = query.find("infrastructure")) question.infrastructure = *name;
  question.deploy.scheduler = kSchedulers.find(query.one_of("scheduler", kSchedulers.all()));
  question.deploy.runtime = kContainerRuntimes.find(query.one_of("runtime", kContainerRuntimes.all()));
  try {
    JobAnswer made = job_of(context, asked.document, question);
    EndpointAnswer answer = json_answer(to_json(made));
    answer.demand = std::move(made.demand);
    return answer;
  } catch (const Error& error) {
    throw in_body(error, asked.wrapped);
  }
}

}  // namespace kiln
