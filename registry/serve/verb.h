// What a verb of the server gets and gives. Verbs know the index and no sockets.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "factory/base/json_numbers.h"
#include "factory/record/image_record.h"
#include "registry/answer/chooser.h"
#include "registry/deploy/job_answer.h"
#include "registry/http/message.h"
#include "registry/index/site_documents.h"

namespace kiln {

class DemandBatch;
class SiteCopy;

// A mapping that was written, and the snapshot that it is in.
struct WrittenMapping {
  ImageRecord mapping;
  std::int64_t snapshot = 0;
};
// Imports one mapping, as a snapshot of its own, under the lock of the state folder. Throws Error(input) for
// what is no mapping, Error(locked) while somebody else writes there, Error(store).
using MappingWriter =
    std::function<WrittenMapping(const JsonDocument& mapping, const WrittenNumbers& numbers)>;

// Imports a document of the site, or removes it (SiteDocument), as a snapshot of its own. Returns its number.
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

// What verbs work on; all of it outlives them.
struct VerbPlace {
  ImageChooser& chooser;
  DemandBatch& demand;
  const MappingWriter& write;
  const PageMaker& pages;  // may be empty: there are none
  SiteCopy& site;
  const SiteWriter& write_site;  // may be empty: nothing of a site is written
};

struct VerbCall {
  const ReceivedRequest& request;
  std::vector<std::string> names{};  // what stands in place of {…} in the route's path, in order
  std::string today{};               // "2026-11-23"
};

struct VerbAnswer {
  HttpResponse response{};
  std::optional<Demand> demand{};  // counted each time that it is given
};

// Throws Error: service.h makes a response of it.
using Verb = VerbAnswer (*)(const VerbCall& call, const VerbPlace& place);

// The members of a query, each as what it must be. All throw Error(usage).
class QueryParameters {
 public:
  explicit QueryParameters(const ReceivedRequest& request) : query_(&request.target.query) {}
  const std::string* find(std::string_view name) const;  // nullptr: it is not there
  std::int64_t number(std::string_view name, std::int64_t otherwise, std::int64_t least,
                      std::int64_t most) const;
  bool flag(std::string_view name) const;  // there, and neither 0 nor false
  std::string one_of(std::string_view name, const std::vector<std::string>& words) const;  // "": absent
  std::optional<std::int64_t> snapshot() const;

 private:
  const std::vector<std::pair<std::string, std::string>>* query_;
};

// 200 with this, in the form in which the command line prints it.
VerbAnswer json_answer(const Json& json);
// What the index answers. Throws Error(locked) when there is none yet, after what is wrong with the question.
ChooserReply choose(const VerbPlace& place, const ChooserQuestion& question);
// The job scripts of a document. Throws as choose() and answer_job().
JobAnswer job_of(const VerbPlace& place, const std::string& document, const JobQuestion& question);
// Runs `use` on the index. Throws Error(locked) when there is none yet.
void use_index(const VerbPlace& place, const std::function<void(const Index& index)>& use);

}  // namespace kiln
