// Documents of the site, in files and in the index: infrastructures, enforcement scripts, scaling models.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "factory/base/effects.h"
#include "registry/index/site_documents.h"

namespace kiln {

class Invocation;

// By the kind of their documents. Each file has one document, or an array of them.
struct SiteFiles {
  std::vector<std::string> infrastructures;
  std::vector<std::string> scripts;
  std::vector<std::string> scaling_models;
};

// Throws Error(input).
std::vector<SiteDocument> read_site_files(const SiteFiles& named, const FileSystem& files);

// Options of a command for one kind of documents.
struct SiteDocumentOptions {
  std::vector<std::string> files;
  std::string name;    // or id, or the beginning of one
  std::string labels;  // file of Kubernetes' nodes, for `kiln infrastructure detect`
  std::int64_t snapshot = 0;
  bool json = false;
};

// Those of a kind in this snapshot; 0 = the current one. Throws Error(no_match) for an unknown snapshot.
std::vector<SiteDocument> kept_documents(SiteKind kind, std::int64_t snapshot, const Invocation& invocation);

// Imports or removes them (SiteDocument::document), under the lock of the state folder, as a new snapshot,
// whose number it returns. `what`: the command, for processes that wait. Throws Error(locked), Error(store).
std::int64_t change_documents(std::vector<SiteDocument> documents, const std::string& what,
                              Invocation& invocation);

}  // namespace kiln
