// MODAK's infrastructures, enforcement scripts and scaling models: what the site tells of its machines and
// jobs.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "factory/base/text.h"
#include "registry/serve/error_response.h"
#include "registry/serve/site_copy.h"
#include "registry/serve/verbs.h"

namespace kiln {
namespace {

constexpr std::string_view path_of(SiteKind kind) {
  return kind == SiteKind::infrastructure ? "/infrastructures"
         : kind == SiteKind::script       ? "/scripts"
                                          : "/scaling_models";
}

Json json_of(const SiteDocument& document) {
  Json json = Json::parse(document.document);
  json["id"] = document.id();
  return json;
}

VerbAnswer all_of(SiteKind kind, const VerbPlace& place) {
  Json list = Json::array();
  const auto site = place.site.of_now(place.chooser);
  for (const SiteDocument& document : site->documents())
    if (document.kind == kind) list.push_back(json_of(document));
  return json_answer(list);
}

bool is_uuid(std::string_view text) {
  constexpr std::string_view kShape = "00000000-0000-0000-0000-000000000000";
  return text.size() == kShape.size() &&
         std::equal(text.begin(), text.end(), kShape.begin(), [](char c, char shape) {
           const bool hex = is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
           return shape == '-' ? c == '-' : hex;
         });
}

SiteDocument document_of(SiteKind kind, const VerbCall& call, const VerbPlace& place) {
  const std::string& id = call.names.at(0);
  if (!is_uuid(id)) throw Error(ExitCode::usage, fmt::format("'{}' is not a UUID", id));
  const auto site = place.site.of_now(place.chooser);
  for (const SiteDocument& document : site->documents())
    if (document.kind == kind && document.id() == lower_case(id)) return document;
  throw Error(ExitCode::no_match, fmt::format("there is no {} '{}'", kSiteKinds.of(kind), id));
}

VerbAnswer one_of(SiteKind kind, const VerbCall& call, const VerbPlace& place) {
  return json_answer(json_of(document_of(kind, call, place)));
}

std::int64_t write_document(const SiteDocument& document, const VerbPlace& place) {
  if (!place.write_site) throw Error(ExitCode::locked, "this server writes no documents of the site");
  return place.write_site(document);
}

// kiln's own: MODAK removes nothing. The answer is the document, so that it can be posted again.
VerbAnswer remove_one(SiteKind kind, const VerbCall& call, const VerbPlace& place) {
  SiteDocument document = document_of(kind, call, place);
  if (document.since == 0)
    return {plain_error(409, "the document is in a file of the server, and not in the index",
                        "the server's operator can remove it", ErrorStyle::peer)};
  VerbAnswer answer = json_answer(json_of(document));
  document.document.clear();
  answer.response.headers.emplace_back("Kiln-Snapshot", std::to_string(write_document(document, place)));
  return answer;
}

bool has_mapping(const VerbPlace& place, const std::string& code) {
  bool found = false;
  use_index(place, [&](const Index& index) {
    for (const IndexEntry& entry : index.entries())
      found = found || (entry.image.external() && entry.image.code == code);
  });
  return found;
}

// What MODAK refuses with 409; "" = nothing.
std::string conflict_of(const SiteDocument& document, const VerbPlace& place) {
  const auto site = place.site.of_now(place.chooser);
  if (document.kind == SiteKind::infrastructure)
    return site->infrastructure(document.name) == nullptr
               ? ""
               : fmt::format("there is an infrastructure '{}' already", document.name);
  if (document.kind == SiteKind::scaling_model)
    return has_mapping(place, document.name) ? "" : fmt::format("there is no mapping '{}'", document.name);
  const JsonDocument json = JsonDocument::parse(document.document, "document");
  const EnforcementScript script = read_enforcement_script(json.root());
  if (!script.infrastructure.empty() && site->infrastructure(script.infrastructure) == nullptr)
    return fmt::format("there is no infrastructure '{}'", script.infrastructure);
  return "";
}

VerbAnswer new_one(SiteKind kind, const VerbCall& call, const VerbPlace& place) {
  const JsonDocument body = JsonDocument::parse(call.request.body, "document");
  const SiteDocument document = read_site_document(kind, body.root());
  if (const std::string why = conflict_of(document, place); !why.empty())
    return {plain_error(409, why, "", ErrorStyle::peer)};
  const std::int64_t snapshot = write_document(document, place);
  VerbAnswer answer = json_answer(json_of(document));
  answer.response.status = 201;
  answer.response.headers.emplace_back("Location", fmt::format("{}/{}", path_of(kind), document.id()));
  answer.response.headers.emplace_back("Kiln-Snapshot", std::to_string(snapshot));
  return answer;
}

}  // namespace

VerbAnswer answer_infrastructures(const VerbCall&, const VerbPlace& place) {
  return all_of(SiteKind::infrastructure, place);
}
VerbAnswer answer_infrastructure(const VerbCall& call, const VerbPlace& place) {
  return one_of(SiteKind::infrastructure, call, place);
}
VerbAnswer answer_new_infrastructure(const VerbCall& call, const VerbPlace& place) {
  return new_one(SiteKind::infrastructure, call, place);
}
VerbAnswer answer_no_infrastructure(const VerbCall& call, const VerbPlace& place) {
  return remove_one(SiteKind::infrastructure, call, place);
}
VerbAnswer answer_scripts(const VerbCall&, const VerbPlace& place) { return all_of(SiteKind::script, place); }
VerbAnswer answer_script(const VerbCall& call, const VerbPlace& place) {
  return one_of(SiteKind::script, call, place);
}
VerbAnswer answer_new_script(const VerbCall& call, const VerbPlace& place) {
  return new_one(SiteKind::script, call, place);
}
VerbAnswer answer_no_script(const VerbCall& call, const VerbPlace& place) {
  return remove_one(SiteKind::script, call, place);
}
VerbAnswer answer_scaling_models(const VerbCall&, const VerbPlace& place) {
  return all_of(SiteKind::scaling_model, place);
}
VerbAnswer answer_scaling_model(const VerbCall& call, const VerbPlace& place) {
  return one_of(SiteKind::scaling_model, call, place);
}
VerbAnswer answer_new_scaling_model(const VerbCall& call, const VerbPlace& place) {
  return new_one(SiteKind::scaling_model, call, place);
}
VerbAnswer answer_no_scaling_model(const VerbCall& call, const VerbPlace& place) {
  return remove_one(SiteKind::scaling_model, call, place);
}

}  // namespace kiln
