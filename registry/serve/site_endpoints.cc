// MODAK's infrastructures, enforcement scripts and scaling models: what the site tells of its machines and
// jobs.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "factory/base/text.h"
#include "registry/serve/endpoint.h"

namespace kiln {
namespace {

// The kind that the first segment of the path names.
SiteKind kind_of(const EndpointCall& call) {
  const std::string& segment = call.request.target.segments.front();
  return segment == "infrastructures" ? SiteKind::infrastructure
         : segment == "scripts"       ? SiteKind::script
                                      : SiteKind::scaling_model;
}

Json json_of(const SiteDocument& document) {
  Json json = Json::parse(document.document);
  json["id"] = document.id();
  return json;
}

bool is_uuid(std::string_view text) {
  constexpr std::string_view kShape = "00000000-0000-0000-0000-000000000000";
  return text.size() == kShape.size() &&
         std::equal(text.begin(), text.end(), kShape.begin(), [](char c, char shape) {
           const bool hex = is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
           return shape == '-' ? c == '-' : hex;
         });
}

SiteDocument document_of(const EndpointCall& call, const EndpointContext& context) {
  const SiteKind kind = kind_of(call);
  const std::string& id = call.names.at(0);
  if (!is_uuid(id)) throw Error(ExitCode::usage, fmt::format("'{}' is not a UUID", id));
  const auto site = context.site.of_now(context.chooser);
  for (const SiteDocument& document : site->documents())
    if (document.kind == kind && document.id() == lower_case(id)) return document;
  throw Error(ExitCode::no_match, fmt::format("there is no {} '{}'", kSiteKinds.of(kind), id));
}

std::int64_t write_document(const SiteDocument& document, const EndpointContext& context) {
  if (!context.write_site) throw Error(ExitCode::locked, "this server does not store documents of the site");
  return context.write_site(document);
}

bool has_mapping(const EndpointContext& context, const std::string& code) {
  bool found = false;
  use_index(context, [&](const Index& index) {
    for (const IndexEntry& entry : index.entries())
      found = found || (entry.image.external() && entry.image.code == code);
  });
  return found;
}

// What MODAK refuses with 409; "" = nothing.
std::string conflict_of(const SiteDocument& document, const EndpointContext& context) {
  const auto site = context.site.of_now(context.chooser);
  if (document.kind == SiteKind::infrastructure)
    return site->infrastructure(document.name) == nullptr
               ? ""
               : fmt::format("there is an infrastructure '{}' already", document.name);
  if (document.kind == SiteKind::scaling_model)
    return has_mapping(context, document.name) ? "" : fmt::format("there is no mapping '{}'", document.name);
  const JsonDocument json = JsonDocument::parse(document.document, "document");
  const EnforcementScript script = read_enforcement_script(json.root());
  if (!script.infrastructure.empty() && site->infrastructure(script.infrastructure) == nullptr)
    return fmt::format("there is no infrastructure '{}'", script.infrastructure);
  return "";
}

}  // namespace

EndpointAnswer answer_site_documents(const EndpointCall& call, const EndpointContext& context) {
  Json list = Json::array();
  const SiteKind kind = kind_of(call);
  const auto site = context.site.of_now(context.chooser);
  for (const SiteDocument& document : site->documents())
    if (document.kind == kind) list.push_back(json_of(document));
  return json_answer(list);
}

EndpointAnswer answer_site_document(const EndpointCall& call, const EndpointContext& context) {
  return json_answer(json_of(document_of(call, context)));
}

EndpointAnswer answer_new_site_document(const EndpointCall& call, const EndpointContext& context) {
  const JsonDocument body = JsonDocument::parse(call.request.body, "document");
  const SiteDocument document = read_site_document(kind_of(call), body.root());
  if (const std::string why = conflict_of(document, context); !why.empty())
    return {plain_error(409, why, "", ErrorStyle::peer)};
  const std::int64_t snapshot = write_document(document, context);
  EndpointAnswer answer = json_answer(json_of(document));
  answer.response.status = 201;
  answer.response.headers.emplace_back(
      "Location", fmt::format("/{}/{}", call.request.target.segments.front(), document.id()));
  answer.response.headers.emplace_back("Kiln-Snapshot", std::to_string(snapshot));
  return answer;
}

// kiln's own: MODAK removes nothing. The answer is the document, so that it can be posted again.
EndpointAnswer answer_no_site_document(const EndpointCall& call, const EndpointContext& context) {
  SiteDocument document = document_of(call, context);
  if (document.since == 0)
    return {plain_error(409, "the document is in a file of the server, and not in the index",
                        "the server's operator can remove it", ErrorStyle::peer)};
  EndpointAnswer answer = json_answer(json_of(document));
  document.document.clear();
  answer.response.headers.emplace_back("Kiln-Snapshot", std::to_string(write_document(document, context)));
  return answer;
}

}  // namespace kiln
