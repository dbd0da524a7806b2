// MODAK's endpoints, in its shapes: a document comes back with what was chosen, errors have a `detail`.
#include <fmt/format.h>

#include <functional>
#include <nlohmann/json.hpp>

#include "factory/base/text.h"
#include "registry/select/dsl.h"
#include "registry/select/mappings.h"
#include "registry/serve/endpoint.h"

namespace kiln {
namespace {

constexpr std::size_t kMostNotes = 8;
constexpr std::size_t kMostNoteBytes = 400;

// As the value of a header: nothing of a request gets there that could end it.
std::string header_text(std::string_view note) {
  std::string text(note.substr(0, kMostNoteBytes));
  for (char& c : text)
    if (c < ' ' || c > '~') c = '?';
  return text;
}

// Where MODAK's clients look for it; the document may be a job, or its parts.
void put_runtime(Json& document, const std::string& reference) {
  Json& job = document.contains("job") ? document["job"] : document;
  if (reference.empty()) {
    if (job.contains("application") && job["application"].is_object())
      job["application"].erase("container_runtime");
    return;
  }
  job["application"]["container_runtime"] = reference;
}

void add_notes(EndpointAnswer& answer, const std::vector<std::string>& notes) {
  for (std::size_t i = 0; i < std::min(notes.size(), kMostNotes); ++i)
    answer.response.headers.emplace_back("Kiln-Note", header_text(notes[i]));
}

// The document with what `put` adds to its job.
EndpointAnswer job_document(const EndpointCall& call, const EndpointContext& context,
                            const std::function<void(const JobAnswer& answer, Json& job)>& put) {
  Json document = JsonDocument::parse(call.request.body, "document").value();
  JobQuestion question;
  question.terms.lenient = true;
  question.chooses_anew = true;
  JobAnswer made = job_of(context, call.request.body, question);
  put(made, document.contains("job") ? document["job"] : document);
  EndpointAnswer answer = json_answer(document);
  std::vector<std::string> notes = made.notes;
  for (const auto* more : {&made.deployment.notes, &made.scripts.notes})
    notes.insert(notes.end(), more->begin(), more->end());
  add_notes(answer, notes);
  answer.demand = std::move(made.demand);
  return answer;
}

// A job that chooses no application: MODAK gives it back as it is.
bool asks_for_nothing(const Json& document, const Error& error) {
  if (error.message() != kNamesNoApplication) return false;
  for (const char* part : {"job", "job_options", "application", "optimisation", "optimization"})
    if (document.contains(part)) return true;
  return false;
}

std::vector<Json> mappings_in(const EndpointContext& context, const std::string* code) {
  std::vector<Json> mappings;
  use_index(context, [&](const Index& index) {
    for (const IndexEntry& entry : index.entries())
      if (entry.image.external() && (code == nullptr || entry.image.code == *code))
        mappings.push_back(mapping_json(entry.image));
  });
  return mappings;
}

}  // namespace

EndpointAnswer answer_get_image(const EndpointCall& call, const EndpointContext& context) {
  Json document = JsonDocument::parse(call.request.body, "document").value();
  ChooserQuestion question;
  question.document = call.request.body;
  question.unsaid = UnsaidHost::any;
  question.terms.lenient = true;
  question.explained = false;
  ChooserReply reply = choose(context, question);
  const bool has_answer = !reply.error || reply.code == ExitCode::no_match;
  if (!has_answer && !asks_for_nothing(document, *reply.error)) throw Error(*reply.error);
  put_runtime(document, reply.reference);
  EndpointAnswer answer = json_answer(document);
  add_notes(answer, reply.notes);
  answer.demand = std::move(reply.demand);
  return answer;
}

EndpointAnswer answer_mappings(const EndpointCall&, const EndpointContext& context) {
  return json_answer(Json(mappings_in(context, nullptr)));
}

EndpointAnswer answer_mapping(const EndpointCall& call, const EndpointContext& context) {
  const auto found = mappings_in(context, &call.names.at(0));
  if (found.empty())
    throw Error(ExitCode::no_match, fmt::format("there is no mapping '{}'", call.names.at(0)));
  return json_answer(found.front());
}

EndpointAnswer answer_new_mapping(const EndpointCall& call, const EndpointContext& context) {
  const JsonDocument document = JsonDocument::parse(call.request.body, "document");
  if (!document.root().is_object()) document.root().fail("expected one mapping, an object");
  const WrittenMapping written = context.write(document, written_numbers(call.request.body));
  EndpointAnswer answer = json_answer(mapping_json(written.mapping));
  answer.response.status = 201;
  answer.response.headers.emplace_back(
      "Location", "/container_mappings/" + percent_encoded(written.mapping.code, "-._~"));
  answer.response.headers.emplace_back("Kiln-Snapshot", std::to_string(written.snapshot));
  return answer;
}

// MODAK writes files of its server and answers with their paths; kiln answers with their text.
EndpointAnswer answer_optimise(const EndpointCall& call, const EndpointContext& context) {
  return job_document(call, context, [](const JobAnswer& answer, Json& job) {
    job["application"]["container_runtime"] = answer.reference;
    job["job_script"] = answer.scripts.job;
    if (!answer.scripts.build.empty()) job["build_script"] = answer.scripts.build;
  });
}

// MODAK answers a document without `application.build` with an empty text.
EndpointAnswer answer_get_build(const EndpointCall& call, const EndpointContext& context) {
  return job_document(call, context,
                      [](const JobAnswer& answer, Json& job) { job["build_script"] = answer.scripts.build; });
}

EndpointAnswer answer_get_optimisation(const EndpointCall& call, const EndpointContext& context) {
  return job_document(call, context, [](const JobAnswer& answer, Json& job) {
    job["application"]["container_runtime"] = answer.reference;
    job["job_content"] = answer.scripts.job;
  });
}

}  // namespace kiln
