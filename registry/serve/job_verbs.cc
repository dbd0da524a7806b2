#include <nlohmann/json.hpp>

#include "registry/serve/asked_body.h"
#include "registry/serve/verbs.h"

namespace kiln {

VerbAnswer answer_job_script(const VerbCall& call, const VerbPlace& place) {
  const QueryParameters query(call.request);
  const AskedBody asked = read_body(call.request.body);
  JobQuestion question;
  question.host = asked.host;
  question.terms.snapshot = query.snapshot();
  question.terms.allow_failing = query.flag("allow_failing");
  question.terms.lenient = query.flag("lenient");
  if (const std::string* name = query.find("infrastructure")) question.infrastructure = *name;
  question.deploy.scheduler = kSchedulers.find(query.one_of("scheduler", kSchedulers.all()));
  question.deploy.runtime = kContainerRuntimes.find(query.one_of("runtime", kContainerRuntimes.all()));
  if (const std::string* host = query.find("host")) {
    if (!asked.host.empty()) throw Error(ExitCode::usage, "the host stands in the body and in the query");
    question.host = host_name(*host);
  }
  try {
    JobAnswer made = job_of(place, asked.document, question);
    VerbAnswer answer = json_answer(to_json(made));
    answer.demand = std::move(made.demand);
    return answer;
  } catch (const Error& error) {
    throw in_body(error, asked.wrapped);
  }
}

}  // namespace kiln
