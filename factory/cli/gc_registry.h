// gc --registry: what this kiln has pushed and nobody needs any more.
#pragma once

#include <memory>
#include <string>

#include "factory/collect/registry_collect.h"
#include "factory/collect/registry_garbage.h"
#include "factory/collect/survey.h"
#include "factory/distribution/http.h"
#include "factory/distribution/registry_client.h"

namespace kiln {

class Invocation;

// Where: what --registry says, "" for the site's. Throws Error(usage), Error(input); Error(usage) where
// neither names one.
std::string registry_to_collect(const std::string& asked, const Invocation& invocation);

// That there may be something, for whoever did not ask for it: "" where there is not, or the site has no
// registry.
std::string registry_hint(const Roots& roots, const Invocation& invocation);

class RegistryCollection {
 public:
  // `remove`: what is found is to go. REQUIRES then: the state's lock is held. `invocation` outlives this.
  // Throws Error(tool_missing), Error(store).
  RegistryCollection(const std::string& registry, bool remove, Invocation& invocation);

  // Adds what goes, and notes, to `survey`, by its roots. Throws as registry_garbage().
  void find(Survey& survey);
  // Takes it away. Throws as collect_registry(), and Error(network) where the registry refuses to delete.
  void remove();

 private:
  Invocation& invocation_;
  std::unique_ptr<Http> http_;
  RegistryClient client_;
  PushedNames pushed_;
  RegistryGarbage garbage_;
};

}  // namespace kiln
