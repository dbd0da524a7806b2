// Files for pip into a mirror: those that requirements files pin by their hashes, whatever index they lie on.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "factory/distribution/http.h"
#include "factory/distribution/package_index.h"
#include "factory/fetch/source_needs.h"
#include "factory/mirror/mirror_folder.h"

namespace kiln {

// A file by its URL, into a mirror.

// `authorization`: the header's value, "" for none. Tried three times where a failure may pass. Throws
// Error(network), Error(interrupted), Error(store).
void fetch_file(const std::string& url, const std::string& authorization, const Digest& expected, Http& http,
                const MirrorFolder& folder);

// Where pip would look. `folders`: of --find-links on this machine.
struct PipSources {
  std::optional<PipIndex> index;  // nullopt: none (no-index)
  std::vector<fs::path> folders;
};

class WheelFetcher {
 public:
  // REQUIRES: all outlive this.
  WheelFetcher(PipSources places, Http& http, const MirrorFolder& folder)
      : places_(std::move(places)), http_(http), folder_(folder) {}

  // The files that pip may take for a line, each fetched unless the mirror has it whole. `known`: what the
  // manifest has. Throws Error(network) where nothing has any of them.
  std::vector<MirrorItem> fetch(const WheelNeed& need, const Mirror& known);
  std::size_t fetched() const { return fetched_; }

 private:
  struct Found {
    PackageFile file;
    fs::path local;             // where it lies on this machine, "" on an index
    std::string authorization;  // of its index, where it lies on the same host
  };
  std::vector<Found> candidates(const WheelNeed& need);
  const std::vector<PackageFile>& listed(const PipIndex& index, const std::string& package);

  PipSources places_;
  Http& http_;
  const MirrorFolder& folder_;
  std::size_t fetched_ = 0;
  std::map<std::pair<std::string, std::string>, std::vector<PackageFile>> pages_;  // by index and package
};

}  // namespace kiln
