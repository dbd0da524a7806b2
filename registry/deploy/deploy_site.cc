#include "registry/deploy/deploy_site.h"

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>

#include "factory/base/text.h"

namespace kiln {

SiteDocument read_site_document(SiteKind kind, const JsonNode& node, const std::string& name) {
  if (!node.is_object()) node.fail("expected one document, an object");
  SiteDocument document{kind, "", "", 0};
  Json value = node.value();
  value.erase("id");
  switch (kind) {
    case SiteKind::infrastructure:
      document.name = read_infrastructure(node, name).name;
      if (document.name.empty()) node.fail("the infrastructure has no name", "add its 'name'");
      value["name"] = document.name;
      break;
    case SiteKind::script:
      read_enforcement_script(node);
      break;
    case SiteKind::scaling_model:
      document.name = read_scaling_model(node).code;
      break;
  }
  document.document = value.dump();
  // Scripts have no names: another text is another script.
  if (kind == SiteKind::script) document.name = document.id();
  return document;
}

std::vector<SiteDocument> read_site_documents(SiteKind kind, const JsonDocument& document,
                                              const std::string& name) {
  const JsonNode root = document.root();
  if (!root.is_array()) return {read_site_document(kind, root, name)};
  std::vector<SiteDocument> documents;
  for (const JsonNode& node : root.items()) documents.push_back(read_site_document(kind, node));
  return documents;
}

DeploySite::DeploySite(std::vector<SiteDocument> documents) {
  for (SiteDocument& one : documents) {
    const JsonDocument document = JsonDocument::parse(one.document, one.name);
    bool is_new = true;
    switch (one.kind) {
      case SiteKind::infrastructure:
        is_new = infrastructures_.emplace(one.name, read_infrastructure(document.root(), one.name)).second;
        break;
      case SiteKind::script:
        is_new = std::ranges::none_of(scripts_,
                                      [&](const EnforcementScript& script) { return script.id == one.name; });
        if (is_new) {
          scripts_.push_back(read_enforcement_script(document.root()));
          scripts_.back().id = one.name;
        }
        break;
      case SiteKind::scaling_model:
        is_new = models_.emplace(one.name, read_scaling_model(document.root())).second;
        break;
    }
    if (is_new) documents_.push_back(std::move(one));
  }
}

void DeploySite::put_first(std::vector<EnforcementScript> scripts) {
  scripts_.insert(scripts_.begin(), std::make_move_iterator(scripts.begin()),
                  std::make_move_iterator(scripts.end()));
}

const Infrastructure* DeploySite::infrastructure(const std::string& name) const {
  return find_value(infrastructures_, name);
}

std::vector<std::string> DeploySite::infrastructures() const {
  std::vector<std::string> names;
  for (const auto& [name, infrastructure] : infrastructures_) names.push_back(name);
  return names;
}

const ScalingModel* DeploySite::scaling_model(const std::string& code) const {
  return find_value(models_, code);
}

}  // namespace kiln
