// The clauses that an image must meet to answer a query, in the order of docs/selection.md. Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "factory/cpu/microarchitecture.h"
#include "factory/record/host_description.h"
#include "factory/record/image_record.h"
#include "registry/select/dsl.h"
#include "registry/select/host_clauses.h"
#include "registry/select/select.h"

namespace kiln {

// The part of the question that a clause checks.
enum class QueryPart { host, application, version, build, compilers, method, contents };

struct ClausesMet {
  int met = 0;                // clauses that held before the first that did not
  std::string failed;         // that one as a sentence, "" when all hold
  bool host_refuses = false;  // that one is about the host
  bool alone = false;         // no other fails
};

struct ImageInQuestion;

// One query against many images: what depends on the host and the query alone is found once. The arguments
// must outlive it.
class QueryClauses {
 public:
  // Throws Error(input) when the query names a microarchitecture that archspec does not know.
  QueryClauses(const ImageQuery& query, const std::optional<KnownHost>& host, const Microarchitectures& cpus);
  ClausesMet operator()(const ImageRecord& image) const;
  // The same, of a part of a record (image_profiles.h), without the words: the question's clauses about one
  // thing; and all clauses about where an image runs, those of the host among them.
  bool suits(QueryPart about, const ImageRecord& part) const;
  bool runs(const ImageRecord& host) const;
  // All that a question chooses by, but for the application.
  bool chooses(const ImageRecord& choice) const;

 private:
  ImageInQuestion judged(const ImageRecord& image) const;
  std::string host_clauses(const ImageInQuestion& image, int& met) const;
  bool fails_several(const ImageInQuestion& image) const;
  ClausesMet first_failed(const ImageInQuestion& image) const;

  const ImageQuery* query_;
  const Microarchitectures* cpus_;
  const KnownHost* host_;  // nullptr: nothing is known of it
  HostDescription asked_;  // the host that the query states
  std::optional<HostCpu> asked_cpu_;
};

// Whether the version that is asked for is the application's, whatever else is in an image.
bool asks_version_of_application(const ImageQuery& query);
// archspec's family that a question's `cpu_type` means; "" for none.
std::string family_of_type(const std::string& cpu_type);
// The graph compilers that an image has: components, or, of a mapping that was imported where no recipe named
// them, selectors.
std::vector<std::string> graph_compilers_of(const ImageRecord& image);

// Whether a machine can be what a document is about. Pure.

// The request of the question that this machine certainly does not meet, as the end of a sentence about it
// ("has no nvidia accelerator, which the document asks for"): the document is meant for another one. "" when
// there is nothing.
std::string what_it_lacks(const HostDescription& host, const ImageQuery& query,
                          const Microarchitectures& cpus);

}  // namespace kiln
