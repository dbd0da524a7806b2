// What the site tells of its machines and jobs: its files, and the documents of the index's current snapshot.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "registry/answer/chooser.h"
#include "registry/deploy/deploy_site.h"

namespace kiln {

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

}  // namespace kiln
