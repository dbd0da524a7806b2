// Endpoints of the server: what each gets and returns. They know the index and no sockets.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "factory/base/error.h"
#include "factory/base/json.h"
#include "factory/record/image_record.h"
#include "registry/answer/chooser.h"
#include "registry/deploy/deploy_site.h"
#include "registry/deploy/job_answer.h"
#include "registry/http/message.h"
#include "registry/index/site_documents.h"

namespace kiln {

// The site's data about its machines and jobs: its files, and the documents of the index's current snapshot.
// Read again when the index has changed. Threads may ask at once.
class SiteCopy {
 public:
  // A file's document comes before one of the index with the same name. Throws Error(input).
  explicit SiteCopy(std::vector<SiteDocument> files);
  // Without an index, that of the files. Throws Error(store), and Error(input) for a document that this kiln
  // does not understand.
  std::shared_ptr<const DeploySite> of_now(ImageChooser& chooser);
  // Of this snapshot.
  std::shared_ptr<const DeploySite> of_snapshot(ImageChooser& chooser, std::int64_t snapshot) const;

 private:
  std::vector<SiteDocument> files_;
  std::mutex lock_;  // of these two
  IndexIdentity index_;
  std::shared_ptr<const DeploySite> site_;
};

class DemandBatch;

// A mapping that was written, and the snapshot that it is in.
struct WrittenMapping {
  ImageRecord mapping;
  std::int64_t snapshot = 0;
};
// Imports one mapping, as a separate snapshot, under the lock of the state folder. Throws Error(input) for an
// invalid mapping, Error(locked) while another process writes there, and Error(store).
using MappingWriter =
    std::function<WrittenMapping(const JsonDocument& mapping, const WrittenNumbers& numbers)>;

// Imports a document of the site, or removes it (SiteDocument), as a separate snapshot. Returns its number.
// Throws as MappingWriter.
using SiteWriter = std::function<std::int64_t(const SiteDocument& document)>;

// A page for people.
struct ServedPage {
  std::string media_type;
  std::string bytes;
};
// The page of this path, "images/pytorch/2.6.0-distro.html", "" for the first; nullopt: there is none. The
// path is whatever was asked for. Called by several threads at once.
using PageMaker = std::function<std::optional<ServedPage>(const std::string& path)>;

// The objects that endpoints use; all of them outlive the endpoints.
struct EndpointContext {
  ImageChooser& chooser;
  DemandBatch& demand;
  const MappingWriter& write;
  const PageMaker& pages;  // may be empty: there are none
  SiteCopy& site;
  const SiteWriter& write_site;  // may be empty: nothing of a site is written
};

struct EndpointCall {
  const ReceivedRequest& request;
  std::vector<std::string> names{};  // the values of {…} in the route's path, in order
  std::string today{};               // "2026-11-23"
};

struct EndpointAnswer {
  HttpResponse response{};
  std::optional<Demand> demand{};  // counted each time that it is given
};

// Throws Error: service.h makes a response of it.
using Endpoint = EndpointAnswer (*)(const EndpointCall& call, const EndpointContext& context);

// The members of a query, each as what it must be. All throw Error(usage).
class QueryParameters {
 public:
  explicit QueryParameters(const ReceivedRequest& request) : query_(&request.target.query) {}
  const std::string* find(std::string_view name) const;  // nullptr: it is missing
  std::int64_t number(std::string_view name, std::int64_t otherwise, std::int64_t least,
                      std::int64_t most) const;
  bool flag(std::string_view name) const;  // there, and neither 0 nor false
  std::string one_of(std::string_view name, const std::vector<std::string>& words) const;  // "": absent
  std::optional<std::int64_t> snapshot() const;

 private:
  const std::vector<std::pair<std::string, std::string>>* query_;
};

// 200 with this, in the form in which the command line prints it.
EndpointAnswer json_answer(const Json& json);
// The answer of the index. Reports errors of the question first, then throws Error(locked) if there is no
// index yet.
ChooserReply choose(const EndpointContext& context, const ChooserQuestion& question);
// The job scripts of a document. Throws as choose() and answer_job().
JobAnswer job_of(const EndpointContext& context, const std::string& document, const JobQuestion& question);
// Runs `use` on the index. Throws Error(locked) when there is none yet.
void use_index(const EndpointContext& context, const std::function<void(const Index& index)>& use);

// The endpoints by subject. docs/query.md and openapi.json describe their answers.

// /v1/select and /v1/explain.
EndpointAnswer answer_select(const EndpointCall& call, const EndpointContext& context);
EndpointAnswer answer_explain(const EndpointCall& call, const EndpointContext& context);

// /v1/job.
EndpointAnswer answer_job_script(const EndpointCall& call, const EndpointContext& context);

// The images of the index.
EndpointAnswer answer_images(const EndpointCall& call, const EndpointContext& context);
EndpointAnswer answer_image(const EndpointCall& call, const EndpointContext& context);
EndpointAnswer answer_snapshots(const EndpointCall& call, const EndpointContext& context);
EndpointAnswer answer_demand(const EndpointCall& call, const EndpointContext& context);
EndpointAnswer answer_health(const EndpointCall& call, const EndpointContext& context);
EndpointAnswer answer_openapi(const EndpointCall& call, const EndpointContext& context);

// For people: the catalogue's pages.
EndpointAnswer answer_page(const EndpointCall& call, const EndpointContext& context);

// MODAK's.
EndpointAnswer answer_get_image(const EndpointCall& call, const EndpointContext& context);
EndpointAnswer answer_mappings(const EndpointCall& call, const EndpointContext& context);
EndpointAnswer answer_mapping(const EndpointCall& call, const EndpointContext& context);
EndpointAnswer answer_new_mapping(const EndpointCall& call, const EndpointContext& context);
EndpointAnswer answer_optimise(const EndpointCall& call, const EndpointContext& context);
EndpointAnswer answer_get_build(const EndpointCall& call, const EndpointContext& context);
EndpointAnswer answer_get_optimisation(const EndpointCall& call, const EndpointContext& context);

// MODAK's infrastructures, scripts and scaling models, by the path: all, one by its id, a new one, and one
// that is removed.
EndpointAnswer answer_site_documents(const EndpointCall& call, const EndpointContext& context);
EndpointAnswer answer_site_document(const EndpointCall& call, const EndpointContext& context);
EndpointAnswer answer_new_site_document(const EndpointCall& call, const EndpointContext& context);
EndpointAnswer answer_no_site_document(const EndpointCall& call, const EndpointContext& context);

// Errors as responses: one table (docs/query.md, "Status codes").

// Whose words and status codes.
enum class ErrorStyle {
  own,  // {"error": {"code", "message", "where", "hint"}}; what is wrong in a request is 400
  peer  // adds "detail", as FastAPI does; a fault of a body is 422
};

int status_of(const Error& error, ErrorStyle style);
Json error_json(const Error& error, int status);
// With Retry-After where the same request may be answered later.
HttpResponse error_response(const Error& error, ErrorStyle style);
HttpResponse nothing_here(ErrorStyle style);  // 404
// Another response of this style, for cases without an Error.
HttpResponse plain_error(int status, const std::string& message, const std::string& hint, ErrorStyle style);

struct Route {
  std::string_view method;
  std::string_view path;          // "/v1/images/{repository}/{tag}"
  std::string_view name;          // of metrics: "image"
  Endpoint endpoint = nullptr;    // nullptr: the service's own, which needs more than endpoints have
  std::string_view parameters{};  // of the query: "limit snapshot"; others are refused
  bool cached = false;            // the answer is that of the index and the request alone
  bool writes = false;            // needs a token
  ErrorStyle style = ErrorStyle::own;
  bool whole = false;  // reads all of a snapshot, which takes time and memory: one at a time
};

std::span<const Route> all_routes();

struct RouteMatch {
  const Route* route = nullptr;      // nullptr: no route takes the request
  std::vector<std::string> names{};  // the values of {…}
  std::string allow{};               // "GET, HEAD": where the path is there, and the method is not
  ErrorStyle style = ErrorStyle::own;
};
// The endpoint of a request.
RouteMatch find_route(const ReceivedRequest& request);

// Throws Error(usage) for a member of the query that the route does not have; the peer's take all.
void check_parameters(const Route& route, const ReceivedRequest& request);

}  // namespace kiln
