// A site's data about its machines and jobs, read once for many jobs.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "registry/deploy/deployment.h"
#include "registry/deploy/enforcement.h"
#include "registry/index/site_documents.h"

namespace kiln {

// A document of this kind as it is kept. `name`: of an infrastructure without one. Throws Error(input).
SiteDocument read_site_document(SiteKind kind, const JsonNode& node, const std::string& name = {});
// A file with one document, or an array of them.
std::vector<SiteDocument> read_site_documents(SiteKind kind, const JsonDocument& document,
                                              const std::string& name = {});

class DeploySite {
 public:
  DeploySite() = default;
  // Of documents of one name the first counts. Throws Error(input).
  explicit DeploySite(std::vector<SiteDocument> documents);

  // Before the other scripts.
  void put_first(std::vector<EnforcementScript> scripts);

  const std::vector<SiteDocument>& documents() const { return documents_; }
  const Infrastructure* infrastructure(const std::string& name) const;  // nullptr: there is none
  std::vector<std::string> infrastructures() const;
  const std::vector<EnforcementScript>& scripts() const { return scripts_; }
  const ScalingModel* scaling_model(const std::string& code) const;  // nullptr: there is none

 private:
  std::vector<SiteDocument> documents_;
  std::map<std::string, Infrastructure> infrastructures_;
  std::vector<EnforcementScript> scripts_;
  std::map<std::string, ScalingModel> models_;
};

}  // namespace kiln
