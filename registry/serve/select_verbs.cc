#include <nlohmann/json.hpp>

#include "factory/base/json_text.h"
#include "registry/serve/asked_body.h"
#include "registry/serve/error_response.h"
#include "registry/serve/verbs.h"

namespace kiln {
namespace {

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
